#pragma once

#include <chrono>
#include <stdexcept>

namespace demo {

struct options {
    std::chrono::milliseconds run_time{};
    bool help = false;
};

/// What is wrong with the command line, in words for the user.
struct usage_error : std::runtime_error {
    using runtime_error::runtime_error;
};

/// Throws usage_error.
options parse_options(int argc, char const* const* argv);

void print_help();

} // namespace demo
