#pragma once

#include <asio_retry/retry_policy.hpp>

#include "world/plan.hpp"

#include <algorithm>
#include <cmath>

/// The published laws of backoff and jitter, written down a second time.
namespace asio_retry::world {

inline duration greatest_ceiling(law_plan const& law) {
    return law.cap.value_or(duration::max());
}

inline duration ceiling_of(law_plan const& law, std::uint64_t failures) {
    long double nanoseconds = 0;
    auto const base = static_cast<long double>(law.base.count());
    auto const n = static_cast<long double>(failures - 1);
    switch (law.shape) {
    case shape_kind::constant:
        nanoseconds = base;
        break;
    case shape_kind::linear:
        nanoseconds = base + n * static_cast<long double>(law.step.count());
        break;
    case shape_kind::exponential:
        nanoseconds = base * std::pow(static_cast<long double>(law.factor), n);
        break;
    case shape_kind::truncated_binary:
        nanoseconds = base / std::exp2(static_cast<long double>(law.growing) -
                                       std::fmin(n + 1, static_cast<long double>(law.growing)));
        break;
    case shape_kind::custom:
        nanoseconds = base / 2 * (n + 2);
        break;
    }
    auto const cap = static_cast<long double>(greatest_ceiling(law).count());
    return nanoseconds >= cap ? greatest_ceiling(law)
                              : duration(static_cast<duration::rep>(std::llround(nanoseconds)));
}

/// The first that is not zero, so far.
inline duration base_of(law_plan const& law, std::uint64_t failures) {
    duration base{};
    for (std::uint64_t n = 1; n <= failures && base == duration::zero(); ++n)
        base = ceiling_of(law, n);
    return base;
}

/// Between which delays a draw lies. What is rounded may be off by a nanosecond.
struct delay_range {
    duration least, greatest;
};

inline delay_range range_of(law_plan const& law, std::uint64_t failures, duration previous) {
    duration const ceiling = ceiling_of(law, failures);
    duration const base = base_of(law, failures);
    duration const cap = greatest_ceiling(law);
    auto const scaled = [&](double by) {
        auto const product = static_cast<long double>(ceiling.count()) * by;
        return product >= static_cast<long double>(cap.count()) ? cap
                                                                : duration(static_cast<duration::rep>(product));
    };
    duration const before = std::max(previous, base);
    auto const tripled = before > cap / 3 ? cap : before * 3;
    switch (law.jitter) {
    case jitter_kind::none:
        return {ceiling - 1ns, ceiling + 1ns};
    case jitter_kind::full:
    case jitter_kind::custom:
        return {0ns, ceiling + 1ns};
    case jitter_kind::equal:
        return {ceiling / 2 - 1ns, ceiling + 1ns};
    case jitter_kind::decorrelated:
        return {std::min(base, cap) - 1ns, std::max(std::min(tripled, cap), base) + 1ns};
    case jitter_kind::proportional:
        return {scaled(1 - law.fraction) - 1ns, scaled(1 + law.fraction) + 1ns};
    }
    return {};
}

} // namespace asio_retry::world
