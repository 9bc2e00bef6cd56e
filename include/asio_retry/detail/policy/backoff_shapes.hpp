#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/shared_function.hpp>
#include <asio_retry/duration.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

namespace asio_retry {
class backoff;
}

namespace asio_retry::detail {

// Each shape gives the greatest delay after a number of failures, counted from 1, before the cap.

struct constant_shape {
    static constexpr std::string_view name = "constant";
    duration value;

    duration ceiling(std::uint64_t) const noexcept { return value; }
};

struct linear_shape {
    static constexpr std::string_view name = "linear";
    duration initial, step;

    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const noexcept;
};

struct exponential_shape {
    static constexpr std::string_view name = "exponential";
    duration base;
    double factor;
    std::array<duration, 16> first{}; ///< precomputed: most operations need no more

    ASIO_RETRY_DECL exponential_shape(duration base, double factor);
    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const noexcept;
};

struct stepwise_exponential_shape {
    static constexpr std::string_view name = "stepwise_exponential";
    duration base;
    double factor;
    duration greatest;

    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const noexcept;
};

struct polynomial_shape {
    static constexpr std::string_view name = "polynomial";
    duration base;
    std::uint64_t exponent;

    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const noexcept;
};

struct fibonacci_shape {
    static constexpr std::string_view name = "fibonacci";
    duration base;

    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const noexcept;
};

struct truncated_binary_shape {
    static constexpr std::string_view name = "truncated_binary";
    std::uint64_t growing_failures;
    duration greatest;

    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const noexcept;
};

struct slotted_binary_shape {
    static constexpr std::string_view name = "slotted_binary";
    duration slot;
    std::uint64_t greatest_exponent;

    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const noexcept;
};

struct schedule_shape {
    static constexpr std::string_view name = "schedule";
    std::shared_ptr<std::vector<duration> const> delays; ///< at least one

    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const noexcept;
};

/// The greatest number of backoffs inside one another, the outermost included: functions walk through them
/// recursively.
constexpr int greatest_depth = 16;

struct chained_shape {
    static constexpr std::string_view name = "chained";
    std::shared_ptr<backoff const> first;
    std::uint64_t failures;
    std::shared_ptr<backoff const> then;
    int depth; ///< how many backoffs are inside one another, this one included

    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const;
    ASIO_RETRY_DECL duration cap_after(std::uint64_t failures) const noexcept;
};

struct custom_shape {
    static constexpr std::string_view name = "custom_backoff";
    shared_function<saturating_duration(std::uint64_t)> function;

    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const;
};

using backoff_shape = std::variant<constant_shape, linear_shape, exponential_shape, stepwise_exponential_shape,
                                   polynomial_shape, fibonacci_shape, truncated_binary_shape,
                                   slotted_binary_shape, schedule_shape, chained_shape, custom_shape>;

} // namespace asio_retry::detail
