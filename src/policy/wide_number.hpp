#pragma once

#include <asio_retry/duration.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>

namespace asio_retry::detail {

inline constexpr auto greatest_count = static_cast<std::uint64_t>(duration::max().count());

/// Multiplies nanoseconds. Both arguments and the result are at most greatest_count.
inline std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) noexcept {
    if (a != 0 && b > greatest_count / a)
        return greatest_count;
    return a * b;
}

inline duration from_count(std::uint64_t count) noexcept {
    return duration(static_cast<duration::rep>(count));
}

inline std::uint64_t count_of(duration d) noexcept {
    return static_cast<std::uint64_t>(d.count());
}

/// A number of at least 1 with 64 significant bits: mantissa * 2^exponent. Whole numbers below 2^64 are exact,
/// and so is the arithmetic while the result fits. It computes with integers only, so every platform gets the
/// same delay.
struct wide {
    std::uint64_t mantissa; // its highest bit is set
    int exponent;
};

// Exponents saturate here: such a number is above every duration, and no factor is below 1.
inline constexpr int beyond_all_durations = 1000;

inline wide to_wide(std::uint64_t count) noexcept {
    int const unused_bits = std::countl_zero(count);
    return {count << unused_bits, -unused_bits};
}

inline wide to_wide(double number) noexcept {
    int exponent = 0;
    double const fraction = std::frexp(number, &exponent);
    return {static_cast<std::uint64_t>(std::ldexp(fraction, 64)), exponent - 64};
}

inline wide multiply(wide a, wide b) noexcept {
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

/// Computed by squaring, in at most 64 steps. Precondition: factor >= 1.
inline wide power(wide factor, std::uint64_t exponent) noexcept {
    wide result = to_wide(std::uint64_t(1));
    for (;; factor = multiply(factor, factor)) {
        if (exponent & 1)
            result = multiply(result, factor);
        if ((exponent >>= 1) == 0)
            return result;
    }
}

/// The nearest duration. Precondition: number >= 1.
inline duration to_duration(wide number) noexcept {
    assert(number.exponent >= -63);
    if (number.exponent >= 0)
        return duration::max();
    std::uint64_t const twice = number.mantissa >> (-number.exponent - 1);
    return from_count(std::min((twice >> 1) + (twice & 1), greatest_count));
}

} // namespace asio_retry::detail
