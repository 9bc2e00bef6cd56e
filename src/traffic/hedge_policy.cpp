#include <asio_retry/hedge_policy.hpp>

#include <asio_retry/detail/policy/refuse.hpp>

#include <string>
#include <utility>

namespace asio_retry {
namespace {

constexpr std::int64_t most_attempts = 16;

/// The settings of a new policy.
template <typename Change>
detail::shared_value<hedge_settings> settings_with(Change change) {
    hedge_settings from;
    from.common = retry_policy().max_attempts(2);
    return detail::shared_value<hedge_settings>::make(from, change);
}

} // namespace

hedge_policy::hedge_policy(saturating_duration delay)
    : settings_(settings_with([delay = detail::non_negative("hedge_policy.delay", delay)](hedge_settings& s) {
        s.delay = delay;
    })) {}

hedge_policy::hedge_policy(std::shared_ptr<latency_quantile> observed)
    : settings_(settings_with([&](hedge_settings& s) {
        if (!observed)
            detail::refuse("hedge_policy.observed", "null", "must be a latency_quantile");
        s.observed = std::move(observed);
    })) {}

template <typename Change>
hedge_policy hedge_policy::changed(Change change) const {
    hedge_policy result(*this);
    result.settings_ = detail::shared_value<hedge_settings>::make(settings(), change);
    return result;
}

hedge_policy hedge_policy::with_common(retry_policy const& common) const {
    return changed([&](hedge_settings& s) { s.common = common; });
}

hedge_policy hedge_policy::max_attempts(std::int64_t count) const {
    if (count < 1 || count > most_attempts)
        detail::refuse("hedge_policy.max_attempts", std::to_string(count), "must be from 1 to 16");
    return with_common(settings().common.max_attempts(count));
}

hedge_policy hedge_policy::gate(std::shared_ptr<retry_gate> shared) const {
    return with_common(settings().common.gate(std::move(shared)));
}

hedge_policy hedge_policy::observe(std::shared_ptr<retry_observer> shared) const {
    return with_common(settings().common.observe(std::move(shared)));
}

hedge_policy hedge_policy::name(std::string_view text) const {
    return with_common(settings().common.name(text));
}

hedge_policy hedge_policy::total_timeout(saturating_duration greatest) const {
    return with_common(settings().common.total_timeout(greatest));
}

hedge_policy hedge_policy::deadline(saturating_time_point when) const {
    return with_common(settings().common.deadline(when));
}

hedge_policy hedge_policy::deliver_at_once() const {
    return changed([](hedge_settings& s) { s.deliver_at_once = true; });
}

hedge_policy hedge_policy::hedge_sent(bool allowed) const {
    return changed([&](hedge_settings& s) { s.hedge_sent = allowed; });
}

hedge_policy hedge_policy::pushback_limit(saturating_duration greatest) const {
    return with_common(settings().common.pushback_limit(greatest));
}

hedge_policy hedge_policy::with_on_hedge(hedge_settings::hook hook) const {
    return changed([&](hedge_settings& s) { s.on_hedge = std::move(hook); });
}

hedge_policy hedge_policy::nested_in(attempt const& outer) const {
    retry_policy const nested = settings().common.nested_in(outer);
    std::uint64_t const count = outer.number == 1 ? settings().max_attempts() : 1;
    return with_common(nested.max_attempts(static_cast<std::int64_t>(count)));
}

} // namespace asio_retry
