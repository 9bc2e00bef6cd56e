#pragma once

#include <asio_retry/retry_observer.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry {

namespace detail {

struct gauge_access;
struct gauge_family;
struct grpc_counts;
struct named_counts;
struct open_telemetry_counts;

/// The counts of a histogram. `src/observe/buckets.hpp` knows the bounds.
template <std::size_t Bounds>
struct bucket_counts {
    std::array<std::atomic<std::uint64_t>, Bounds + 1> values{}; // the last is of values above every bound
    std::atomic<double> sum = 0;
};

/// The counts of the operations of one name, or of the operations without a name.
struct operation_counts {
    std::atomic<std::uint64_t> operations = 0, attempts = 0, retries = 0, hedges = 0, refused = 0;
    std::array<std::array<std::atomic<std::uint64_t>, 2>, 9> ended{}; // with one attempt, or with more
    std::array<std::atomic<std::uint64_t>, 7> outcomes{};             // by failure_kind, and abandoned
    bucket_counts<9> delays, lengths;
};

} // namespace detail

/// The names of other systems under which `retry_metrics` writes its numbers too.
struct metrics_options {
    bool grpc = false;           ///< names of gRPC's proposal A96, such as `grpc_client_call_retries`
    bool open_telemetry = false; ///< names of OpenTelemetry for HTTP, such as
                                 ///< `http_client_request_duration_seconds`
};

/// A label of a gauge.
struct metric_label {
    std::string name;  ///< letters, digits and `_`; begins neither with a digit nor with `__`
    std::string value; ///< any text in UTF-8

    /// Whether both fields are equal.
    bool operator==(metric_label const&) const = default;
};

/// Takes the gauges of a set, one by one: the labels of a gauge, and its value.
using gauge_sink = std::function<void(std::vector<metric_label> const& labels, double value)>;

/// What retry_metrics has counted.
struct retry_counts {
    std::uint64_t operations = 0;            ///< operations that have begun
    std::uint64_t succeeded_at_once = 0;     ///< operations that succeeded with the first attempt
    std::uint64_t succeeded_after_retry = 0; ///< operations that succeeded with a retry or a hedge
    std::uint64_t attempts = 0;              ///< attempts that have begun, retries and hedges among them
    std::uint64_t retries = 0;               ///< attempts after the first, in operations without hedges
    std::uint64_t hedges = 0;                ///< attempts after the first of an `async_hedge`
    std::uint64_t refused = 0;               ///< how often a gate refused a retry or an attempt
    std::uint64_t pending = 0;               ///< operations that have not ended
    std::array<std::uint64_t, 9> ended{};    ///< operations, by stop_reason
    std::array<std::uint64_t, 6> failures{}; ///< attempts that ended, by failure_kind; the first are successes
    std::uint64_t abandoned = 0; ///< attempts that ended and are in no element of `failures`: the loser of a
                                 ///< hedge, or one whose caller has left

    /// Whether all fields are equal.
    bool operator==(retry_counts const&) const = default;
};

/// Counts what happens to operations, and writes it as text for Prometheus.
///
/// Use one object for all policies whose numbers belong together: `policy.observe(metrics)`. An attempt that
/// was abandoned has the outcome `abandoned`: nobody knows what the server would have answered. `add_gauge` and
/// `add_gauges` put numbers of the program into the same text. `observe/gauges.hpp` has gauges for sets of
/// servers and gates.
///
/// Operations of a policy with a name are counted apart: their lines have the label `policy`. The first 64
/// names have lines of their own; `other` counts the operations of all further names. Operations without a name
/// have lines without that label.
///
/// Lifetime: keeps each function of a gauge as long as it lives itself.
/// Thread safety: any function may be called from any thread. What is observed is counted without a lock,
/// except the first event of each of the 64 names.
class ASIO_RETRY_DECL retry_metrics final : public retry_observer {
public:
    /// Makes an object that writes only its own names.
    retry_metrics();
    /// Makes an object that writes the names of `options`, too.
    explicit retry_metrics(metrics_options const& options);
    ~retry_metrics() override;

    /// The counts of all operations at about this time. There are never more ends than beginnings. An operation
    /// that begins meanwhile may seem to be pending.
    retry_counts counts() const noexcept;

    /// Adds a number to the text, such as the balance of a budget.
    ///
    /// Each call of `prometheus` calls `value`, without a lock, on its own thread. An exception of `value`
    /// comes out of `prometheus`. Throws std::invalid_argument for an empty function, and for a name that is
    /// none of Prometheus or is taken.
    void add_gauge(std::string name, std::function<double()> value);

    /// Adds a gauge with a line of help, which may be any text in UTF-8; another text throws
    /// std::invalid_argument.
    void add_gauge(std::string name, std::string help, std::function<double()> value);

    /// Adds a gauge with labels. Gauges of one name must differ in their labels, and have the same help.
    ///
    /// Values may be any text in UTF-8. A label without a value is left out, as Prometheus does. Throws
    /// std::invalid_argument for another text, and for names that are none, are there twice, or are those of
    /// lines of this class.
    void add_gauge(std::string name, std::string help, std::vector<metric_label> const& labels,
                   std::function<double()> value);

    /// Deleted: a gauge with labels needs a help, too. Otherwise `{{"a", "b"}}` would be taken for a help.
    void add_gauge(std::string name, std::vector<metric_label> const& labels,
                   std::function<double()> value) = delete;

    /// Adds gauges for a set whose members change. Each call of `prometheus` calls `fill`, as it calls the
    /// `value` of a gauge, and `fill` calls the sink for each member.
    ///
    /// If two members have the same labels, the first one counts. Bytes that are not UTF-8 in a value become
    /// U+FFFD. So no member, whoever has named it, keeps Prometheus from the others. A bad name of a label
    /// throws as in `add_gauge`, out of the sink. The sink is valid until `fill` returns.
    void add_gauges(std::string name, std::string help, std::function<void(gauge_sink const&)> fill);

    /// The text exposition format, version 0.0.4; its media type is `text/plain; version=0.0.4`.
    ///
    /// `labels` are those that every line is to have besides, such as `service="orders",zone="a"`. In values
    /// `\\`, `\"` and `\n` mean what they mean to Prometheus; any other backslash, a line feed, and a quote
    /// that neither a comma nor the end follows are escaped here. Throws std::invalid_argument for other text,
    /// for names that are none or taken, also by a gauge, and for values that are no UTF-8. `policy` is taken
    /// as soon as an operation has had a name.
    std::string prometheus(std::string_view labels = {}) const;

    /// Counts the event.
    void on_event(observation const& event) noexcept override;

private:
    friend detail::gauge_access;

    struct gauge;
    class writer;

    detail::operation_counts& counts_of(std::string_view policy) noexcept;
    detail::operation_counts& add_name(std::string_view policy) noexcept;
    template <typename Visit>
    void for_each_name(Visit visit) const;
    bool is_own(std::string_view name) const noexcept;
    void check(gauge const& added) const;
    void add(std::vector<gauge> added);

    detail::operation_counts unnamed_, other_;
    std::array<std::atomic<detail::named_counts*>, 64> named_{}; // in the order of their arrival, then null
    std::atomic<std::size_t> places_ = 64;                       // in `named_`; fewer after a lack of memory
    std::unique_ptr<detail::grpc_counts> const grpc_;            // null without these names
    std::unique_ptr<detail::open_telemetry_counts> const open_telemetry_;

    std::mutex mutable mutex_;                         // of the gauges, and of new names
    std::vector<std::shared_ptr<gauge const>> gauges_; // gauges of one name follow each other
};

} // namespace asio_retry
