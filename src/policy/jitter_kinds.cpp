#include <asio_retry/detail/policy/jitter_kinds.hpp>

#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/jitter.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace asio_retry::detail {
namespace {

duration saturating_sum(duration a, duration b) noexcept {
    return a > duration::max() - b ? duration::max() : a + b;
}

duration saturating_triple(duration d) noexcept {
    return d > duration::max() / 3 ? duration::max() : 3 * d;
}

/// Precondition: factor >= 0. With a factor of at most 1 the result is never greater than `d`.
duration scaled(duration d, double factor) noexcept {
    assert(factor >= 0);
    if (factor == 1 || d == duration::zero()) // for zero any factor, even an infinite one
        return d;
    double const count = static_cast<double>(d.count()) * factor;
    // A count above 2^53 may be rounded up past d, and past the range of llround.
    double const limit = factor < 1 ? static_cast<double>(d.count()) : 0x1p63;
    return count < limit ? duration(std::llround(count)) : factor < 1 ? d : duration::max();
}

/// The sum of the delays of Polly's second version, in units of 1.4 bases. Saturates.
double polly_total(double failures) noexcept {
    return failures < 1000 ? std::exp2(failures) * std::tanh(std::sqrt(4 * failures)) : 0x1p1000;
}

/// In (0, 1].
double uniform_fraction(random& source) noexcept {
    return static_cast<double>((source() >> 11) + 1) * 0x1p-53;
}

/// Source: G. Box and M. Muller, "A note on the generation of random normal deviates", 1958.
double normal(random& source) noexcept {
    double const radius = std::sqrt(-2 * std::log(uniform_fraction(source)));
    return radius * std::cos(2 * std::numbers::pi * uniform_fraction(source));
}

} // namespace

delay_range no_jitter_kind::range(backoff_step const& step) const noexcept {
    return {step.ceiling, step.ceiling};
}

delay_range full_jitter_kind::range(backoff_step const& step) const noexcept {
    return {duration::zero(), step.ceiling};
}

delay_range equal_jitter_kind::range(backoff_step const& step) const noexcept {
    return {step.ceiling / 2, step.ceiling};
}

delay_range decorrelated_jitter_kind::range(backoff_step const& step) const noexcept {
    return {step.base, std::max(step.base, std::min(step.cap, saturating_triple(step.previous)))};
}

delay_range proportional_jitter_kind::range(backoff_step const& step) const noexcept {
    duration const spread = scaled(step.ceiling, fraction);
    return {step.ceiling - spread, saturating_sum(step.ceiling, spread)};
}

delay_range additive_jitter_kind::range(backoff_step const& step) const noexcept {
    return {step.ceiling, saturating_sum(step.ceiling, greatest)};
}

delay_range multiplicative_jitter_kind::range(backoff_step const& step) const noexcept {
    return {scaled(step.ceiling, least), scaled(step.ceiling, greatest)};
}

duration multiplicative_jitter_kind::added_width(backoff_step const& step) const noexcept {
    return least < 1 ? duration::zero() : scaled(step.ceiling, greatest - least);
}

delay_range windowed_jitter_kind::range(backoff_step const& step) const noexcept {
    return {step.ceiling - window, step.ceiling};
}

delay_range symmetric_jitter_kind::range(backoff_step const& step) const noexcept {
    return {step.ceiling - window, saturating_sum(step.ceiling, window)};
}

delay_range uniform_jitter_kind::range(backoff_step const& step) const noexcept {
    return {std::min(least, step.ceiling), step.ceiling};
}

duration log_normal_jitter_kind::draw(backoff_step const& step, random& source) const {
    return scaled(step.ceiling, std::exp(sigma * normal(source)));
}

duration decorrelated_jitter_v2_kind::delay(backoff_step const& step, double u, double v) const noexcept {
    auto const before = static_cast<double>(step.failures - 1);
    double const total = polly_total(before + u);
    double const total_before = step.failures == 1 ? 0 : polly_total(before - 1 + v);
    return total < 0x1p1000 ? scaled(step.base, (total - total_before) / 1.4) : duration::max();
}

duration decorrelated_jitter_v2_kind::draw(backoff_step const& step, random& source) const {
    double const u = 1 - uniform_fraction(source);
    return delay(step, u, step.failures == 1 ? 0 : 1 - uniform_fraction(source));
}

duration custom_jitter_kind::draw(backoff_step const& step, random& source) const {
    return non_negative("jitter", function(step, source));
}

} // namespace asio_retry::detail
