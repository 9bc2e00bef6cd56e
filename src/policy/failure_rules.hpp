#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/detail/policy/retryable.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/retry_settings.hpp>
#include <asio_retry/verdict.hpp>

#include "policy/rare_state.hpp"

#include <cstddef>
#include <cstdint>

namespace asio_retry::detail {

/// The source of the next delay.
struct delay_source {
    backoff const* shape;
    jitter const* kind;
    std::uint64_t counted;
    jitter_course* course;
};

/// Counts a failure in the rules that match it; the first matching rule of `when` sets the source of the delay.
/// Returns false if a rule allows no further retry. `kept` returns the states of the rules. Without memory for
/// them, every failure counts for the rule. Throws the exceptions of the predicates.
template <typename Kept>
bool follow_rules(delay_source& from, retry_settings const& settings, verdict const& failure,
                  attempt_facts const& facts, std::uint64_t failures, Kept kept) {
    bool is_found = false, may_go_on = true;
    for (std::size_t i = 0; i != settings.rules.size(); ++i) {
        retry_settings::rule const& rule = settings.rules[i];
        if ((rule.backoff && is_found) || !matches(settings, rule.matches, failure, facts))
            continue;
        rare_state* const rare = kept();
        rule_state* const own = rare ? &rare->rules[i] : nullptr;
        std::uint64_t const counted = own ? ++own->failures : failures;
        if (rule.backoff) {
            is_found = true;
            from = {&*rule.backoff, &settings.jitter_of(*rule.backoff), counted,
                    own ? &own->course : from.course};
        } else if (counted >= rule.max_attempts) {
            may_go_on = false;
        }
    }
    return may_go_on;
}

} // namespace asio_retry::detail
