#pragma once

#include <stdexcept>
#include <string>

namespace asio_retry::bench {

struct options {
    bool help = false;
    bool list = false;
    bool quick = false;
    bool everything = false;
    std::string only;
    std::string contenders;
    std::string output = "results";
    std::string peers;      ///< a folder of lines that peers/run.sh has written; empty: none
    std::string chart_from; ///< only draws
};

struct usage_error : std::runtime_error {
    using runtime_error::runtime_error;
};

/// Throws usage_error.
options parse_options(int argc, char const* const* argv);

void print_help();

} // namespace asio_retry::bench
