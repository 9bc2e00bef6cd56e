#include <asio_retry/backoff.hpp>

#include <asio_retry/detail/check.hpp>

#include <algorithm>
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

/// By squaring, so that 2^64 - 1 failures cost no more than a few. Precondition: factor >= 1.
template <typename Number, typename Multiply>
Number power(Number factor, std::uint64_t exponent, Multiply multiply) noexcept {
    Number result = 1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1)
            result = multiply(result, factor);
        factor = multiply(factor, factor);
    }
    return result;
}

duration scale_exactly(duration base, std::uint64_t factor, std::uint64_t exponent) noexcept {
    std::uint64_t const scale = power(factor, exponent, saturating_multiply);
    return from_count(saturating_multiply(static_cast<std::uint64_t>(base.count()), scale));
}

// Only multiplications: each is rounded as IEEE 754 says, so every platform gets the same delay, unlike
// std::pow.
duration scale_rounded(duration base, double factor, std::uint64_t exponent) noexcept {
    double const scale = power(factor, exponent, [](double a, double b) { return a * b; });
    double const count = static_cast<double>(base.count()) * scale;
    if (!(count < static_cast<double>(greatest_count)))
        return duration::max();
    return duration(std::llround(count));
}

} // namespace

duration backoff::ceiling_of(constant_shape const& s, std::uint64_t) noexcept {
    return s.value;
}

duration backoff::ceiling_of(linear_shape const& s, std::uint64_t failures) noexcept {
    std::uint64_t const steps = std::min(failures - 1, greatest_count);
    std::uint64_t const grown = saturating_multiply(static_cast<std::uint64_t>(s.step.count()), steps);
    return from_count(std::min(static_cast<std::uint64_t>(s.initial.count()) + grown, greatest_count));
}

duration backoff::ceiling_of(exponential_shape const& s, std::uint64_t failures) noexcept {
    if (s.base == duration::zero())
        return duration::zero();
    bool const is_whole = s.factor == std::floor(s.factor) && s.factor < static_cast<double>(greatest_count);
    if (is_whole)
        return scale_exactly(s.base, static_cast<std::uint64_t>(s.factor), failures - 1);
    return scale_rounded(s.base, s.factor, failures - 1);
}

duration backoff::ceiling_of(truncated_binary_shape const& s, std::uint64_t failures) noexcept {
    std::uint64_t const halvings = s.growing_failures - std::min(failures, s.growing_failures);
    return halvings > 62 ? duration::zero() : duration(s.greatest.count() >> halvings);
}

duration backoff::ceiling_of(custom const& s, std::uint64_t failures) {
    return std::max((*s)(failures), duration::zero());
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
    return backoff(backoff::built_in(), backoff::exponential_shape{base, factor});
}

backoff truncated_binary(std::int64_t growing_failures, duration greatest) {
    if (growing_failures < 1)
        detail::refuse("truncated_binary.N", std::to_string(growing_failures), "must be at least 1");
    return backoff(backoff::built_in(),
                   backoff::truncated_binary_shape{static_cast<std::uint64_t>(growing_failures),
                                                   detail::non_negative("truncated_binary.T", greatest)});
}

} // namespace asio_retry
