#pragma once

#include "studies.hpp"

#include <asio_retry/retry_policy.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::tool {

/// The command line is not understood.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

enum class format { table, csv, json, svg };

struct explain_options {
    std::string policy; ///< as text, or the name of a profile
    std::optional<std::uint64_t> failures;
    std::uint64_t seed = 1;
    std::size_t draws = 0;
    std::optional<double> failure_probability;
    format as = format::table;
};

struct profiles_options {
    format as = format::table;
};

struct occ_options {
    std::vector<unsigned> clients;
    unsigned trials = 100;
    std::uint64_t seed = 1;
    format as = format::table;
};

struct rounds_options {
    unsigned clients = 100;
    unsigned capacity = 1;
    std::string policy; ///< whose delays count in seconds, a second being a round
    std::uint64_t seed = 1;
    format as = format::table;
};

struct study_options {
    std::uint64_t seed = 1;
    format as = format::table;
};

/// Throw usage_error.
explain_options parse_explain(std::vector<std::string> const& arguments);
profiles_options parse_profiles(std::vector<std::string> const& arguments);
occ_options parse_occ(std::vector<std::string> const& arguments);
rounds_options parse_rounds(std::vector<std::string> const& arguments);
study_options parse_study(study const& which, std::vector<std::string> const& arguments);

/// The help on a command, or on all of them where it is empty; nothing for one that is unknown.
std::string help_on(std::string const& command);

} // namespace asio_retry::tool
