#include <asio_retry/jitter.hpp>

#include <asio_retry/detail/check.hpp>

#include <algorithm>
#include <cmath>

namespace asio_retry {
namespace {

duration saturating_add(duration a, duration b) noexcept {
    return a > duration::max() - b ? duration::max() : a + b;
}

duration saturating_triple(duration d) noexcept {
    return d > duration::max() / 3 ? duration::max() : 3 * d;
}

/// Precondition: 0 <= fraction <= 1, so the result never exceeds d.
duration portion(duration d, double fraction) noexcept {
    double const count = static_cast<double>(d.count()) * fraction;
    // A count above 2^53 may be rounded up past d, and past what llround can represent.
    return count < static_cast<double>(d.count()) ? duration(std::llround(count)) : d;
}

} // namespace

duration jitter::draw_from(none, backoff_step const& step, random&) noexcept {
    return step.ceiling;
}

duration jitter::draw_from(full, backoff_step const& step, random& source) {
    return source.uniform(duration::zero(), step.ceiling);
}

duration jitter::draw_from(equal, backoff_step const& step, random& source) {
    return source.uniform(step.ceiling / 2, step.ceiling);
}

duration jitter::draw_from(decorrelated, backoff_step const& step, random& source) {
    duration const greatest = std::min(step.cap, saturating_triple(step.previous));
    return source.uniform(step.base, std::max(step.base, greatest));
}

duration jitter::draw_from(proportional p, backoff_step const& step, random& source) {
    duration const spread = portion(step.ceiling, p.fraction);
    return source.uniform(step.ceiling - spread, std::min(step.cap, saturating_add(step.ceiling, spread)));
}

duration jitter::draw_from(custom const& draw, backoff_step const& step, random& source) {
    return std::clamp(draw(step, source), duration::zero(), step.cap);
}

duration jitter::draw(backoff_step const& step, random& source) const {
    return std::visit([&](auto const& k) { return draw_from(k, step, source); }, kind_);
}

jitter no_jitter() {
    return jitter(jitter::built_in(), jitter::none());
}
jitter full_jitter() {
    return jitter(jitter::built_in(), jitter::full());
}
jitter equal_jitter() {
    return jitter(jitter::built_in(), jitter::equal());
}
jitter decorrelated_jitter() {
    return jitter(jitter::built_in(), jitter::decorrelated());
}

jitter proportional_jitter(double fraction) {
    if (!(fraction >= 0 && fraction <= 1))
        detail::refuse("proportional_jitter.fraction", fraction, "must lie in [0, 1]");
    return jitter(jitter::built_in(), jitter::proportional{fraction});
}

} // namespace asio_retry
