#include "explanation.hpp"

#include <asio_retry/random.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/system/errc.hpp>

#include <algorithm>
#include <cmath>

namespace asio_retry::tool {
namespace {

constexpr std::uint64_t most_failures_unasked = 20;
constexpr std::size_t sequences_for_a_mean = 20'000;

duration sum(duration a, duration b) {
    return a > duration::max() - b ? duration::max() : a + b;
}

duration rounded(long double count) {
    return count >= 0x1p63L ? duration::max() : duration(std::llround(count));
}

/// The same delays for ever.
retry_policy without_limits(retry_policy const& policy) {
    retry_settings const& settings = policy.settings();
    return retry_policy().backoff(settings.backoff).jitter(settings.jitter).unlimited_attempts();
}

/// The delays that the machine decides on, after failures without end.
class drawn_sequence {
public:
    drawn_sequence(retry_policy const& policy, std::uint64_t seed, std::uint64_t stream)
        : machine_(policy)
        , source_(seed, stream) {
        machine_.start();
    }

    duration next() {
        static verdict const failure =
            verdict::failure(make_error_code(boost::system::errc::connection_refused));
        retry_action const action = machine_.on_failure(failure, time_point(), source_);
        machine_.on_wait_over(time_point());
        return action.delay;
    }

private:
    retry_machine machine_;
    random source_;
};

/// The mean of a jitter's draws, where they do not depend on the draw before.
class exact_mean {
public:
    explicit exact_mean(jitter const& kind)
        : jitter_(kind) {}

    duration of(delay_range const& range) const {
        auto const unit = static_cast<long double>(jitter_.unit().count());
        auto const least = std::floor(static_cast<long double>(range.least.count()) / unit);
        auto const greatest = std::floor(static_cast<long double>(range.greatest.count()) / unit);
        if (range.greatest <= jitter_.cap())
            return rounded(unit * (least + greatest) / 2);
        // All above the cap becomes the cap.
        auto const cap = static_cast<long double>(jitter_.cap().count());
        long double const last = std::max(std::floor(cap / unit), least - 1);
        long double const below = (last - least + 1) * (least + last) / 2 * unit;
        return rounded((below + (greatest - last) * cap) / (greatest - least + 1));
    }

private:
    jitter const& jitter_;
};

/// The range of each delay, over all that may have been drawn before.
class range_of_delays {
public:
    explicit range_of_delays(retry_settings const& settings)
        : settings_(settings)
        , least_(settings.backoff.base())
        , greatest_(least_)
        , base_(least_) {}

    void next(explained_failure& into) {
        into.ceiling = settings_.backoff.ceiling(into.failure);
        auto const from_least = settings_.jitter.range(step_for(into, least_));
        auto const from_greatest = settings_.jitter.range(step_for(into, greatest_));
        bool const is_known = from_least && from_greatest;
        duration const bound = settings_.jitter.is_beyond_cap() ? duration::max() : settings_.backoff.cap();
        into.least = least_ = is_known ? std::min(from_least->least, settings_.jitter.cap()) : duration::zero();
        into.greatest = greatest_ =
            std::min(is_known ? from_greatest->greatest : bound, settings_.jitter.cap());
        depends_on_previous_ = !is_known || from_least->least != from_greatest->least ||
                               from_least->greatest != from_greatest->greatest;
        if (!depends_on_previous_)
            into.mean = exact_mean(settings_.jitter).of(*from_least);
    }

    /// Whether no mean could be computed.
    bool needs_sampling() const { return depends_on_previous_; }

private:
    backoff_step step_for(explained_failure const& at, duration previous) const {
        return {at.failure, at.ceiling, base_, settings_.backoff.cap(), previous};
    }

    retry_settings const& settings_;
    duration least_, greatest_; // drawn before
    duration base_;
    bool depends_on_previous_ = false;
};

std::vector<std::vector<duration>> draw(retry_policy const& policy, std::uint64_t seed, std::size_t failures,
                                        std::size_t sequences) {
    std::vector<std::vector<duration>> result(failures);
    for (std::size_t i = 0; i != sequences; ++i) {
        drawn_sequence sequence(policy, seed, i);
        for (std::vector<duration>& of_failure : result)
            of_failure.push_back(sequence.next());
    }
    return result;
}

void take_means(std::vector<explained_failure>& failures, retry_policy const& policy, std::uint64_t seed) {
    auto const drawn = draw(policy, seed, failures.size(), sequences_for_a_mean);
    for (std::size_t i = 0; i != failures.size(); ++i) {
        long double total = 0;
        for (duration const d : drawn[i])
            total += static_cast<long double>(d.count());
        failures[i].mean = rounded(total / sequences_for_a_mean);
    }
}

void add_up(std::vector<explained_failure>& failures) {
    explained_failure before{};
    for (explained_failure& f : failures) {
        f.cumulative_least = sum(before.cumulative_least, f.least);
        f.cumulative_mean = sum(before.cumulative_mean, f.mean);
        f.cumulative_greatest = sum(before.cumulative_greatest, f.greatest);
        before = f;
    }
}

std::optional<duration> time_limit(retry_settings const& settings) {
    std::optional<duration> least = settings.max_elapsed;
    if (settings.total_timeout)
        least = std::min(least.value_or(duration::max()), *settings.total_timeout);
    return least;
}

/// Everything as late as it can be: all waits, and all attempts where they have a limit.
std::optional<duration> longest_time(retry_settings const& settings) {
    std::optional<duration> longest = settings.total_timeout;
    if (settings.max_attempts && settings.attempt_timeout && *settings.max_attempts <= 100'000) {
        duration waits{};
        range_of_delays ranges(settings);
        explained_failure each;
        duration attempts = *settings.attempt_timeout;
        for (; each.failure != *settings.max_attempts; ++each.failure) {
            ranges.next(each);
            waits = sum(waits, each.greatest);
            attempts = sum(attempts, *settings.attempt_timeout);
        }
        longest = std::min(longest.value_or(duration::max()), sum(waits, attempts));
    }
    if (settings.max_elapsed && settings.attempt_timeout) // the last attempt begins no later
        longest =
            std::min(longest.value_or(duration::max()), sum(*settings.max_elapsed, *settings.attempt_timeout));
    return longest;
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
        result.means_are_sampled |= ranges.needs_sampling();
    }
    retry_policy const endless = without_limits(policy);
    if (result.means_are_sampled)
        take_means(result.failures, endless, request.seed);
    add_up(result.failures);

    if (auto const limit = time_limit(settings); limit && !request.failures) {
        auto const too_late = std::find_if(result.failures.begin(), result.failures.end(),
                                           [&](auto const& f) { return f.cumulative_mean > *limit; });
        if (too_late != result.failures.end()) {
            result.failures.erase(too_late, result.failures.end());
            result.is_whole = true;
        }
    }
    if (request.draws != 0) {
        auto drawn = draw(endless, request.seed, result.failures.size(), request.draws);
        for (std::size_t i = 0; i != drawn.size(); ++i) {
            std::sort(drawn[i].begin(), drawn[i].end());
            result.failures[i].draws = std::move(drawn[i]);
        }
    }

    if (result.is_whole)
        result.attempts = result.failures.size() + 1;
    else
        result.attempts = settings.max_attempts;
    result.longest = longest_time(settings);
    return result;
}

expected_load load_at(explanation const& what, double failure_probability) {
    double const p = failure_probability;
    if (!what.attempts)
        return {1 / (1 - p), p < 1 ? 1.0 : 0.0};
    auto const attempts = static_cast<double>(*what.attempts);
    double const all_fail = std::pow(p, attempts);
    return {p < 1 ? (1 - all_fail) / (1 - p) : attempts, 1 - all_fail};
}

} // namespace asio_retry::tool
