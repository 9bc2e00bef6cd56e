#pragma once

#include <asio_retry/detail/config.hpp>
#include <asio_retry/detail/shared_function.hpp>
#include <asio_retry/duration.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace asio_retry {

class backoff;

/// A user's own shape: the ceiling of the delay after that many consecutive failures.
template <typename F>
concept backoff_function =
    !std::same_as<std::decay_t<F>, backoff> && std::is_invocable_r_v<duration, std::decay_t<F>&, std::uint64_t>;

/// How the ceiling of the delay grows with the number of failures.
///
/// Made by `constant`, `linear`, `exponential`, `truncated_binary` or from a callable
/// `(std::uint64_t failures) -> duration`. An immutable value: `cap` returns a changed copy. The ceiling is
/// never negative, never above the cap, and saturates instead of overflowing. Thread safety: const calls are
/// safe from any number of threads as long as a user's callable is.
class backoff {
public:
    /// What a user's callable returns is held in [0, cap].
    template <typename F>
        requires backoff_function<F>
    backoff(F&& user_shape)
        : shape_(custom(std::forward<F>(user_shape))) {}

    backoff(backoff const& other)
        : shape_(other.shape_)
        , cap_(other.cap_) {}
    backoff& operator=(backoff const&) = default;
    ~backoff() = default;

    /// Bounds the ceiling. Throws std::invalid_argument if `greatest` is negative or below the base.
    ASIO_RETRY_DECL backoff cap(duration greatest) const;

    /// The ceiling of the delay after `failures` consecutive failures, the present one included; from 1.
    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const;

    /// The ceiling after the first failure.
    duration base() const { return ceiling(1); }

    /// duration::max() unless `cap` was called.
    duration cap() const noexcept { return cap_; }

private:
    struct constant_shape {
        duration value;
    };
    struct linear_shape {
        duration initial, step;
    };
    struct exponential_shape {
        ASIO_RETRY_DECL exponential_shape(duration base, double factor);
        duration base;
        double factor;
        std::array<duration, 16> first; ///< ceilings: most operations never need another
    };
    struct truncated_binary_shape {
        std::uint64_t growing_failures;
        duration greatest;
    };
    using custom = detail::shared_function<duration(std::uint64_t)>;
    using shape = std::variant<constant_shape, linear_shape, exponential_shape, truncated_binary_shape, custom>;

    struct built_in {};
    backoff(built_in, shape s)
        : shape_(std::move(s)) {}

    static duration ceiling_of(constant_shape const&, std::uint64_t) noexcept;
    static duration ceiling_of(linear_shape const&, std::uint64_t) noexcept;
    static duration ceiling_of(exponential_shape const&, std::uint64_t) noexcept;
    static duration ceiling_of(truncated_binary_shape const&, std::uint64_t) noexcept;
    static duration ceiling_of(custom const&, std::uint64_t);

    friend ASIO_RETRY_DECL backoff constant(duration value);
    friend ASIO_RETRY_DECL backoff linear(duration initial, duration step);
    friend ASIO_RETRY_DECL backoff exponential(duration base, double factor);
    friend ASIO_RETRY_DECL backoff truncated_binary(std::int64_t growing_failures, duration greatest);

    shape shape_;
    duration cap_ = duration::max();
};

/// Always `value`. Throws std::invalid_argument if it is negative.
ASIO_RETRY_DECL backoff constant(duration value);

/// `initial + step * (failures - 1)`. Throws std::invalid_argument if either is negative.
ASIO_RETRY_DECL backoff linear(duration initial, duration step);

/// `base * factor^(failures - 1)`, rounded to the nearest nanosecond after a relative error of at most failures
/// / 2^63, and without that error for whole factors. Throws std::invalid_argument if the base is negative or
/// the factor is not a finite number of at least 1.
ASIO_RETRY_DECL backoff exponential(duration base, double factor = 2);

/// Truncated binary exponential backoff by requirement: doubles for `growing_failures` failures and is
/// `greatest` from then on, so `greatest / 2^(growing_failures - min(failures, growing_failures))`. Throws
/// std::invalid_argument if growing_failures is below 1 or `greatest` is negative.
ASIO_RETRY_DECL backoff truncated_binary(std::int64_t growing_failures, duration greatest);

} // namespace asio_retry
