#include "explanation.hpp"

#include "range_of_delays.hpp"
#include "sample.hpp"

#include <asio_retry/random.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/system/errc.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace asio_retry::tool {
namespace {

constexpr std::size_t draws_for_means = 400'000;
constexpr std::size_t runs_for_attempts = 1'000;
constexpr std::uint64_t most_attempts_in_a_run = 10'000;
constexpr std::uint64_t most_waits_to_add_up = 1'000;

duration sum(duration a, duration b) {
    return a > duration::max() - b ? duration::max() : a + b;
}

/// The same delays for ever.
retry_policy without_limits(retry_policy const& policy) {
    retry_settings const& settings = policy.settings();
    return retry_policy().backoff(settings.backoff).jitter(settings.jitter).unlimited_attempts();
}

/// What the machine decides after one failure after the other, each at once.
class played_operation {
public:
    played_operation(retry_policy const& policy, std::uint64_t seed, std::uint64_t stream)
        : machine_(policy)
        , source_(seed, stream) {
        machine_.start(now_);
    }

    /// The delay before the next attempt, or none.
    std::optional<duration> next() {
        static verdict const failure =
            verdict::failure(make_error_code(boost::system::errc::connection_refused));
        retry_action const action = machine_.on_failure(failure, now_, source_);
        if (action.what != retry_action::kind::wait)
            return std::nullopt;
        now_ = saturating_add(now_, action.delay);
        machine_.on_wait_over(now_);
        return action.delay;
    }

private:
    retry_machine machine_;
    random source_;
    time_point now_{};
};

/// Draws of each failure, sorted.
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

std::vector<std::uint64_t> numbers_of_attempts(retry_policy const& policy, std::uint64_t seed,
                                               bool has_time_limit) {
    retry_settings const& settings = policy.settings();
    if (!has_time_limit)
        return settings.max_attempts ? std::vector{*settings.max_attempts} : std::vector<std::uint64_t>();
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 0; i != runs_for_attempts; ++i) {
        played_operation operation(policy, seed, i);
        std::uint64_t attempts = 1;
        while (attempts != most_attempts_in_a_run && operation.next())
            ++attempts;
        numbers.push_back(attempts);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

void add_up(std::vector<explained_failure>& failures) {
    explained_failure before{};
    for (explained_failure& f : failures) {
        f.cumulative_least = sum(before.cumulative_least, f.least);
        f.cumulative_mean = sum(before.cumulative_mean, f.mean);
        f.cumulative_greatest = sum(before.cumulative_greatest, f.greatest);
        f.cumulative_usual = sum(before.cumulative_usual, f.usual);
        before = f;
    }
}

/// Attempts take no time here: all that passes has been waited.
std::optional<duration> time_limit(retry_settings const& settings) {
    std::optional<duration> least;
    for (auto const& limit : {settings.max_elapsed, settings.max_waited, settings.total_timeout})
        if (limit)
            least = std::min(least.value_or(duration::max()), *limit);
    return least;
}

/// Of `count` waits; none if nobody can tell in a reasonable time.
std::optional<duration> sum_of_longest(retry_settings const& settings, std::uint64_t count) {
    duration total{};
    range_of_delays ranges(settings);
    explained_failure each;
    for (duration before{}; each.failure <= count; ++each.failure) {
        before = each.greatest;
        ranges.next(each);
        total = sum(total, each.greatest);
        if (each.failure < most_waits_to_add_up)
            continue;
        std::uint64_t const left = count - each.failure;
        if (each.greatest == duration::max() || left == 0)
            return total;
        if (each.greatest != before)
            return std::nullopt;
        // It grows no more.
        return sum(total, rounded(static_cast<long double>(left) * static_cast<long double>(before.count())));
    }
    return total;
}

std::optional<duration> longest_waits(retry_settings const& settings, std::uint64_t count) {
    auto const longest = sum_of_longest(settings, count);
    return settings.max_waited ? std::min(longest.value_or(duration::max()), *settings.max_waited) : longest;
}

/// Everything as late as it can be: all waits, and all attempts where they have a limit.
std::optional<duration> longest_time(retry_settings const& settings) {
    std::optional<duration> longest = settings.total_timeout;
    auto const at_most = [&](duration other) { longest = std::min(longest.value_or(duration::max()), other); };
    if (!settings.attempt_timeout)
        return longest;
    auto const one = static_cast<long double>(settings.attempt_timeout->count());
    if (settings.max_attempts)
        if (auto const waits = longest_waits(settings, *settings.max_attempts - 1))
            at_most(sum(*waits, rounded(one * static_cast<long double>(*settings.max_attempts))));
    if (settings.max_elapsed) // the last attempt begins no later
        at_most(sum(*settings.max_elapsed, *settings.attempt_timeout));
    return longest;
}

/// Whether the time limit interrupts attempts, which are then left some of it.
bool interrupts(duration limit, retry_settings const& settings) {
    return settings.total_timeout && *settings.total_timeout <= limit;
}

/// Leaves the failures that a wait follows if all delays are average and attempts take no time. With `clamp` a
/// wait is cut short to end at the limit, or to leave an attempt a tenth of the time left.
bool keep_within(duration limit, retry_settings const& settings, std::vector<explained_failure>& failures) {
    duration left = limit;
    for (auto each = failures.begin(); each != failures.end(); ++each) {
        bool const is_last = each->mean > left;
        bool const is_clamped = settings.clamp && left > duration::zero();
        duration const most = is_clamped && interrupts(limit, settings) ? left - left / 10 : left;
        if (is_clamped && each->mean > most) {
            each->least = std::min(each->least, most);
            each->mean = each->greatest = each->usual = most;
        }
        if (is_last) {
            failures.erase(is_clamped ? std::next(each) : each, failures.end());
            return true;
        }
        left -= each->mean;
    }
    return false;
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
    add_up(result.failures);

    result.time_limit = time_limit(settings);
    if (result.time_limit && !request.failures && keep_within(*result.time_limit, settings, result.failures)) {
        result.is_whole = true;
        add_up(result.failures);
    }
    if (request.draws != 0)
        take_draws(result.failures, endless, request);
    result.attempts = numbers_of_attempts(policy, request.seed, result.time_limit.has_value());
    result.longest = longest_time(settings);
    return result;
}

expected_load load_at(explanation const& what, double failure_probability) {
    double const p = failure_probability;
    if (what.attempts.empty())
        return {1 / (1 - p), p < 1 ? 1.0 : 0.0};
    expected_load sum{};
    for (std::uint64_t const number : what.attempts) {
        auto const attempts = static_cast<double>(number);
        double const all_fail = std::pow(p, attempts);
        sum.attempts += p < 1 ? (1 - all_fail) / (1 - p) : attempts;
        sum.successes += 1 - all_fail;
    }
    auto const runs = static_cast<double>(what.attempts.size());
    return {sum.attempts / runs, sum.successes / runs};
}

} // namespace asio_retry::tool
