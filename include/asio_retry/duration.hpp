#pragma once

#include <chrono>
#include <concepts>
#include <ratio>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// Every duration in the library is a whole number of nanoseconds.
using duration = std::chrono::nanoseconds;

/// Every time in the library is of the steady clock, so that jumps of the wall clock change nothing.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

namespace detail {

/// Refuses a NaN: throws std::invalid_argument.
[[noreturn]] inline void refuse_no_number() {
    throw std::invalid_argument("asio_retry: duration = nan: must be a number");
}

template <typename T>
inline constexpr bool is_number = std::is_arithmetic_v<std::remove_cvref_t<T>>;

/// Whether a duration makes a `Held`: std::chrono converts it, or it is floating-point, `Held` nanoseconds.
template <typename Rep, typename Period, typename Held>
inline constexpr bool is_holdable =
    std::convertible_to<std::chrono::duration<Rep, Period>, Held> ||
    (std::chrono::treat_as_floating_point_v<Rep> && std::same_as<Held, duration>);

template <typename T>
inline constexpr bool is_chrono_duration = false;
template <typename Rep, typename Period>
inline constexpr bool is_chrono_duration<std::chrono::duration<Rep, Period>> = true;

/// Converts as std::chrono does, but saturates at the limits of `Held` and rounds to the nearest nanosecond.
template <typename Held, typename Rep, typename Period>
constexpr Held held_in(std::chrono::duration<Rep, Period> const& given) {
    using per = std::ratio_divide<Period, typename Held::period>;
    using count = typename Held::rep;
    constexpr count least = (Held::min)().count(), greatest = (Held::max)().count();
    if constexpr (std::chrono::treat_as_floating_point_v<Rep>) {
        using real = std::common_type_t<Rep, double>;
        real const counted = std::chrono::duration<real, typename Held::period>(given).count();
        if (counted != counted)
            refuse_no_number();
        if (counted >= -static_cast<real>(least)) // exactly one more than `greatest`, which `real` may lack
            return (Held::max)();
        if (counted <= static_cast<real>(least))
            return (Held::min)();
        return Held(static_cast<count>(counted < 0 ? counted - real(0.5) : counted + real(0.5)));
    } else if constexpr (std::integral<Rep>) {
        auto const counted = +given.count();
        if (std::cmp_greater(counted, greatest / per::num))
            return (Held::max)();
        if (std::cmp_less(counted, least / per::num))
            return (Held::min)();
        return Held(static_cast<count>(counted) * per::num);
    } else {
        return given;
    }
}

} // namespace detail

/// A duration parameter: takes any duration of std::chrono and saturates at the limits of `Held`.
///
/// The conversion of std::chrono wraps round instead: hours::max() would be -1h. A floating-point duration is
/// rounded to the nearest nanosecond. If you convert a duration yourself before you pass it, the rules of
/// std::chrono apply.
///
/// Throws std::invalid_argument for a NaN.
template <typename Held>
class saturating : public Held {
public:
    /// A duration of zero.
    constexpr saturating() noexcept
        : Held(Held::zero()) {}

    /// Converts a duration of std::chrono whose unit is no finer.
    template <typename Rep, typename Period>
        requires detail::is_holdable<Rep, Period, Held>
    constexpr saturating(std::chrono::duration<Rep, Period> const& given)
        : Held(detail::held_in<Held>(given)) {}

    /// Converts an object of a type that converts to `Held` by itself.
    template <typename Other>
        requires(!detail::is_number<Other> && !std::derived_from<Other, Held> &&
                 !detail::is_chrono_duration<Other> && std::convertible_to<Other const&, Held>)
    constexpr saturating(Other const& given)
        : Held(given) {}

    /// Explains in a compiler error that a number has no unit.
    template <typename Number>
        requires detail::is_number<Number>
    constexpr saturating(Number) {
        static_assert(!detail::is_number<Number>,
                      "a number alone is not a duration: give it a unit, as in 5s or 500ms");
    }
};

/// A duration parameter in nanoseconds: takes any duration of std::chrono and saturates.
using saturating_duration = saturating<duration>;

/// A parameter for a time of the steady clock; it saturates.
class saturating_time_point : public time_point {
public:
    /// The epoch of the clock.
    constexpr saturating_time_point() noexcept = default;

    /// Converts a time of the steady clock whose unit is no finer.
    template <typename Unit>
        requires std::convertible_to<Unit, saturating_duration>
    constexpr saturating_time_point(std::chrono::time_point<std::chrono::steady_clock, Unit> const& at)
        : time_point(saturating_duration(at.time_since_epoch())) {}
};

namespace detail {

template <typename T>
inline constexpr bool is_duration = !is_number<T> && std::convertible_to<T, saturating_duration>;

/// Whether F can be called with these arguments, and returns a duration.
template <typename F, typename... Args>
inline constexpr bool returns_duration = false;
template <typename F, typename... Args>
    requires std::is_invocable_v<F, Args...>
inline constexpr bool returns_duration<F, Args...> = is_duration<std::invoke_result_t<F, Args...>>;

} // namespace detail

/// `from + by`, which saturates at the first or the last representable time.
constexpr time_point saturating_add(saturating_time_point from, saturating_duration by) noexcept {
    if (by < duration::zero())
        return from < (time_point::min)() - by ? (time_point::min)() : from + by;
    return from > (time_point::max)() - by ? (time_point::max)() : from + by;
}

/// `to - from`, at least zero and at most duration::max().
constexpr duration elapsed_between(saturating_time_point from, saturating_time_point to) noexcept {
    if (to <= from)
        return duration::zero();
    if (from < time_point() && to > (time_point::max)() + from.time_since_epoch())
        return (duration::max)();
    return to - from;
}

} // namespace asio_retry
