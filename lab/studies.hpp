#pragma once

#include "study_report.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace asio_retry::lab {

/// Gets the share that is done.
using study_progress = std::function<void(double)>;

/// A study of `simulate` with no parameter but its seed.
struct study {
    char const* name;
    char const* summary; ///< a few words
    char const* about;   ///< a few lines
    study_report (*run)(std::uint64_t seed, study_progress const& progress);
};

std::span<study const> studies();

/// Null for an unknown name.
study const* find_study(std::string const& name);

} // namespace asio_retry::lab
