#pragma once

#include <asio_retry/duration.hpp>

#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace asio_retry::test {

/// Rapidcheck begins with small values; these generators use their whole range from the first example on.
template <typename T>
rc::Gen<T> at_full_size(rc::Gen<T> gen) {
    return rc::gen::resize(rc::kNominalSize, std::move(gen));
}

template <typename T>
rc::Gen<T> between(T least, T greatest) {
    return at_full_size(rc::gen::inRange<T>(least, greatest + 1));
}

/// All 64 bits: every magnitude is as likely as any other, and the powers of two and their neighbours are
/// likely.
inline rc::Gen<std::uint64_t> any_count() {
    auto const any_magnitude =
        rc::gen::apply([](std::uint64_t bits, int unused) { return bits >> unused; },
                       at_full_size(rc::gen::arbitrary<std::uint64_t>()), between(0, 63));
    auto const edge = rc::gen::apply(
        [](int power, int offset) { return (std::uint64_t(1) << power) + static_cast<std::uint64_t>(offset); },
        between(0, 63), between(-2, 2));
    auto const greatest = rc::gen::element(~std::uint64_t(0), ~std::uint64_t(0) >> 1);
    return rc::gen::oneOf(any_magnitude, edge, between<std::uint64_t>(0, 100), greatest);
}

/// Failure counts, of which the first few, the last ones and the powers of two matter most.
inline rc::Gen<std::uint64_t> any_failures() {
    return rc::gen::map(any_count(), [](std::uint64_t n) { return n == 0 ? 1 : n; });
}

/// Nanoseconds from duration::min() to duration::max().
inline rc::Gen<std::int64_t> any_nanoseconds() {
    return rc::gen::map(any_count(), [](std::uint64_t n) { return std::bit_cast<std::int64_t>(n); });
}

/// Nanoseconds from 0 to duration::max().
inline rc::Gen<std::int64_t> non_negative_nanoseconds() {
    return rc::gen::map(any_count(), [](std::uint64_t n) {
        return static_cast<std::int64_t>(n & static_cast<std::uint64_t>(duration::max().count()));
    });
}

/// Every bit pattern, so NaNs, infinities and denormal numbers too; the neighbours of 0, 1 and -1 are likely.
inline rc::Gen<double> any_double() {
    using limits = std::numeric_limits<double>;
    auto const any_bits = rc::gen::map(at_full_size(rc::gen::arbitrary<std::uint64_t>()),
                                       [](std::uint64_t bits) { return std::bit_cast<double>(bits); });
    auto const fraction =
        rc::gen::map(between<std::uint64_t>(0, 1'000'000), [](std::uint64_t n) { return double(n) / 500'000; });
    auto const edge = rc::gen::elementOf(std::vector<double>{
        0., -0., 1., -1., std::nextafter(1., 0.), std::nextafter(1., 2.), -limits::denorm_min(),
        limits::denorm_min(), limits::max(), limits::lowest(), limits::infinity(), -limits::infinity(),
        limits::quiet_NaN(), -limits::quiet_NaN()});
    return rc::gen::oneOf(any_bits, fraction, edge);
}

/// Finite, from 1 on: barely above 1, usual, whole, and up to the greatest double.
inline rc::Gen<double> any_factor() {
    auto const barely = rc::gen::apply(
        [](std::uint64_t n, int power) { return 1 + std::ldexp(static_cast<double>(n), -power); },
        between<std::uint64_t>(0, 1024), between(10, 52));
    auto const usual =
        rc::gen::map(between<std::uint64_t>(100, 1000), [](std::uint64_t n) { return double(n) / 100; });
    auto const whole = rc::gen::map(any_failures(), [](std::uint64_t n) { return static_cast<double>(n); });
    auto const huge = rc::gen::apply(
        [](std::uint64_t n, int power) { return std::ldexp(1 + std::ldexp(double(n), -52), power); },
        between<std::uint64_t>(0, (std::uint64_t(1) << 52) - 1), between(0, 1023));
    return rc::gen::oneOf(barely, usual, whole, huge,
                          rc::gen::element(2., 1.5, 1., std::numeric_limits<double>::max()));
}

} // namespace asio_retry::test
