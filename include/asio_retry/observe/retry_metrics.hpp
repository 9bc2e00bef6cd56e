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

namespace asio_retry::detail {
class exposition;
}

namespace asio_retry {

/// What retry_metrics has counted.
struct retry_counts {
    std::uint64_t operations = 0;            ///< that have begun
    std::uint64_t succeeded_at_once = 0;     ///< operations, with the first attempt
    std::uint64_t succeeded_after_retry = 0; ///< operations, with a retry or a hedge
    std::uint64_t attempts = 0;              ///< that have begun, retries and hedges among them
    std::uint64_t retries = 0;               ///< attempts after the first, in operations without hedges
    std::uint64_t hedges = 0;                ///< attempts after the first of an `async_hedge`
    std::uint64_t refused = 0;               ///< how often a gate refused a retry or an attempt
    std::uint64_t pending = 0;               ///< operations that have not ended
    std::array<std::uint64_t, 9> ended{};    ///< operations, by stop_reason
    std::array<std::uint64_t, 6> failures{}; ///< attempts that ended, by failure_kind; the first are successes

    /// All fields are equal.
    bool operator==(retry_counts const&) const = default;
};

/// Counts what happens to operations, and writes it as text for Prometheus: one object for all policies whose
/// numbers belong together, `policy.observe(metrics)`.
///
/// An attempt that was abandoned counts as `permanent`, as retry_observer says.
///
/// Thread safety: any function may be called from any thread. What is observed is counted without a lock.
class ASIO_RETRY_DECL retry_metrics final : public retry_observer {
public:
    /// Counted at about this time: while others go on, there are never more ends than beginnings, and what
    /// begins while they are looked at may seem to be pending.
    retry_counts counts() const noexcept;

    /// A number that belongs into the same text, such as the balance of a budget: `value` is called, without a
    /// lock, whenever the text is written, on every thread that writes it, and what it throws comes out there.
    ///
    /// Throws std::invalid_argument for an empty function, and for a name that is none of Prometheus or is
    /// taken.
    void add_gauge(std::string name, std::function<double()> value);

    /// The same, with a line that says what it is, which may be any text in UTF-8; another one throws
    /// std::invalid_argument.
    void add_gauge(std::string name, std::string help, std::function<double()> value);

    /// The text exposition format, version 0.0.4; its media type is `text/plain; version=0.0.4`.
    ///
    /// `labels` are those that every line is to have besides, such as `service="orders",zone="a"`. In values
    /// `\\`, `\"` and `\n` mean what they mean to Prometheus; any other backslash, a line feed, and a quote
    /// that neither a comma nor the end follows are escaped here. Throws std::invalid_argument for other text,
    /// for names that are none or taken, and for values that are no UTF-8.
    std::string prometheus(std::string_view labels = {}) const;

    /// Counts it.
    void on_event(observation const& event) noexcept override;

private:
    /// Durations, in steps of four from a millisecond on.
    class histogram {
    public:
        static constexpr std::size_t bounds = 9;
        void add(duration value) noexcept;
        void write(detail::exposition& text, std::string_view name) const;

    private:
        std::array<std::atomic<std::uint64_t>, bounds + 1> buckets_{};
        std::atomic<double> seconds_ = 0;
    };

    struct gauge {
        std::string name, help;
        std::shared_ptr<std::function<double()> const> value;
    };

    std::atomic<std::uint64_t> operations_ = 0, attempts_ = 0, retries_ = 0, hedges_ = 0, refused_ = 0;
    std::array<std::array<std::atomic<std::uint64_t>, 2>, 9> ended_{}; // with one attempt, or with more
    std::array<std::atomic<std::uint64_t>, 6> failures_{};
    histogram delays_, lengths_;

    std::mutex mutable mutex_; // of the gauges
    std::vector<gauge> gauges_;
};

} // namespace asio_retry
