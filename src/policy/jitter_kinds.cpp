#include <asio_retry/jitter.hpp>

#include <asio_retry/detail/policy/refuse.hpp>

#include "policy/saturating_sum.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace asio_retry::detail {
namespace {

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

/// The width of a jitter that only adds, which its range keeps at the bound; zero for other jitters.
duration added_width(jitter_kind const& kind, duration ceiling) noexcept {
    if (kind.name == jitter_name::additive)
        return kind.width;
    if (kind.name == jitter_name::multiplicative && kind.factor >= 1)
        return scaled(ceiling, kind.greatest_factor - kind.factor);
    return duration::zero();
}

delay_range unbounded_range(jitter_kind const& kind, backoff_step const& step) noexcept {
    duration const ceiling = step.ceiling;
    switch (kind.name) {
    case jitter_name::full:
        return {duration::zero(), ceiling};
    case jitter_name::equal:
        return {ceiling / 2, ceiling};
    case jitter_name::decorrelated:
        return {step.base, std::max(step.base, std::min(step.cap, saturating_triple(step.previous)))};
    case jitter_name::proportional: {
        duration const spread = scaled(ceiling, kind.factor);
        return {ceiling - spread, saturating_sum(ceiling, spread)};
    }
    case jitter_name::additive:
        return {ceiling, saturating_sum(ceiling, kind.width)};
    case jitter_name::multiplicative:
        return {scaled(ceiling, kind.factor), scaled(ceiling, kind.greatest_factor)};
    case jitter_name::windowed:
        return {ceiling - kind.width, ceiling};
    case jitter_name::symmetric:
        return {ceiling - kind.width, saturating_sum(ceiling, kind.width)};
    case jitter_name::uniform:
        return {std::min(kind.width, ceiling), ceiling};
    default:
        return {ceiling, ceiling};
    }
}

} // namespace

delay_range jitter_kind::range(backoff_step const& step, duration bound) const noexcept {
    auto const [least, greatest] = unbounded_range(*this, step);
    if (greatest <= bound)
        return {least, greatest};
    return {std::min(least, bound - std::min(bound, added_width(*this, step.ceiling))), bound};
}

duration decorrelated_delay(backoff_step const& step, double u, double v) noexcept {
    auto const before = static_cast<double>(step.failures - 1);
    double const total = polly_total(before + u);
    double const total_before = step.failures == 1 ? 0 : polly_total(before - 1 + v);
    return total < 0x1p1000 ? scaled(step.base, (total - total_before) / 1.4) : duration::max();
}

duration jitter_kind::draw(backoff_step const& step, random& source) const {
    if (name == jitter_name::log_normal)
        return scaled(step.ceiling, std::exp(factor * normal(source)));
    if (name == jitter_name::decorrelated_v2) {
        double const u = 1 - uniform_fraction(source);
        return decorrelated_delay(step, u, step.failures == 1 ? 0 : 1 - uniform_fraction(source));
    }
    return non_negative("jitter", function(step, source));
}

} // namespace asio_retry::detail
