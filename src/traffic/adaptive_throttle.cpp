#include <asio_retry/traffic/adaptive_throttle.hpp>

#include "traffic/option_rules.hpp"

#include <algorithm>

namespace asio_retry {
namespace {

adaptive_throttle_options const& checked(adaptive_throttle_options const& o) {
    detail::demand(std::isfinite(o.k) && o.k >= 1, "adaptive_throttle.k", o.k, "must be finite and at least 1");
    detail::demand(o.window >= std::chrono::seconds(1), "adaptive_throttle.window", o.window,
                   "must be at least 1s");
    detail::demand(0 < o.max_rejection && o.max_rejection < 1, "adaptive_throttle.max_rejection",
                   o.max_rejection, "must be in (0, 1)");
    return o;
}

/// A random number in [0, 1).
double drawn_share(random& source) noexcept {
    return static_cast<double>(source() >> 11) * 0x1p-53;
}

} // namespace

adaptive_throttle::adaptive_throttle(adaptive_throttle_options const& options)
    : k_(checked(options).k)
    , max_rejection_(options.max_rejection)
    , window_(options.window)
    , source_(options.seed == 0 ? entropy_seed() : options.seed) {}

double adaptive_throttle::rejection_now() const noexcept {
    auto const requests = static_cast<double>(window_.total().requests);
    auto const accepts = static_cast<double>(window_.total().accepts);
    return std::clamp((requests - k_ * accepts) / (requests + 1), 0.0, max_rejection_);
}

double adaptive_throttle::rejection(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    window_.advance(now);
    return rejection_now();
}

bool adaptive_throttle::is_idle(time_point now) const noexcept {
    std::lock_guard const lock(mutex_);
    return window_.is_new_at(now);
}

admission adaptive_throttle::admit(std::uint64_t, time_point now) noexcept {
    std::lock_guard const lock(mutex_);
    window_.advance(now);
    double const rejected = rejection_now();
    window_.add({.requests = 1});
    if (rejected > 0 && drawn_share(source_) < rejected)
        return {time_point::max(), error::client_throttled};
    return now;
}

void adaptive_throttle::on_end(attempt_end const& end) noexcept {
    std::lock_guard const lock(mutex_);
    if (end.outcome == attempt_end::how::abandoned) {
        window_.subtract({.requests = 1}, end.now);
        return;
    }
    if (end.outcome == attempt_end::how::succeeded || end.kind == failure_kind::permanent) {
        window_.advance(end.now);
        window_.add({.accepts = 1});
    }
}

} // namespace asio_retry
