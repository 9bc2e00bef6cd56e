#include "explanation.hpp"

#include "limits_of_time.hpp"
#include "played_operation.hpp"
#include "played_runs.hpp"
#include "range_of_delays.hpp"
#include "sample.hpp"

#include <algorithm>
#include <cmath>

namespace asio_retry::tool {
namespace {

constexpr std::size_t draws_for_means = 400'000;
constexpr std::uint64_t most_waits_to_add_up = 1'000;

/// The policy with the same delays and no limit.
retry_policy without_limits(retry_policy const& policy) {
    retry_settings const& settings = policy.settings();
    return retry_policy().backoff(settings.backoff).jitter(settings.jitter).unlimited_attempts();
}

/// Takes draws of each failure, and sorts them.
void take_draws(std::vector<explained_failure>& failures, retry_policy const& endless,
                explain_request const& request) {
    for (std::size_t i = 0; i != request.draws; ++i) {
        played_operation operation(endless, request.seed, i);
        for (explained_failure& f : failures)
            f.draws.push_back(*operation.next());
    }
    for (explained_failure& f : failures)
        std::sort(f.draws.begin(), f.draws.end());
}

void sample_delays(std::vector<explained_failure>& failures, retry_policy const& endless, std::uint64_t seed) {
    std::size_t const runs =
        std::max<std::size_t>(draws_for_means / std::max<std::size_t>(failures.size(), 1), 100);
    std::vector<std::vector<duration>> delays(failures.size());
    for (std::size_t i = 0; i != runs; ++i) {
        played_operation operation(endless, seed, i);
        for (auto& each : delays)
            each.push_back(*operation.next());
    }
    for (std::size_t i = 0; i != failures.size(); ++i) {
        long double total = 0;
        for (duration const d : delays[i])
            total += static_cast<long double>(d.count());
        failures[i].mean = rounded(total / static_cast<long double>(runs));
        std::sort(delays[i].begin(), delays[i].end());
        if (failures[i].greatest == duration::max())
            failures[i].usual = quantile(delays[i], 0.99);
    }
}

/// The sum of the longest `count` waits; none if it cannot be found in reasonable time.
std::optional<duration> sum_of_longest(retry_settings const& settings, std::uint64_t count) {
    duration total{};
    range_of_delays ranges(settings);
    explained_failure each;
    for (duration before{}; each.failure <= count; ++each.failure) {
        before = each.greatest;
        ranges.next(each);
        total = saturating_sum(total, each.greatest);
        if (each.failure < most_waits_to_add_up)
            continue;
        std::uint64_t const left = count - each.failure;
        if (each.greatest == duration::max() || left == 0)
            return total;
        if (each.greatest != before)
            return std::nullopt;
        // The longest wait no longer grows.
        return saturating_sum(
            total, rounded(static_cast<long double>(left) * static_cast<long double>(before.count())));
    }
    return total;
}

std::optional<duration> longest_waits(retry_settings const& settings, std::uint64_t count) {
    auto const longest = sum_of_longest(settings, count);
    return settings.max_waited ? std::min(longest.value_or(duration::max()), *settings.max_waited) : longest;
}

/// The longest time: all waits, and all attempts if they have a limit. A gate that the policy waits for may
/// take any time.
std::optional<duration> longest_time(retry_settings const& settings) {
    std::optional<duration> longest = settings.total_timeout;
    auto const at_most = [&](duration other) { longest = std::min(longest.value_or(duration::max()), other); };
    bool const may_begin_anew = settings.reset_after && settings.reset_after <= settings.attempt_timeout;
    if (!settings.attempt_timeout || may_begin_anew || settings.wait_when_refused)
        return longest;
    auto const one = static_cast<long double>(settings.attempt_timeout->count());
    if (settings.max_attempts)
        if (auto const waits = longest_waits(settings, *settings.max_attempts - 1))
            at_most(saturating_sum(*waits, rounded(one * static_cast<long double>(*settings.max_attempts))));
    if (settings.max_elapsed) // the last attempt begins no later
        at_most(saturating_sum(*settings.max_elapsed, *settings.attempt_timeout));
    return longest;
}

void add_runs(explanation& to, played_runs const& runs) {
    to.attempts = runs.attempts;
    if (to.waits) // no limit makes these shorter
        return;
    bool const is_played_to_the_end = runs.attempts.back() <= most_attempts_in_a_run;
    to.waits = is_played_to_the_end ? range_of_waits{runs.waits.front(), runs.waits.back(), runs.waits.size()}
                                    : range_of_waits{duration::zero(), *to.time_limit};
}

} // namespace

explanation explain(retry_policy const& policy, explain_request const& request) {
    retry_settings const& settings = policy.settings();
    explanation result;
    result.policy = policy;

    std::uint64_t const allowed =
        settings.max_attempts ? *settings.max_attempts - 1 : most_failures_unasked + 1;
    std::uint64_t const count = request.failures.value_or(std::min(allowed, most_failures_unasked));
    result.is_whole = !request.failures && allowed <= most_failures_unasked;
    range_of_delays ranges(settings);
    for (std::uint64_t failure = 1; failure <= count; ++failure) {
        explained_failure& each = result.failures.emplace_back();
        each.failure = failure;
        ranges.next(each);
        each.usual = each.greatest;
        result.means_are_sampled |= ranges.needs_sampling();
    }
    retry_policy const endless = without_limits(policy);
    if (result.means_are_sampled)
        sample_delays(result.failures, endless, request.seed);
    limits_of_time const limits(settings);
    limits_of_time(endless.settings()).keep(result.failures);
    bool const is_limited =
        !result.failures.empty() && !limits.allow(result.failures.back().cumulative_greatest);
    bool const is_cut = !request.failures && limits.keep(result.failures);
    result.time_limit = limits.earliest();
    if (request.draws != 0)
        take_draws(result.failures, endless, request);
    if (result.is_whole && !is_limited && !result.failures.empty())
        result.waits = {result.failures.back().cumulative_least, result.failures.back().cumulative_greatest};
    if (result.time_limit)
        add_runs(result, play(policy, request.seed));
    else if (settings.max_attempts)
        result.attempts = {*settings.max_attempts};
    if (is_cut)
        result.is_whole = result.attempts.back() <= result.failures.size() + 1;
    result.longest = longest_time(settings);
    return result;
}

expected_load load_at(explanation const& what, double failure_probability) {
    double const p = failure_probability;
    if (what.attempts.empty())
        return {1 / (1 - p), p < 1 ? 1.0 : 0.0, false};
    expected_load sum{};
    for (std::uint64_t const number : what.attempts) {
        auto const attempts = static_cast<double>(number);
        double const all_fail = std::pow(p, attempts);
        sum.attempts += p < 1 ? (1 - all_fail) / (1 - p) : attempts;
        sum.successes += 1 - all_fail;
    }
    auto const runs = static_cast<double>(what.attempts.size());
    constexpr double share_that_nobody_sees = 1e-9;
    bool const is_least = !is_known(what, what.attempts.back()) &&
                          std::pow(p, static_cast<double>(most_attempts_in_a_run)) > share_that_nobody_sees;
    return {sum.attempts / runs, sum.successes / runs, is_least};
}

} // namespace asio_retry::tool
