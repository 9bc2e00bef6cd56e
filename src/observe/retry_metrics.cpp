#include <asio_retry/observe/retry_metrics.hpp>

#include "observe/foreign_counts.hpp"
#include "observe/gauge.hpp"
#include "observe/gauge_access.hpp"
#include "observe/metric_names.hpp"
#include "observe/named_counts.hpp"
#include "observe/own_bounds.hpp"
#include "policy/shown_text.hpp"
#include "policy/utf_8.hpp"

#include <asio_retry/detail/policy/refuse.hpp>

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>
#include <utility>

namespace asio_retry {
namespace {

constexpr std::size_t abandoned_outcome = 6; // index in the outcomes, after those of failure_kind

} // namespace

retry_metrics::retry_metrics()
    : retry_metrics(metrics_options()) {}

retry_metrics::retry_metrics(metrics_options const& options)
    : grpc_(options.grpc ? std::make_unique<detail::grpc_counts>() : nullptr)
    , open_telemetry_(options.open_telemetry ? std::make_unique<detail::open_telemetry_counts>() : nullptr) {}

retry_metrics::~retry_metrics() {
    for (auto const& place : named_)
        delete place.load(std::memory_order_relaxed);
}

// --- what is observed

/// Precondition: the name is not empty.
detail::operation_counts& retry_metrics::counts_of(std::string_view policy) noexcept {
    if (policy == detail::other_names)
        return other_;
    for (std::size_t i = 0; i != places_; ++i) {
        detail::named_counts* const known = named_[i].load(std::memory_order_acquire);
        if (!known)
            return add_name(policy);
        if (known->name == policy)
            return known->counts;
    }
    return other_;
}

/// Without memory for a name, this name and all later ones count as `other` for ever. Otherwise an operation
/// could be counted in two places.
detail::operation_counts& retry_metrics::add_name(std::string_view policy) noexcept {
    std::lock_guard const lock(mutex_);
    for (std::size_t i = 0; i != places_; ++i) {
        if (detail::named_counts* const known = named_[i].load(std::memory_order_relaxed)) {
            if (known->name == policy) // another thread has added it
                return known->counts;
            continue;
        }
        try {
            auto* const made = new detail::named_counts(policy);
            named_[i].store(made, std::memory_order_release);
            return made->counts;
        } catch (std::bad_alloc const&) {
            places_ = i;
            break;
        }
    }
    return other_;
}

void retry_metrics::on_event(observation const& event) noexcept {
    if (grpc_)
        grpc_->on_event(event);
    if (open_telemetry_)
        open_telemetry_->on_event(event);
    detail::operation_counts& counts = event.policy.empty() ? unnamed_ : counts_of(event.policy);
    switch (event.what) {
    case observation::kind::started:
        ++counts.operations;
        return;
    case observation::kind::attempt_began:
        ++counts.attempts;
        if (event.attempt > 1)
            ++(event.is_hedge ? counts.hedges : counts.retries);
        return;
    case observation::kind::attempt_ended:
        detail::own_bounds.add(counts.lengths, event.took.count());
        ++counts.outcomes[event.is_abandoned ? abandoned_outcome : static_cast<std::size_t>(event.failure)];
        return;
    case observation::kind::retry_decided:
        return detail::own_bounds.add(counts.delays, event.delay.count());
    case observation::kind::refused:
        ++counts.refused;
        return;
    case observation::kind::held:
        return;
    case observation::kind::ended:
        ++counts.ended[static_cast<std::size_t>(event.reason)][event.attempt > 1];
        return;
    }
}

/// Reads `ended` before `operations`, so that `pending` is never negative. An operation that begins between the
/// two seems to be pending, so of up to 8 looks the one with the fewest pending operations counts.
retry_counts detail::seen_counts(operation_counts const& counts) noexcept {
    auto const look = [&] {
        retry_counts result;
        for (std::size_t reason = 0; reason != counts.ended.size(); ++reason) {
            std::uint64_t const at_once = counts.ended[reason][0], after_retry = counts.ended[reason][1];
            result.ended[reason] = at_once + after_retry;
            if (static_cast<stop_reason>(reason) == stop_reason::succeeded) {
                result.succeeded_at_once = at_once;
                result.succeeded_after_retry = after_retry;
            }
        }
        std::copy_n(counts.outcomes.begin(), result.failures.size(), result.failures.begin());
        result.abandoned = counts.outcomes[abandoned_outcome];
        result.retries = counts.retries;
        result.hedges = counts.hedges;
        result.attempts = counts.attempts;
        result.refused = counts.refused;
        result.operations = counts.operations;
        result.pending =
            result.operations - std::accumulate(result.ended.begin(), result.ended.end(), std::uint64_t(0));
        return result;
    };
    retry_counts best = look();
    for (int looks = 1; looks != 8; ++looks) {
        retry_counts const next = look();
        bool const is_stable = next.ended == best.ended;
        if (next.pending < best.pending)
            best = next;
        if (is_stable)
            break;
    }
    return best;
}

void detail::add_counts(retry_counts& to, retry_counts const& more) noexcept {
    for (auto const field :
         {&retry_counts::operations, &retry_counts::succeeded_at_once, &retry_counts::succeeded_after_retry,
          &retry_counts::attempts, &retry_counts::retries, &retry_counts::hedges, &retry_counts::refused,
          &retry_counts::pending, &retry_counts::abandoned})
        to.*field += more.*field;
    std::ranges::transform(to.ended, more.ended, to.ended.begin(), std::plus<>());
    std::ranges::transform(to.failures, more.failures, to.failures.begin(), std::plus<>());
}

retry_counts retry_metrics::counts() const noexcept {
    retry_counts all;
    for_each_name([&](std::string_view, detail::operation_counts const& of_name) {
        detail::add_counts(all, detail::seen_counts(of_name));
    });
    return all;
}

// --- gauges

void retry_metrics::add_gauge(std::string name, std::function<double()> value) {
    add_gauge(std::move(name), {}, {}, std::move(value));
}

void retry_metrics::add_gauge(std::string name, std::string help, std::function<double()> value) {
    add_gauge(std::move(name), std::move(help), {}, std::move(value));
}

void retry_metrics::add_gauge(std::string name, std::string help, std::vector<metric_label> const& labels,
                              std::function<double()> value) {
    if (!value)
        detail::refuse_empty("retry_metrics.gauge");
    for (auto const& [unused, text] : labels)
        if (!detail::is_utf_8(text))
            detail::refuse("retry_metrics.label", detail::shown(text), "must be UTF-8");
    std::vector<gauge> added(1);
    added[0] = {std::move(name), std::move(help), detail::gauge_labels(labels), std::move(value), {}};
    add(std::move(added));
}

void retry_metrics::add_gauges(std::string name, std::string help,
                               std::function<void(gauge_sink const&)> fill) {
    std::vector<detail::gauge_family> one;
    one.push_back({std::move(name), std::move(help), std::move(fill)});
    detail::gauge_access::add(*this, std::move(one));
}

void detail::gauge_access::add(retry_metrics& metrics, std::vector<gauge_family> families) {
    std::vector<retry_metrics::gauge> added;
    for (gauge_family& each : families) {
        if (!each.fill)
            refuse_empty("retry_metrics.gauges");
        added.push_back({std::move(each.name), std::move(each.help), {}, {}, std::move(each.fill)});
    }
    metrics.add(std::move(added));
}

/// Whether this object writes the name, or may write it for a histogram.
bool retry_metrics::is_own(std::string_view name) const noexcept {
    using namespace detail;
    auto const is_of = [&](bool is_on, std::initializer_list<std::string_view> families) {
        return is_on && std::ranges::any_of(families, [&](std::string_view own) {
                   if (!name.starts_with(own))
                       return false;
                   std::string_view const rest = name.substr(own.size());
                   return rest.empty() || rest == "_bucket" || rest == "_sum" || rest == "_count";
               });
    };
    return is_of(true, {operations_name, attempts_name, retries_name, hedges_name, refused_name, pending_name,
                        delays_name, lengths_name}) ||
           is_of(grpc_ != nullptr, {grpc_retries_name, grpc_hedges_name, grpc_delays_name}) ||
           is_of(open_telemetry_ != nullptr, {http_durations_name, http_active_name});
}

/// Throws std::invalid_argument if the gauge cannot be added to the others.
void retry_metrics::check(gauge const& added) const {
    auto const refuse_name = [&](std::string_view rule) {
        detail::refuse("retry_metrics.gauge", detail::shown(added.name), rule);
    };
    if (!detail::is_metric_name(added.name))
        refuse_name("must be a name: letters, digits, _ and :");
    if (!detail::is_utf_8(added.help))
        detail::refuse("retry_metrics.help", detail::shown(added.help), "must be UTF-8");
    if (is_own(added.name))
        refuse_name("must be a name that is not taken");
    for (auto const& other : gauges_) {
        if (other->name != added.name)
            continue;
        if (added.fill || other->fill)
            refuse_name("must be a name that is not taken");
        if (added.labels.text == other->labels.text)
            refuse_name(added.labels.text.empty() ? "must be a name that is not taken, or have other labels"
                                                  : "must have labels that are not taken");
        if (added.help != other->help)
            detail::refuse("retry_metrics.help", detail::shown(added.help),
                           "must be that of the other gauges of the name");
    }
}

void retry_metrics::add(std::vector<gauge> added) {
    std::vector<std::shared_ptr<gauge const>> shared;
    shared.reserve(added.size());
    for (gauge& each : added)
        shared.push_back(std::make_shared<gauge const>(std::move(each)));
    std::lock_guard const lock(mutex_);
    for (auto const& each : shared)
        check(*each);
    gauges_.reserve(gauges_.size() + shared.size());
    for (auto& each : shared) {
        auto const last = std::ranges::find(gauges_.rbegin(), gauges_.rend(), each->name,
                                            [](auto const& other) -> auto const& { return other->name; });
        gauges_.insert(last == gauges_.rend() ? gauges_.end() : last.base(), std::move(each));
    }
}

} // namespace asio_retry
