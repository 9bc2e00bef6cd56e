#include <asio_retry/observe/retry_metrics.hpp>

#include "observe/exposition.hpp"
#include "text/shown_text.hpp"

#include <asio_retry/detail/policy/empty_function.hpp>
#include <asio_retry/detail/policy/refuse.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>

namespace asio_retry {
namespace {

using namespace std::chrono_literals;

constexpr duration greatest_of(std::size_t bucket) noexcept {
    return duration(1ms) * (std::int64_t(1) << 2 * bucket);
}

constexpr double seconds(duration value) noexcept {
    return std::chrono::duration<double>(value).count();
}

constexpr std::string_view operations_name = "asio_retry_operations_total",
                           attempts_name = "asio_retry_attempts_total",
                           retries_name = "asio_retry_retries_total", hedges_name = "asio_retry_hedges_total",
                           refused_name = "asio_retry_refused_total", pending_name = "asio_retry_pending",
                           delays_name = "asio_retry_delay_seconds",
                           lengths_name = "asio_retry_attempt_seconds";

/// Whether this library writes the name, or may write it for a histogram.
bool is_own(std::string_view name) noexcept {
    constexpr std::string_view families[] = {operations_name, attempts_name, retries_name, hedges_name,
                                             refused_name,    pending_name,  delays_name,  lengths_name};
    return std::ranges::any_of(families, [&](std::string_view own) {
        if (!name.starts_with(own))
            return false;
        std::string_view const rest = name.substr(own.size());
        return rest.empty() || rest == "_bucket" || rest == "_sum" || rest == "_count";
    });
}

constexpr std::string_view outcomes[] = {"success", "permanent", "transient",
                                         "timeout", "throttled", "overloaded"};

} // namespace

void retry_metrics::histogram::add(duration value) noexcept {
    std::size_t bucket = 0;
    while (bucket != bounds && value > greatest_of(bucket))
        ++bucket;
    buckets_[bucket].fetch_add(1, std::memory_order_relaxed);
    double sum = seconds_.load(std::memory_order_relaxed);
    while (!seconds_.compare_exchange_weak(sum, sum + seconds(value), std::memory_order_relaxed))
        ;
}

void retry_metrics::histogram::write(detail::exposition& text, std::string_view name) const {
    std::string const family(name);
    std::uint64_t count = 0;
    for (std::size_t i = 0; i <= bounds; ++i) {
        count += buckets_[i].load(std::memory_order_relaxed);
        double const bound = i == bounds ? std::numeric_limits<double>::infinity() : seconds(greatest_of(i));
        text.sample(family + "_bucket", count, "le=\"" + detail::exposition::number(bound) + '"');
    }
    text.sample(family + "_sum", seconds_.load(std::memory_order_relaxed));
    text.sample(family + "_count", count);
}

void retry_metrics::on_event(observation const& event) noexcept {
    switch (event.what) {
    case observation::kind::started:
        ++operations_;
        return;
    case observation::kind::attempt_began:
        ++attempts_;
        if (event.attempt > 1)
            ++(event.is_hedge ? hedges_ : retries_);
        return;
    case observation::kind::attempt_ended:
        lengths_.add(event.took);
        ++failures_[static_cast<std::size_t>(event.failure)];
        return;
    case observation::kind::retry_decided:
        return delays_.add(event.delay);
    case observation::kind::refused:
        ++refused_;
        return;
    case observation::kind::ended:
        ++ended_[static_cast<std::size_t>(event.reason)][event.attempt > 1];
        return;
    }
}

/// Reads ends before beginnings; beginnings are counted before their ends. An operation that begins between the
/// reads seems to be pending. Of several reads, the one with the least difference counts.
retry_counts retry_metrics::counts() const noexcept {
    auto const look = [this] {
        retry_counts result;
        for (std::size_t reason = 0; reason != ended_.size(); ++reason) {
            std::uint64_t const at_once = ended_[reason][0], after_retry = ended_[reason][1];
            result.ended[reason] = at_once + after_retry;
            if (static_cast<stop_reason>(reason) == stop_reason::succeeded) {
                result.succeeded_at_once = at_once;
                result.succeeded_after_retry = after_retry;
            }
        }
        std::ranges::copy(failures_, result.failures.begin());
        result.retries = retries_;
        result.hedges = hedges_;
        result.attempts = attempts_;
        result.refused = refused_;
        result.operations = operations_;
        result.pending =
            result.operations - std::accumulate(result.ended.begin(), result.ended.end(), std::uint64_t(0));
        return result;
    };
    retry_counts best = look();
    for (int looks = 1; looks != 8; ++looks) {
        retry_counts const next = look();
        bool const is_exact = next.ended == best.ended;
        if (next.pending < best.pending)
            best = next;
        if (is_exact)
            break;
    }
    return best;
}

void retry_metrics::add_gauge(std::string name, std::function<double()> value) {
    add_gauge(std::move(name), {}, std::move(value));
}

void retry_metrics::add_gauge(std::string name, std::string help, std::function<double()> value) {
    if (!detail::is_metric_name(name))
        detail::refuse("retry_metrics.gauge", detail::shown(name), "must be a name: letters, digits, _ and :");
    if (!detail::is_utf_8(help))
        detail::refuse("retry_metrics.help", detail::shown(help), "must be UTF-8");
    if (!value)
        detail::refuse_empty("retry_metrics.gauge");
    auto shared = std::make_shared<std::function<double()> const>(std::move(value));
    std::lock_guard const lock(mutex_);
    bool const is_taken =
        is_own(name) || std::ranges::any_of(gauges_, [&](gauge const& g) { return g.name == name; });
    if (is_taken)
        detail::refuse("retry_metrics.gauge", detail::shown(name), "must be a name that is not taken");
    gauges_.push_back({std::move(name), std::move(help), std::move(shared)});
}

std::string retry_metrics::prometheus(std::string_view labels) const {
    std::string const common = detail::checked_labels(labels);
    auto const gauges = [this] {
        std::lock_guard const lock(mutex_);
        return gauges_; // a function may add another gauge
    }();
    retry_counts const seen = counts();

    detail::exposition text(common);
    text.begin_family(operations_name, "counter",
                      "Operations that ended, by why they made no further attempt.");
    for (std::size_t reason = 0; reason != ended_.size(); ++reason)
        for (bool const retried : {false, true}) {
            std::string own = "reason=\"";
            own.append(to_string(static_cast<stop_reason>(reason))).append("\",retried=");
            text.sample(operations_name, ended_[reason][retried].load(),
                        own.append(retried ? "\"true\"" : "\"false\""));
        }
    text.begin_family(attempts_name, "counter", "Attempts that ended, by what they came to.");
    for (std::size_t kind = 0; kind != failures_.size(); ++kind)
        text.sample(attempts_name, seen.failures[kind], "outcome=\"" + std::string(outcomes[kind]) + '"');
    text.begin_family(retries_name, "counter", "Attempts after the first of an operation, except hedges.");
    text.sample(retries_name, seen.retries);
    text.begin_family(hedges_name, "counter", "Attempts after the first of a hedged operation.");
    text.sample(hedges_name, seen.hedges);
    text.begin_family(refused_name, "counter", "Retries and attempts that a gate refused.");
    text.sample(refused_name, seen.refused);
    text.begin_family(pending_name, "gauge", "Operations that have not ended.");
    text.sample(pending_name, seen.pending);
    text.begin_family(delays_name, "histogram", "How long the waits before retries were to be.");
    delays_.write(text, delays_name);
    text.begin_family(lengths_name, "histogram", "How long attempts took.");
    lengths_.write(text, lengths_name);
    for (auto const& [name, help, value] : gauges) {
        text.begin_family(name, "gauge", help);
        text.sample(name, (*value)());
    }
    return std::move(text).take();
}

} // namespace asio_retry
