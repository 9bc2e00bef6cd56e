#pragma once

#include "terminal.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::tool {

/// The command line is wrong.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A policy, or a file of policies, is wrong.
class policy_fault : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

enum class format { table, chart, csv, json, svg };

/// How a command shows its output.
struct output_options {
    format as = format::table;
    colours colour = colours::automatic;
};

/// The policies that a command is about.
struct policy_options {
    std::vector<std::string> operands; ///< policy texts or names of profiles; with a file, names in it
    std::string file;
};

struct explain_options : output_options {
    policy_options policies;
    std::optional<std::uint64_t> failures;
    std::uint64_t seed = 1;
    std::size_t draws = 0;
    std::optional<double> failure_probability;
};

struct profiles_options : output_options {};

} // namespace asio_retry::tool
