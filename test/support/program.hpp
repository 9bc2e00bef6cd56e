#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include <sys/wait.h>

namespace asio_retry::tool {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct outcome {
    int exit_code;
    std::string output;
};

inline outcome run_in_shell(std::string const& line) {
    FILE* const pipe = ::popen(line.c_str(), "r");
    if (!pipe)
        throw std::runtime_error("popen");
    outcome result{};
    char part[4096];
    while (std::size_t const size = std::fread(part, 1, sizeof part, pipe))
        result.output.append(part, size);
    int const status = ::pclose(pipe);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

/// Where the program is that the tests are about.
std::string const& program();

/// Runs it in a shell.
inline outcome run(std::string const& arguments) {
    return run_in_shell(program() + " " + arguments);
}

inline void expect_usage_error(std::string const& arguments, std::string const& message) {
    SCOPED_TRACE(arguments);
    EXPECT_THAT(run(arguments + " 2>/dev/null").output, ::testing::IsEmpty());
    outcome const with_errors = run(arguments + " 2>&1");
    EXPECT_EQ(with_errors.exit_code, 2);
    EXPECT_THAT(with_errors.output, ::testing::StartsWith(program().substr(program().rfind('/') + 1) + ": "));
    EXPECT_THAT(with_errors.output, ::testing::HasSubstr(message));
}

} // namespace asio_retry::tool
