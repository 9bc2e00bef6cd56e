#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <iostream>
#include <string>

namespace asio_retry::test {

/// Runs the tests with the programs that the command line names. If one of them, a `service`, was not found,
/// CTest takes the result for "skipped".
inline int run_with_programs(int argc, char** argv, std::initializer_list<std::string*> programs,
                             std::string const& service) {
    testing::InitGoogleMock(&argc, argv);
    int next = 1;
    for (std::string* const program : programs) {
        *program = next < argc ? argv[next] : "";
        ++next;
        if (!program->starts_with('/')) {
            std::cout << "skipped: there is no " << service
                      << " here; ./cmake/bootstrap.sh install-services gets it\n";
            return 77;
        }
    }
    return RUN_ALL_TESTS();
}

} // namespace asio_retry::test
