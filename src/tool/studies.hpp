#pragma once

#include "study_report.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace asio_retry::tool {

/// Told the share that is done.
using study_progress = std::function<void(double)>;

/// A study of `simulate` whose only parameter is its randomness.
struct study {
    char const* name;
    char const* summary; ///< some words
    char const* about;   ///< some lines
    study_report (*run)(std::uint64_t seed, study_progress const& progress);
};

std::span<study const> studies();

/// Null if there is none of that name.
study const* find_study(std::string const& name);

} // namespace asio_retry::tool
