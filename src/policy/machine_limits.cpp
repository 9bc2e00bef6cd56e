#include <asio_retry/retry_machine.hpp>

#include <asio_retry/detail/policy/operation_story.hpp>

#include <algorithm>
#include <optional>

// What cuts an attempt or the operation short, and what an attempt says against that.

namespace asio_retry {
namespace {

time_point after(time_point from, std::optional<duration> const& limit) noexcept {
    return limit ? saturating_add(from, *limit) : time_point::max();
}

} // namespace

/// Null where an attempt cannot say, or need not.
detail::attempt_pulse* retry_machine::pulse() const noexcept {
    retry_settings const& settings = policy_.settings();
    return story_ && marks_sent_ && settings.wants_a_sign() ? &story_->pulse(settings.rules.size()) : nullptr;
}

time_point retry_machine::attempt_limit(time_point now) noexcept {
    retry_settings const& settings = policy_.settings();
    if (marks_sent_ && settings.wants_a_sign() && story()) {
        pulse()->heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);
        pulse()->is_healthy.store(false, std::memory_order_relaxed);
    }
    return limit_from(now);
}

time_point retry_machine::renewed_limit() noexcept {
    return limit_from(began_);
}

/// Without memory for what the attempt says neither of the limits holds that depend on it.
time_point retry_machine::limit_from(time_point began) noexcept {
    retry_settings const& settings = policy_.settings();
    time_point expiry = after(began, settings.attempt_timeout);
    if (auto const* const said = pulse()) {
        time_point const heard(duration(said->heard.load(std::memory_order_relaxed)));
        expiry = std::min(expiry, after(heard, settings.idle_timeout));
        if (!said->is_healthy.load(std::memory_order_relaxed))
            expiry = std::min(expiry, after(began, settings.set_up_within));
    }
    limited_by_deadline_ = deadline_ <= expiry;
    return std::min(expiry, deadline_);
}

void retry_machine::on_healthy(time_point now) noexcept {
    if (marks_health_ && now < healthy_since_)
        healthy_since_ = now;
    on_progress(now);
    if (auto* const said = pulse())
        said->is_healthy.store(true, std::memory_order_relaxed);
}

void retry_machine::on_progress(time_point now) noexcept {
    if (auto* const said = pulse())
        said->heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);
}

bool retry_machine::hears_attempt() const noexcept {
    return pulse() != nullptr;
}

void retry_machine::drain() noexcept {
    if (stopping_ == stopping::no)
        stopping_ = stopping::drained;
}

bool retry_machine::cancel_total() noexcept {
    bool const counts = total_counts();
    if (counts)
        cancel();
    return counts;
}

} // namespace asio_retry
