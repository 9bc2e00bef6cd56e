#include <asio_retry/retry_policy.hpp>

#include <asio_retry/detail/policy/refuse.hpp>

#include "policy/handed_gate.hpp"
#include "policy/policy_name.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace asio_retry {

using namespace std::chrono_literals;

retry_settings::retry_settings()
    : backoff(exponential(100ms).cap(20s))
    , jitter(full_jitter()) {}
retry_settings::retry_settings(retry_settings const&) = default;
retry_settings::~retry_settings() = default;

asio_retry::jitter const& retry_settings::jitter_of(asio_retry::backoff const& shape) const noexcept {
    static asio_retry::jitter const none = no_jitter();
    static asio_retry::jitter const full = full_jitter();
    if (has_jitter)
        return jitter;
    detail::backoff_kind const kind = shape.shape().kind;
    bool const says_delays = kind == detail::backoff_kind::constant || kind == detail::backoff_kind::schedule;
    return says_delays ? none : full;
}

bool retry_settings::tells_events() const noexcept {
    auto const takes_event = [](predicate const& p) { return static_cast<bool>(p.by_event); };
    return on_retry || on_give_up || on_success || takes_event(retry_if) ||
           std::ranges::any_of(rules, takes_event, &rule::matches);
}

detail::kept_settings const& retry_policy::defaults() noexcept {
    static detail::kept_settings const settings;
    return settings;
}

template <typename Change>
retry_policy retry_policy::changed(Change change) const {
    retry_policy result;
    result.settings_ = detail::shared_value<detail::kept_settings>::make(kept(), [&](detail::kept_settings& s) {
        change(s);
        s.facts = {.limits = s.limits_attempts(),
                   .time = s.measures_time_unobserved(),
                   .story = s.gate || s.on_success || s.outer,
                   .observed = s.observer != nullptr,
                   .failures = !s.retry_sent || s.retry_if.by_event || s.retry_if.kinds != 0,
                   .wait_limits = s.max_elapsed || s.max_waited};
    });
    return result;
}

retry_policy retry_policy::backoff(asio_retry::backoff shape) const {
    return changed([&](retry_settings& s) {
        s.backoff = shape;
        s.jitter = s.jitter_of(shape);
    });
}

retry_policy retry_policy::jitter(asio_retry::jitter kind) const {
    return changed([&](retry_settings& s) {
        s.jitter = kind;
        s.has_jitter = true;
    });
}

retry_policy retry_policy::reset_after(saturating_duration stable_for) const {
    detail::non_negative("reset_after", stable_for);
    return changed([&](retry_settings& s) { s.reset_after = stable_for; });
}

retry_policy retry_policy::max_attempts(std::int64_t count) const {
    if (count < 1)
        detail::refuse("max_attempts", std::to_string(count), "must be at least 1; see unlimited_attempts()");
    return changed([&](retry_settings& s) { s.max_attempts = static_cast<std::uint64_t>(count); });
}

retry_policy retry_policy::unlimited_attempts() const {
    return changed([](retry_settings& s) { s.max_attempts.reset(); });
}

retry_policy retry_policy::max_elapsed(saturating_duration greatest) const {
    detail::non_negative("max_elapsed", greatest);
    return changed([&](retry_settings& s) { s.max_elapsed = greatest; });
}

retry_policy retry_policy::max_waited(saturating_duration greatest) const {
    detail::non_negative("max_waited", greatest);
    return changed([&](retry_settings& s) { s.max_waited = greatest; });
}

retry_policy retry_policy::attempt_timeout(saturating_duration greatest) const {
    if (greatest <= duration::zero())
        detail::refuse("attempt_timeout", greatest, "must be positive");
    return changed([&](retry_settings& s) { s.attempt_timeout = greatest; });
}

retry_policy retry_policy::setup_timeout(saturating_duration greatest) const {
    if (greatest <= duration::zero())
        detail::refuse("setup_timeout", greatest, "must be positive");
    return changed([&](retry_settings& s) { s.setup_timeout = greatest; });
}

retry_policy retry_policy::idle_timeout(saturating_duration greatest) const {
    if (greatest <= duration::zero())
        detail::refuse("idle_timeout", greatest, "must be positive");
    return changed([&](retry_settings& s) { s.idle_timeout = greatest; });
}

retry_policy retry_policy::total_timeout(saturating_duration greatest) const {
    detail::non_negative("total_timeout", greatest);
    return changed([&](retry_settings& s) { s.total_timeout = greatest; });
}

retry_policy retry_policy::deadline(saturating_time_point when) const {
    return changed([&](retry_settings& s) {
        s.deadline = when;
        s.inherits_deadline = false;
    });
}

retry_policy retry_policy::clamp() const {
    return changed([](retry_settings& s) { s.clamp = true; });
}

retry_policy retry_policy::deliver_at_once() const {
    return changed([](retry_settings& s) { s.deliver_at_once = true; });
}

retry_policy retry_policy::allow_total_cancellation() const {
    return changed([](retry_settings& s) { s.allow_total_cancellation = true; });
}

retry_policy retry_policy::retry_when_nested() const {
    return changed([](retry_settings& s) { s.retry_when_nested = true; });
}

retry_policy retry_policy::nested_in(attempt const& outer) const {
    return changed([&](retry_settings& s) {
        if (outer.deadline < s.deadline.value_or(time_point::max())) {
            s.deadline = outer.deadline;
            s.inherits_deadline = true;
        }
        if (!s.retry_when_nested)
            s.max_attempts = 1;
        s.is_nested = true;
        s.outer = outer.monitor ? outer.monitor->marks() : decltype(s.outer)();
        s.gate = detail::hand_over(s.gate, s.outer);
    });
}

retry_policy retry_policy::gate(std::shared_ptr<retry_gate> shared) const {
    return changed([&](retry_settings& s) {
        s.gate_measures_time = shared && shared->measures_time();
        s.gate = detail::hand_over(std::move(shared), s.outer);
    });
}

retry_policy retry_policy::wait_when_refused() const {
    return changed([](retry_settings& s) { s.wait_when_refused = true; });
}

retry_policy retry_policy::priority(request_priority rank) const {
    if (rank > request_priority::high)
        detail::refuse("priority", std::to_string(static_cast<int>(rank)), "must be low, normal or high");
    return changed([&](retry_settings& s) { s.priority = rank; });
}

retry_policy retry_policy::with_classifier(retry_settings::classifier classifier) const {
    return changed([&](retry_settings& s) { s.classify = std::move(classifier); });
}

retry_policy retry_policy::pushback_limit(saturating_duration greatest, over_limit then) const {
    detail::non_negative("pushback_limit", greatest);
    return changed([&](retry_settings& s) {
        s.pushback_limit = greatest;
        s.over_pushback_limit = then;
    });
}

retry_policy retry_policy::pushback_spread(double share) const {
    if (!(share >= 0 && share <= 1))
        detail::refuse("pushback_spread", share, "must be in [0, 1]");
    return changed([&](retry_settings& s) { s.pushback_spread = share + 0.0; });
}

retry_policy retry_policy::observe(std::shared_ptr<retry_observer> shared) const {
    return changed([&](retry_settings& s) { s.observer = std::move(shared); });
}

retry_policy retry_policy::name(std::string_view text) const {
    detail::check_policy_name(text);
    return changed([&](retry_settings& s) { s.name = text; });
}

retry_policy retry_policy::with_retry_if(retry_settings::predicate predicate) const {
    return changed([&](retry_settings& s) { s.retry_if = std::move(predicate); });
}

retry_policy retry_policy::with_rule(retry_settings::predicate matches, asio_retry::backoff other) const {
    return changed([&](retry_settings& s) { s.rules.push_back({std::move(matches), std::move(other), 0}); });
}

retry_policy retry_policy::with_rule(retry_settings::predicate matches, std::int64_t count) const {
    if (count < 1)
        detail::refuse("max_attempts_when", std::to_string(count), "must be at least 1");
    return changed([&](retry_settings& s) {
        s.rules.push_back({std::move(matches), std::nullopt, static_cast<std::uint64_t>(count)});
    });
}

retry_policy retry_policy::when(failure_kind kind, asio_retry::backoff other) const {
    return with_rule(detail::kind_predicate("when", &kind, 1), std::move(other));
}

retry_policy retry_policy::max_attempts_when(failure_kind kind, std::int64_t count) const {
    return with_rule(detail::kind_predicate("max_attempts_when", &kind, 1), count);
}

retry_policy retry_policy::retry_sent(bool allowed) const {
    return changed([&](retry_settings& s) { s.retry_sent = allowed; });
}

retry_policy retry_policy::with_on_success(retry_settings::hook hook) const {
    return changed([&](retry_settings& s) { s.on_success = std::move(hook); });
}

retry_policy retry_policy::with_on_retry(retry_settings::hook hook) const {
    return changed([&](retry_settings& s) { s.on_retry = std::move(hook); });
}

retry_policy retry_policy::with_on_give_up(retry_settings::hook hook) const {
    return changed([&](retry_settings& s) { s.on_give_up = std::move(hook); });
}

retry_policy retry_policy::with_reason_of_give_up(detail::shared_function<void(stop_reason)> hook) const {
    return with_on_give_up(
        {"on_give_up", [hook = std::move(hook)](retry_event const& event) { hook(event.reason); }});
}

} // namespace asio_retry
