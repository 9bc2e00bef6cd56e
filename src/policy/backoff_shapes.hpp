#pragma once

#include <asio_retry/backoff.hpp>

#include <cstdint>

namespace asio_retry::detail {

/// The greatest depth of backoffs inside one another. It has a bound, because functions walk through them
/// recursively.
constexpr int greatest_depth = 16;

/// `base * factor^times`, which saturates.
duration grown(duration base, double factor, std::uint64_t times) noexcept;

} // namespace asio_retry::detail
