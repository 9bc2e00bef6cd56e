#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <utility>

namespace asio_retry {

/// The options of an `aimd`.
struct aimd_options {
    std::uint32_t initial = 20;   ///< the limit at first
    std::uint32_t least = 1;      ///< of the limit
    std::uint32_t greatest = 200; ///< of the limit
    double backoff_ratio = 0.9;   ///< what is left of the limit after a drop, in (0, 1)
    saturating_duration timeout = std::chrono::seconds(5); ///< what takes longer is a drop too
};

/// Additive increase, multiplicative decrease, as TCP has it: AIMDLimit of Netflix's concurrency-limits.
///
/// A drop makes the limit L int(L * backoff_ratio); everything else makes it L + 1 where at least half of it is
/// in use.
class ASIO_RETRY_DECL aimd {
public:
    /// Throws std::invalid_argument unless 1 <= least <= initial <= greatest, for a ratio outside (0, 1) and a
    /// timeout that is not positive.
    explicit aimd(aimd_options const& options = {});

    /// How many attempts may run.
    std::uint32_t limit() const noexcept { return limit_; }

    /// An attempt took `rtt`, and `in_flight` of them ran when it ended, itself included.
    void update(saturating_duration rtt, std::uint32_t in_flight, bool dropped) noexcept;

private:
    aimd_options options_;
    std::uint32_t limit_;
};

/// The options of a `gradient`.
struct gradient_options {
    std::uint32_t initial = 20;      ///< the limit at first
    std::uint32_t least = 20;        ///< of the limit
    std::uint32_t greatest = 200;    ///< of the limit
    double smoothing = 0.2;          ///< the weight of a new limit, in (0, 1]
    double queue = 4;                ///< attempts that may wait at the peer
    double tolerance = 1.5;          ///< how much longer than usual is no sign of waiting, at least 1
    std::uint32_t long_window = 600; ///< how many attempts "usual" is an average of, at least 1
};

/// Follows how long attempts take, compared with how long they usually take: Gradient2Limit of Netflix's
/// concurrency-limits.
///
/// With L the limit and `long` the exponential mean of the times, the mean of the first ten to begin with:
/// gradient = max(0.5, min(1, tolerance * long / rtt)), and L becomes
/// (1 - smoothing) L + smoothing (L * gradient + queue) where at least half of it is in use. Where long / rtt
/// is greater than 2, from the tenth on, `long` becomes 0.95 long for the next time. A drop counts by its time
/// alone.
class ASIO_RETRY_DECL gradient {
public:
    /// Throws std::invalid_argument unless 1 <= least <= initial <= greatest, and for what lies outside what
    /// the options say.
    explicit gradient(gradient_options const& options = {});

    /// How many attempts may run.
    std::uint32_t limit() const noexcept { return static_cast<std::uint32_t>(limit_); }

    /// An attempt took `rtt`, and `in_flight` of them ran when it ended, itself included.
    void update(saturating_duration rtt, std::uint32_t in_flight, bool dropped) noexcept;

private:
    double usual_after(double rtt) noexcept;

    gradient_options options_;
    double limit_;
    double usual_ = 0;
    double sum_ = 0; // of the first ones
    std::uint32_t warm_up_ = 0;
};

/// Refuses attempts beyond a number in flight that it finds out itself, with error::too_many_in_flight.
///
/// A success tells the algorithm how long it took; a timeout, and what a peer refuses because it has too much
/// to do or limits this client, is a drop; other ends say nothing. There is no queue: refused attempts fail, or
/// wait with `wait_when_refused`; for a queue there is `retry_scope::max_pending`.
///
/// `Algorithm` is aimd, gradient, or a class with the same two functions. They are called one at a time, and
/// `limit` is asked after each `update`.
///
/// Thread safety: any function may be called from any thread. To admit an attempt takes no lock; a success and
/// a drop do, for one `update`.
template <class Algorithm>
class concurrency_limit final : public retry_gate {
public:
    /// Begins with the limit of `algorithm`.
    explicit concurrency_limit(Algorithm algorithm = Algorithm())
        : algorithm_(std::move(algorithm))
        , limit_(algorithm_.limit()) {}

    /// How many attempts may run now.
    std::uint32_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
    /// How many run.
    std::uint32_t in_flight() const noexcept { return in_flight_.load(std::memory_order_relaxed); }

    admission admit(std::uint64_t, time_point now) noexcept override {
        std::uint32_t count = in_flight_.load(std::memory_order_relaxed);
        while (count < limit())
            if (in_flight_.compare_exchange_weak(count, count + 1))
                return now;
        return {(time_point::max)(), error::too_many_in_flight};
    }

    void on_end(attempt_end const& end) noexcept override {
        std::uint32_t const count = in_flight_.fetch_sub(1);
        bool const succeeded = end.outcome == attempt_end::how::succeeded;
        if (!succeeded && !is_drop(end))
            return;
        std::lock_guard const lock(mutex_);
        algorithm_.update(end.took, count, !succeeded);
        limit_.store(algorithm_.limit(), std::memory_order_relaxed);
    }

    bool measures_time() const noexcept override { return true; }

private:
    static bool is_drop(attempt_end const& end) noexcept {
        return end.outcome == attempt_end::how::failed &&
               (end.kind == failure_kind::timeout || end.kind == failure_kind::overloaded ||
                end.kind == failure_kind::throttled);
    }

    std::mutex mutex_;
    Algorithm algorithm_;
    std::atomic<std::uint32_t> limit_;
    std::atomic<std::uint32_t> in_flight_ = 0;
};

} // namespace asio_retry
