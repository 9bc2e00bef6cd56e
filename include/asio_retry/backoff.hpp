#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/shared.hpp>
#include <asio_retry/duration.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry {

class backoff;

namespace detail {

enum class backoff_kind : unsigned char {
    constant,
    linear,
    exponential,
    stepwise_exponential,
    polynomial,
    fibonacci,
    truncated_binary,
    slotted_binary,
    schedule,
    chained,
    custom,
};

/// A kind of backoff, with its parameters. A kind uses those that its function takes.
struct backoff_shape {
    backoff_kind kind = backoff_kind::constant;
    int depth = 1;                    ///< how many backoffs are inside one another, this one included
    duration base{};                  ///< also a `value`, an `initial` delay or a `slot`
    duration greatest{};              ///< the last delay
    duration step{};                  ///< of `linear`
    double factor = 1;                ///< of an exponential one
    std::uint64_t count = 0;          ///< of failures, or an exponent
    std::array<duration, 16> early{}; ///< of `exponential`, precomputed: most operations need no more
    std::shared_ptr<std::vector<duration> const> delays{};          ///< of `schedule`, at least one
    std::shared_ptr<backoff const> first{}, then{};                 ///< of `chained`
    shared_function<saturating_duration(std::uint64_t)> function{}; ///< of `custom`

    /// The greatest delay after that many failures, counted from 1, before the cap.
    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const;
};

} // namespace detail

/// Your own backoff: a callable `(std::uint64_t failures) -> duration`.
template <typename F>
concept backoff_function =
    !std::same_as<std::decay_t<F>, backoff> && detail::returns_duration<std::decay_t<F>&, std::uint64_t>;

/// How the delay grows with the number of failures, before the jitter.
///
/// Made by one of the functions below, or from a callable `(std::uint64_t failures) -> duration`. The delay
/// before the jitter is the `ceiling`. It is never negative, never above the cap, and saturates instead of
/// overflowing. A backoff is an immutable value: `cap` returns a changed copy.
///
/// Thread safety: const calls are safe from any number of threads, provided that your callable is.
class [[nodiscard("keep the backoff that this returns: no backoff is changed in place")]] backoff {
public:
    /// Makes a backoff of your callable. A result above the cap becomes the cap.
    ///
    /// A negative result is refused: `ceiling` throws std::invalid_argument, which names the value. An
    /// operation then ends with error::backoff_threw, and that exception is in its report and in its log.
    ///
    /// Throws std::invalid_argument if the callable is an empty std::function or a null pointer.
    template <typename F>
        requires backoff_function<F>
    backoff(F&& user_shape)
        : backoff(detail::shared_function<saturating_duration(std::uint64_t)>("backoff",
                                                                              std::forward<F>(user_shape))) {}

    /// For `exponential` and the other functions that make a backoff.
    ASIO_RETRY_DECL explicit backoff(detail::backoff_shape shape);

    /// Copies share your callable.
    ASIO_RETRY_DECL backoff(backoff const& other);
    /// An assignment shares your callable, too.
    ASIO_RETRY_DECL backoff& operator=(backoff const&);
    ASIO_RETRY_DECL ~backoff();

    /// Returns a copy with this greatest delay.
    ///
    /// Throws std::invalid_argument if `greatest` is negative, or below the base. A callable has no base.
    ASIO_RETRY_DECL backoff cap(saturating_duration greatest) const;

    /// The delay before the jitter, after `failures` consecutive failures, the present one included; from 1.
    ///
    /// Throws what your callable throws, and std::invalid_argument if its result is negative.
    ASIO_RETRY_DECL duration ceiling(std::uint64_t failures) const;

    /// The delay before the jitter after the first failure.
    duration base() const { return ceiling(1); }

    /// The greatest delay: duration::max() unless `cap` was called.
    duration cap() const noexcept { return cap_; }

    /// The greatest delay after `failures` failures.
    ///
    /// It is `cap()`, or less if a part of a chain has a lower cap and gives the delay.
    ASIO_RETRY_DECL duration cap_after(std::uint64_t failures) const noexcept;

    /// The kind and its parameters, for `to_string`.
    detail::backoff_shape const& shape() const noexcept { return shape_; }

private:
    ASIO_RETRY_DECL explicit backoff(detail::shared_function<saturating_duration(std::uint64_t)> function);

    detail::backoff_shape shape_;
    duration cap_ = (duration::max)();
};

/// Constant backoff: always `value`, without a jitter unless the policy has one: see `retry_policy::jitter`.
///
/// Throws std::invalid_argument if `value` is negative.
ASIO_RETRY_DECL backoff constant(saturating_duration value);

/// Linear backoff: `initial + step * (failures - 1)`.
///
/// Throws std::invalid_argument if either is negative.
ASIO_RETRY_DECL backoff linear(saturating_duration initial, saturating_duration step);

/// Exponential backoff: `base * factor^(failures - 1)`. It doubles after each failure by default.
///
/// The result is rounded to the nearest nanosecond. Before that it has a relative error of at most failures /
/// 2^63, or none if the factor is whole.
///
/// Throws std::invalid_argument if the base is negative or the factor is not a finite number of at least 1.
ASIO_RETRY_DECL backoff exponential(saturating_duration base, double factor = 2);

/// An exponential backoff that multiplies and rounds down step by step, as the Go package backoff does.
///
/// Each delay is the one before times the factor, rounded down to a nanosecond, and `greatest` at the end. To
/// compute a delay takes one step for each failure.
///
/// Throws std::invalid_argument as `exponential` does, and if `greatest` is below the base.
ASIO_RETRY_DECL backoff stepwise_exponential(saturating_duration base, double factor,
                                             saturating_duration greatest);

/// Polynomial backoff: `base * failures^exponent`.
///
/// Throws std::invalid_argument if either is negative.
ASIO_RETRY_DECL backoff polynomial(saturating_duration base, std::int64_t exponent);

/// Fibonacci backoff: `base` times 1, 1, 2, 3, 5, 8 ...
///
/// Throws std::invalid_argument if the base is negative.
ASIO_RETRY_DECL backoff fibonacci(saturating_duration base);

/// Truncated binary exponential backoff that ends at `greatest`: it doubles for `growing_failures` failures.
///
/// The formula is `greatest / 2^(growing_failures - min(failures, growing_failures))`.
///
/// Throws std::invalid_argument if growing_failures is below 1 or `greatest` is negative.
ASIO_RETRY_DECL backoff truncated_binary(std::int64_t growing_failures, saturating_duration greatest);

/// The backoff of Ethernet, together with `full_jitter().unit(slot)`.
///
/// The formula is `slot * (2^min(failures, greatest_exponent) - 1)`. A slot of Ethernet is 512 bit times.
/// Source: IEEE 802.3, 4.2.3.2.5.
///
/// Throws std::invalid_argument if the slot is not positive or the exponent is below 1.
ASIO_RETRY_DECL backoff slotted_binary(saturating_duration slot, std::int64_t greatest_exponent = 10);

/// The delays of a list in their order; after them, the last one repeats.
///
/// They have no jitter unless the policy has one: see `retry_policy::jitter`.
///
/// Throws std::invalid_argument if there is no delay or one is negative.
ASIO_RETRY_DECL backoff schedule(std::vector<duration> delays);

/// The delays of a list of durations of different units; after them, the last one repeats.
ASIO_RETRY_DECL backoff schedule(std::initializer_list<saturating_duration> delays);

/// The delays of any range of durations; after them, the last one repeats.
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

/// Two backoffs in turn: `first` for `failures` failures, and then `then`, which counts from 1 again.
///
/// The cap of each part limits the delays after its own failures, with every jitter.
///
/// Throws std::invalid_argument if `failures` is below 1, or if more than 16 backoffs would be inside one
/// another.
ASIO_RETRY_DECL backoff chained(backoff first, std::int64_t failures, backoff then);

/// Retries at once after the first failure, and then as `then` says, from 1.
///
/// It is `chained(constant(0s).cap(0s), 1, then)`. So no jitter delays the first retry, unless it goes
/// `beyond_cap`. In a `schedule` or a `linear` a zero has no cap of zero, so an additive jitter delays it.
ASIO_RETRY_DECL backoff first_at_once(backoff then);

} // namespace asio_retry
