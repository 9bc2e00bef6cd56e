#include <asio_retry/backoff.hpp>

#include <asio_retry/detail/check.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace asio_retry {
namespace {

constexpr auto greatest_count = static_cast<std::uint64_t>(duration::max().count());

/// Counts of nanoseconds: both at most greatest_count, and so is the result.
std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept {
    if (a != 0 && b > greatest_count / a)
        return greatest_count;
    return a * b;
}

duration from_count(std::uint64_t count) noexcept {
    return duration(static_cast<duration::rep>(count));
}

/// A number from 1 on with 64 significant bits, mantissa * 2^exponent. Whole numbers below 2^64 are exact, and
/// so is the arithmetic while the result fits. All of it is whole numbers, so every platform gets the same
/// delay.
struct wide {
    std::uint64_t mantissa; // its highest bit is set
    int exponent;
};

// Above this nothing comes back into the range of a duration, because no factor is below 1.
constexpr int beyond_all_durations = 1000;

wide to_wide(std::uint64_t count) noexcept {
    int const unused_bits = std::countl_zero(count);
    return {count << unused_bits, -unused_bits};
}

wide to_wide(double number) noexcept {
    int exponent = 0;
    double const fraction = std::frexp(number, &exponent);
    return {static_cast<std::uint64_t>(std::ldexp(fraction, 64)), exponent - 64};
}

wide multiply(wide a, wide b) noexcept {
    constexpr std::uint64_t low_half = 0xffffffff;
    std::uint64_t const low = (a.mantissa & low_half) * (b.mantissa & low_half);
    std::uint64_t const middle1 = (a.mantissa >> 32) * (b.mantissa & low_half) + (low >> 32);
    std::uint64_t const middle2 = (a.mantissa & low_half) * (b.mantissa >> 32) + (middle1 & low_half);
    std::uint64_t high = (a.mantissa >> 32) * (b.mantissa >> 32) + (middle1 >> 32) + (middle2 >> 32);
    std::uint64_t rest = (middle2 << 32) | (low & low_half);
    int exponent = a.exponent + b.exponent + 64;
    if (std::countl_zero(high) != 0) {
        high = (high << 1) | (rest >> 63);
        rest <<= 1;
        --exponent;
    }
    high += rest >> 63;
    std::uint64_t const carry = high == 0; // rounded up to the next power of two
    high |= carry << 63;
    exponent += static_cast<int>(carry);
    return {high, std::min(exponent, beyond_all_durations)};
}

/// By squaring, so that 2^64 - 1 failures cost no more than a few. Precondition: factor >= 1.
wide power(wide factor, std::uint64_t exponent) noexcept {
    wide result = to_wide(std::uint64_t(1));
    for (;; factor = multiply(factor, factor)) {
        if (exponent & 1)
            result = multiply(result, factor);
        if ((exponent >>= 1) == 0)
            return result;
    }
}

/// The nearest duration. Precondition: number >= 1.
duration to_duration(wide number) noexcept {
    if (number.exponent >= 0)
        return duration::max();
    std::uint64_t const twice = number.mantissa >> (-number.exponent - 1);
    return from_count(std::min((twice >> 1) + (twice & 1), greatest_count));
}

duration grown(duration base, double factor, std::uint64_t times) noexcept {
    if (base == duration::zero())
        return duration::zero();
    return to_duration(
        multiply(to_wide(static_cast<std::uint64_t>(base.count())), power(to_wide(factor), times)));
}

} // namespace

backoff::exponential_shape::exponential_shape(duration b, double f)
    : base(b)
    , factor(f) {
    for (std::size_t i = 0; i != first.size(); ++i)
        first[i] = grown(base, factor, i);
}

duration backoff::ceiling_of(constant_shape const& s, std::uint64_t) noexcept {
    return s.value;
}

duration backoff::ceiling_of(linear_shape const& s, std::uint64_t failures) noexcept {
    std::uint64_t const steps = std::min(failures - 1, greatest_count);
    std::uint64_t const grown = saturating_multiply(static_cast<std::uint64_t>(s.step.count()), steps);
    return from_count(std::min(static_cast<std::uint64_t>(s.initial.count()) + grown, greatest_count));
}

duration backoff::ceiling_of(exponential_shape const& s, std::uint64_t failures) noexcept {
    return failures <= s.first.size() ? s.first[failures - 1] : grown(s.base, s.factor, failures - 1);
}

duration backoff::ceiling_of(truncated_binary_shape const& s, std::uint64_t failures) noexcept {
    std::uint64_t const halvings = s.growing_failures - std::min(failures, s.growing_failures);
    return halvings > 62 ? duration::zero() : duration(s.greatest.count() >> halvings);
}

duration backoff::ceiling_of(custom const& s, std::uint64_t failures) {
    return std::max(s(failures), duration::zero());
}

duration backoff::ceiling(std::uint64_t failures) const {
    std::uint64_t const counted = std::max<std::uint64_t>(failures, 1);
    return std::min(cap_, std::visit([&](auto const& s) { return ceiling_of(s, counted); }, shape_));
}

backoff backoff::cap(duration greatest) const {
    detail::non_negative("cap", greatest);
    if (!std::holds_alternative<custom>(shape_) &&
        greatest < std::visit([](auto const& s) { return ceiling_of(s, 1); }, shape_))
        detail::refuse("cap", greatest, "must not be below the base");
    backoff changed(*this);
    changed.cap_ = greatest;
    return changed;
}

backoff constant(duration value) {
    return backoff(backoff::built_in(), backoff::constant_shape{detail::non_negative("constant", value)});
}

backoff linear(duration initial, duration step) {
    return backoff(backoff::built_in(), backoff::linear_shape{detail::non_negative("linear.initial", initial),
                                                              detail::non_negative("linear.step", step)});
}

backoff exponential(duration base, double factor) {
    detail::non_negative("exponential.base", base);
    if (!std::isfinite(factor) || factor < 1)
        detail::refuse("exponential.factor", factor, "must be a finite number of at least 1");
    return backoff(backoff::built_in(), backoff::exponential_shape(base, factor));
}

backoff truncated_binary(std::int64_t growing_failures, duration greatest) {
    if (growing_failures < 1)
        detail::refuse("truncated_binary.N", std::to_string(growing_failures), "must be at least 1");
    return backoff(backoff::built_in(),
                   backoff::truncated_binary_shape{static_cast<std::uint64_t>(growing_failures),
                                                   detail::non_negative("truncated_binary.T", greatest)});
}

} // namespace asio_retry
