#pragma once

#include <asio_retry/detail/policy/backoff_shapes.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry {

class backoff;

/// A user's own shape: the ceiling of the delay after that many consecutive failures.
template <typename F>
concept backoff_function =
    !std::same_as<std::decay_t<F>, backoff> && detail::returns_duration<std::decay_t<F>&, std::uint64_t>;

/// How the ceiling of the delay grows with the number of failures.
///
/// Made by one of the functions below or from a callable `(std::uint64_t failures) -> duration`. An immutable
/// value: `cap` returns a changed copy. The ceiling is never negative, never above the cap, and saturates
/// instead of overflowing. Thread safety: const calls are safe from any number of threads as long as a user's
/// callable is.
class [[nodiscard("a backoff is never changed: cap returns a changed copy")]] backoff {
public:
    /// What a user's callable returns is held in [0, cap]. Throws std::invalid_argument if it is empty, as a
    /// std::function or a pointer may be.
    template <typename F>
        requires backoff_function<F>
    backoff(F&& user_shape)
        : backoff(detail::custom_shape{{"backoff", std::forward<F>(user_shape)}}) {}

    /// For the functions below.
    ASIO_RETRY_DECL explicit backoff(detail::backoff_shape shape);
    /// The same.
    ASIO_RETRY_DECL explicit backoff(detail::custom_shape shape);

    /// Copies share a user's callable.
    ASIO_RETRY_DECL backoff(backoff const& other);
    /// The same.
    ASIO_RETRY_DECL backoff& operator=(backoff const&);
    ASIO_RETRY_DECL ~backoff();

    /// Bounds the ceiling. Throws std::invalid_argument if `greatest` is negative or below the base, which a
    /// callable has not.
    ASIO_RETRY_DECL backoff cap(saturating_duration greatest) const;

    /// The ceiling of the delay after `failures` consecutive failures, the present one included; from 1.
    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const;

    /// The ceiling after the first failure.
    duration base() const { return ceiling(1); }

    /// duration::max() unless `cap` was called.
    duration cap() const noexcept { return cap_; }

    /// What bounds the delay after that many failures: `cap()`, or less where the ceiling is that of a part of
    /// a chain that has a lower one.
    ASIO_RETRY_DECL duration cap_after(std::uint64_t failures) const noexcept;

    /// For `to_string`.
    detail::backoff_shape const& shape() const noexcept { return shape_; }

private:
    detail::backoff_shape shape_;
    duration cap_ = (duration::max)();
};

/// Always `value`. Throws std::invalid_argument if it is negative.
ASIO_RETRY_DECL backoff constant(saturating_duration value);

/// `initial + step * (failures - 1)`. Throws std::invalid_argument if either is negative.
ASIO_RETRY_DECL backoff linear(saturating_duration initial, saturating_duration step);

/// `base * factor^(failures - 1)`, rounded to the nearest nanosecond after a relative error of at most failures
/// / 2^63, and without that error for whole factors. Throws std::invalid_argument if the base is negative or
/// the factor is not a finite number of at least 1.
ASIO_RETRY_DECL backoff exponential(saturating_duration base, double factor = 2);

/// The same, but for `greatest` at the end, step by step: each ceiling is the one before times the factor,
/// rounded down to a nanosecond, as the Go package backoff computes it. Computing one takes a step for each
/// failure. Throws std::invalid_argument as `exponential` does, and if `greatest` is below the base.
ASIO_RETRY_DECL backoff stepwise_exponential(saturating_duration base, double factor,
                                             saturating_duration greatest);

/// `base * failures^exponent`. Throws std::invalid_argument if either is negative.
ASIO_RETRY_DECL backoff polynomial(saturating_duration base, std::int64_t exponent);

/// `base` times 1, 1, 2, 3, 5, 8 ... Throws std::invalid_argument if the base is negative.
ASIO_RETRY_DECL backoff fibonacci(saturating_duration base);

/// Truncated binary exponential backoff by requirement: doubles for `growing_failures` failures and is
/// `greatest` from then on, so `greatest / 2^(growing_failures - min(failures, growing_failures))`. Throws
/// std::invalid_argument if growing_failures is below 1 or `greatest` is negative.
ASIO_RETRY_DECL backoff truncated_binary(std::int64_t growing_failures, saturating_duration greatest);

/// `slot * (2^min(failures, greatest_exponent) - 1)`: with `full_jitter().unit(slot)` the backoff of Ethernet
/// (IEEE 802.3, 4.2.3.2.5), whose slot is 512 bit times. Throws std::invalid_argument if the slot is not
/// positive or the exponent below 1.
ASIO_RETRY_DECL backoff slotted_binary(saturating_duration slot, std::int64_t greatest_exponent = 10);

/// These delays in their order, and the last one from then on. Throws std::invalid_argument if there is none or
/// one is negative.
ASIO_RETRY_DECL backoff schedule(std::vector<duration> delays);

/// The same for durations of different units.
ASIO_RETRY_DECL backoff schedule(std::initializer_list<saturating_duration> delays);

/// The same for any range of durations.
template <typename Range>
    requires requires(Range const& delays) {
        { *std::begin(delays) } -> std::convertible_to<saturating_duration>;
        { std::begin(delays) != std::end(delays) } -> std::convertible_to<bool>;
    }
backoff schedule(Range const& delays) {
    std::vector<duration> copied;
    for (saturating_duration const d : delays)
        copied.push_back(d);
    return schedule(std::move(copied));
}

/// `first` for as many failures, and then `then`, which counts from 1 again. The cap of either binds the delays
/// of its own failures, whatever the jitter. Throws std::invalid_argument if `failures` is below 1, or if there
/// would be more than 16 backoffs inside one another.
ASIO_RETRY_DECL backoff chained(backoff first, std::int64_t failures, backoff then);

/// Retries at once after the first failure, and then as `then` says, from 1: the same as
/// `chained(constant(0s).cap(0s), 1, then)`, so that no jitter delays the first retry unless it goes
/// `beyond_cap`. Only so: an additive jitter delays what is zero in a `schedule` or a `linear` too, which have
/// no cap of zero.
ASIO_RETRY_DECL backoff first_at_once(backoff then);

} // namespace asio_retry
