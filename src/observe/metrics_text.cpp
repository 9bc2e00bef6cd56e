#include <asio_retry/observe/retry_metrics.hpp>

#include "observe/foreign_counts.hpp"
#include "observe/gauge.hpp"
#include "observe/metric_names.hpp"
#include "observe/named_counts.hpp"
#include "observe/own_bounds.hpp"

#include <asio_retry/detail/policy/refuse.hpp>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>
#include <utility>

// The text exposition for Prometheus.

namespace asio_retry {
namespace {

constexpr std::string_view outcomes[] = {"success", "permanent", "transient",
                                         "timeout", "throttled", "overloaded"};

/// The label error_type; empty for successes and abandoned attempts.
std::string error_type(std::size_t kind) {
    return kind == 0 ? std::string() : "error_type=\"" + std::string(outcomes[kind]) + '"';
}

} // namespace

class retry_metrics::writer {
public:
    /// Throws std::invalid_argument for common labels that lines have already.
    writer(retry_metrics const& metrics, detail::label_text common)
        : names_(std::move(common.names))
        , text_(std::move(common.text)) {
        metrics.for_each_name([&](std::string_view policy, detail::operation_counts const& counts) {
            metric_label const label{std::string(policy_label), std::string(policy)};
            groups_.push_back(
                {detail::gauge_labels(std::span(&label, 1)).text, counts, detail::seen_counts(counts)});
            detail::add_counts(seen_, groups_.back().seen);
        });
        if (groups_.size() > 1 && std::ranges::find(names_, policy_label) != names_.end())
            detail::refuse("retry_metrics.labels", policy_label,
                           "must not be the label of the names of policies too");
    }

    void own() {
        using namespace detail;
        operations();
        attempts();
        numbers(retries_name, "counter", "Attempts after the first of an operation, except hedges.",
                &retry_counts::retries);
        numbers(hedges_name, "counter", "Attempts after the first of a hedged operation.",
                &retry_counts::hedges);
        numbers(refused_name, "counter", "Retries and attempts that a gate refused.", &retry_counts::refused);
        numbers(pending_name, "gauge", "Operations that have not ended.", &retry_counts::pending);
        histograms(delays_name, "How long the waits before retries were to be.", &operation_counts::delays);
        histograms(lengths_name, "How long attempts took.", &operation_counts::lengths);
    }

    void grpc(detail::grpc_counts const& counts) {
        using namespace detail;
        text_.begin_family(grpc_retries_name, "histogram", "Retries of a call, of calls that were retried.");
        grpc_number_bounds.write(text_, grpc_retries_name, counts.retries);
        text_.begin_family(grpc_hedges_name, "histogram", "Hedges of a call, of calls that were hedged.");
        grpc_number_bounds.write(text_, grpc_hedges_name, counts.hedges);
        text_.begin_family(grpc_delays_name, "histogram",
                           "Time without an attempt, of calls with several attempts.");
        grpc_latency_bounds.write(text_, grpc_delays_name, counts.delays);
    }

    void open_telemetry(detail::open_telemetry_counts const& counts) {
        using namespace detail;
        text_.begin_family(http_durations_name, "histogram",
                           "Duration of HTTP client requests, each attempt for itself.");
        for (std::size_t kind = 0; kind != counts.requests.size(); ++kind)
            http_bounds.write(text_, http_durations_name, counts.requests[kind], error_type(kind));
        text_.begin_family(http_active_name, "gauge", "Active HTTP client requests, which are attempts.");
        text_.sample(http_active_name, seen_.attempts - std::accumulate(seen_.failures.begin(),
                                                                        seen_.failures.end(), seen_.abandoned));
    }

    void gauges(std::vector<std::shared_ptr<gauge const>> const& all) {
        std::string_view family;
        for (auto const& each : all) {
            if (each->name != std::exchange(family, each->name))
                text_.begin_family(each->name, "gauge", each->help);
            if (each->fill) {
                fill(*each);
                continue;
            }
            check(*each, each->labels);
            text_.sample(each->name, each->value(), each->labels.text);
        }
    }

    std::string take() && { return std::move(text_).take(); }

private:
    static constexpr std::string_view policy_label = "policy";

    /// The operations of one name, or without a name.
    struct group {
        std::string label; // empty without a name
        detail::operation_counts const& counts;
        retry_counts seen;

        std::string and_label(std::string_view more) const {
            return label.empty() ? std::string(more) : (label + ',').append(more);
        }
    };

    void operations() {
        using detail::operations_name;
        text_.begin_family(operations_name, "counter",
                           "Operations that ended, by why they made no further attempt.");
        for (group const& each : groups_)
            for (std::size_t reason = 0; reason != each.counts.ended.size(); ++reason)
                for (bool const retried : {false, true}) {
                    std::string labels = each.and_label("reason=\"");
                    labels.append(to_string(static_cast<stop_reason>(reason))).append("\",retried=");
                    text_.sample(operations_name, each.counts.ended[reason][retried].load(),
                                 labels.append(retried ? "\"true\"" : "\"false\""));
                }
    }

    void attempts() {
        using detail::attempts_name;
        text_.begin_family(attempts_name, "counter", "Attempts that ended, by what they came to.");
        for (group const& each : groups_) {
            auto const ended = [&](std::string_view outcome, std::uint64_t count) {
                text_.sample(attempts_name, count, each.and_label("outcome=\"").append(outcome) + '"');
            };
            for (std::size_t kind = 0; kind != each.seen.failures.size(); ++kind)
                ended(outcomes[kind], each.seen.failures[kind]);
            ended("abandoned", each.seen.abandoned);
        }
    }

    void numbers(std::string_view name, std::string_view type, std::string_view help,
                 std::uint64_t retry_counts::* number) {
        text_.begin_family(name, type, help);
        for (group const& each : groups_)
            text_.sample(name, each.seen.*number, each.label);
    }

    void histograms(std::string_view name, std::string_view help,
                    detail::bucket_counts<9> detail::operation_counts::* histogram) {
        text_.begin_family(name, "histogram", help);
        for (group const& each : groups_)
            detail::own_bounds.write(text_, name, each.counts.*histogram, each.label);
    }

    void fill(gauge const& family) {
        std::set<std::string> present;
        family.fill([&](std::vector<metric_label> const& given, double value) {
            detail::label_text labels = detail::gauge_labels(given);
            check(family, labels);
            if (auto const [place, is_new] = present.insert(std::move(labels.text)); is_new)
                text_.sample(family.name, value, *place);
        });
    }

    /// Refuses labels that are common labels, too: a line would have them twice.
    void check(gauge const& written, detail::label_text const& labels) const {
        for (std::string const& name : labels.names)
            if (std::ranges::find(names_, name) != names_.end())
                detail::refuse("retry_metrics.labels", name,
                               "must not be a label of the gauge " + written.name + " too");
    }

    std::vector<group> groups_;
    retry_counts seen_;                    // of all of them
    std::vector<std::string> const names_; // the names of the common labels
    detail::exposition text_;
};

std::string retry_metrics::prometheus(std::string_view labels) const {
    detail::label_text common = detail::checked_labels(labels);
    auto const gauges = [this] {
        std::lock_guard const lock(mutex_);
        return gauges_; // a function may add another gauge
    }();
    writer text(*this, std::move(common));
    text.own();
    if (grpc_)
        text.grpc(*grpc_);
    if (open_telemetry_)
        text.open_telemetry(*open_telemetry_);
    text.gauges(gauges);
    return std::move(text).take();
}

} // namespace asio_retry
