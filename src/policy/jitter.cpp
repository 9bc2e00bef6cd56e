#include <asio_retry/jitter.hpp>

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/refuse.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <utility>

namespace asio_retry {
using detail::jitter_name;

jitter::jitter(detail::jitter_kind kind)
    : kind_(std::move(kind)) {}

jitter::jitter(jitter const& other)
    : kind_(other.kind_)
    , unit_(other.unit_)
    , least_(other.least_)
    , cap_(other.cap_)
    , beyond_cap_(other.beyond_cap_) {}
jitter& jitter::operator=(jitter const&) = default;
jitter::~jitter() = default;

jitter jitter::unit(saturating_duration step) const {
    if (step <= duration::zero())
        detail::refuse("jitter.unit", step, "must be positive");
    jitter changed(*this);
    changed.unit_ = step;
    return changed;
}

jitter jitter::cap(saturating_duration greatest) const {
    jitter changed(*this);
    changed.cap_ = detail::non_negative("jitter.cap", greatest);
    if (greatest < least_)
        detail::refuse("jitter.cap", greatest, "must not be below at_least", least_);
    return changed;
}

jitter jitter::at_least(saturating_duration least) const {
    jitter changed(*this);
    changed.least_ = detail::non_negative("jitter.at_least", least);
    if (least > cap_)
        detail::refuse("jitter.at_least", least, "must not be above the cap of the jitter", cap_);
    return changed;
}

jitter jitter::beyond_cap() const {
    jitter changed(*this);
    changed.beyond_cap_ = true;
    return changed;
}

/// The greatest delay that a draw may give.
duration jitter::bound(backoff_step const& step) const noexcept {
    return beyond_cap_ ? duration::max() : step.cap;
}

/// The least delay that a draw may give, a multiple of the unit.
duration jitter::least_draw(backoff_step const& step) const noexcept {
    auto const greatest = bound(step) / unit_;
    auto const least = least_ / unit_ + (least_ % unit_ > duration::zero() ? 1 : 0);
    return unit_ * std::min(least, greatest);
}

/// The multiples of the unit in a range; without any, the one below the range.
delay_range jitter::within_unit(delay_range const& range) const noexcept {
    auto const greatest = range.greatest / unit_;
    auto const least = range.least / unit_ + (range.least % unit_ > duration::zero() ? 1 : 0);
    return {unit_ * std::min(least, greatest), unit_ * greatest};
}

std::optional<delay_range> jitter::range(backoff_step const& step) const {
    if (!kind_.has_range())
        return std::nullopt;
    delay_range const range = within_unit(kind_.range(step, bound(step)));
    duration const lowest = least_draw(step);
    return delay_range{std::max(range.least, lowest), std::max(range.greatest, lowest)};
}

duration jitter::draw(backoff_step const& step, random& source) const {
    assert(step.base >= duration::zero() && step.ceiling <= step.cap);
    if (auto const drawn_from = range(step)) {
        auto const counts = source.uniform(static_cast<std::uint64_t>(drawn_from->least / unit_),
                                           static_cast<std::uint64_t>(drawn_from->greatest / unit_));
        return std::min(cap_, unit_ * static_cast<duration::rep>(counts));
    }
    duration const drawn = std::clamp(kind_.draw(step, source), duration::zero(), bound(step));
    return std::min(cap_, std::max(least_draw(step), drawn - drawn % unit_));
}

backoff_step detail::jitter_course::step(backoff const& shape, std::uint64_t failures,
                                         duration ceiling) noexcept {
    duration const cap = shape.cap_after(failures);
    if (failures == 1 || (cap <= base_ && ceiling < base_))
        base_ = previous_ = duration::zero();
    if (base_ == duration::zero()) {
        base_ = ceiling;
        previous_ = std::max(previous_, ceiling);
    }
    return {failures, ceiling, base_, cap, previous_};
}

jitter no_jitter() {
    return jitter({.name = jitter_name::none});
}
jitter full_jitter() {
    return jitter({.name = jitter_name::full});
}
jitter equal_jitter() {
    return jitter({.name = jitter_name::equal});
}
jitter decorrelated_jitter() {
    return jitter({.name = jitter_name::decorrelated});
}

jitter proportional_jitter(double fraction) {
    if (!(fraction >= 0 && fraction <= 1))
        detail::refuse("proportional_jitter.fraction", fraction, "must be in [0, 1]");
    return jitter({.name = jitter_name::proportional, .factor = fraction + 0.0});
}

jitter additive_jitter(saturating_duration greatest) {
    return jitter(
        {.name = jitter_name::additive, .width = detail::non_negative("additive_jitter.greatest", greatest)});
}

jitter multiplicative_jitter(double least, double greatest) {
    if (!(least >= 0))
        detail::refuse("multiplicative_jitter.least", least, "must be at least 0");
    if (!(greatest >= least) || !std::isfinite(greatest))
        detail::refuse("multiplicative_jitter.greatest", greatest, "must be finite, and not below least",
                       least);
    return jitter(
        {.name = jitter_name::multiplicative, .factor = least + 0.0, .greatest_factor = greatest + 0.0});
}

jitter windowed_jitter(saturating_duration window) {
    return jitter(
        {.name = jitter_name::windowed, .width = detail::non_negative("windowed_jitter.window", window)});
}

jitter symmetric_jitter(saturating_duration window) {
    return jitter(
        {.name = jitter_name::symmetric, .width = detail::non_negative("symmetric_jitter.window", window)});
}

jitter uniform_jitter(saturating_duration least) {
    return jitter({.name = jitter_name::uniform, .width = detail::non_negative("uniform_jitter.least", least)});
}

jitter log_normal_jitter(double sigma) {
    if (!(sigma >= 0) || !std::isfinite(sigma))
        detail::refuse("log_normal_jitter.sigma", sigma, "must be finite and at least 0");
    return jitter({.name = jitter_name::log_normal, .factor = sigma + 0.0}); // no -0, since text writes it as 0
}

jitter decorrelated_jitter_v2() {
    return jitter({.name = jitter_name::decorrelated_v2});
}

} // namespace asio_retry
