#pragma once

#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/gate_waiter.hpp>
#include <asio_retry/retry_gate.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

namespace asio_retry {

/// An algorithm for `concurrency_limit`: the limit is always the same.
///
///     auto const four_at_once = std::make_shared<concurrency_limit<fixed_limit>>(fixed_limit(4));
class ASIO_RETRY_DECL fixed_limit {
public:
    /// Throws std::invalid_argument unless 1 <= n < 2^32.
    explicit fixed_limit(std::int64_t n);

    /// How many attempts may run.
    std::uint32_t limit() const noexcept { return limit_; }

    /// Changes nothing.
    void update(saturating_duration, std::uint32_t, bool) noexcept {}

private:
    std::uint32_t limit_;
};

/// The options of an `aimd`.
struct aimd_options {
    std::uint32_t initial = 20;   ///< the limit at first
    std::uint32_t least = 1;      ///< the least limit
    std::uint32_t greatest = 200; ///< the greatest limit
    double backoff_ratio = 0.9;   ///< share of the limit that is left after a drop, in (0, 1)
    saturating_duration timeout = std::chrono::seconds(5); ///< an attempt that takes longer is a drop too
};

/// An algorithm for `concurrency_limit`: raises the limit one by one, and cuts it after a drop.
///
/// A drop makes the limit L int(L * backoff_ratio). Any other update makes it L + 1 if at least half of it is
/// in use.
/// Source: AIMDLimit of Netflix's concurrency-limits; additive increase, multiplicative decrease, as in TCP.
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
    std::uint32_t initial = 20;   ///< the limit at first
    std::uint32_t least = 20;     ///< the least limit
    std::uint32_t greatest = 200; ///< the greatest limit
    double smoothing = 0.2;       ///< the weight of a new limit, in (0, 1]
    double queue = 4;             ///< attempts that may wait at the server
    double tolerance = 1.5; ///< up to this many times the usual time, an attempt has not waited; at least 1
    std::uint32_t long_window = 600; ///< how many attempts the usual time is an average of, at least 1
};

/// An algorithm for `concurrency_limit`: lowers the limit when attempts take longer than usual.
///
/// Here L is the limit, rtt the time of the attempt, and `long` the usual time. That is the exponential mean of
/// all times, or of the first ten times the plain mean. If at least half of L is in use, an update computes:
///
///     gradient = max(0.5, min(1, tolerance * long / rtt))
///     L = (1 - smoothing) L + smoothing (L * gradient + queue)
///
/// If long / rtt is greater than 2, `long` becomes 0.95 long for the next update, from the tenth on. A drop
/// counts by its time alone.
/// Source: Gradient2Limit of Netflix's concurrency-limits.
class ASIO_RETRY_DECL gradient {
public:
    /// Throws std::invalid_argument unless 1 <= least <= initial <= greatest, and for another option outside
    /// its range.
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
    double sum_ = 0; // of the first times
    std::uint32_t warm_up_ = 0;
};

/// The queue of a `concurrency_limit`.
struct queue_options {
    std::uint32_t greatest = 0; ///< how many operations may wait; 0: there is no queue
    saturating_duration longest_wait = std::chrono::seconds(1); ///< wait before a refusal; positive
};

namespace detail {

/// Operations that wait for a place, by priority and then in the order of their arrival. The owner's mutex
/// guards it.
class ASIO_RETRY_DECL attempt_queue {
public:
    /// Throws std::invalid_argument if longest_wait is not positive.
    explicit attempt_queue(queue_options const& options);

    /// Whether there is room for one of this priority. If need be, the last one of the lowest priority is
    /// expelled.
    bool make_room(request_priority priority) noexcept;

    time_point give_up_at(time_point now) const noexcept { return saturating_add(now, options_.longest_wait); }
    std::uint32_t greatest() const noexcept { return options_.greatest; }

    void add(gate_waiter& waiter) noexcept;

    /// The first one leaves, and is granted an attempt. Precondition: there is one.
    void grant_first() noexcept;

    void remove(gate_waiter& waiter) noexcept;

    /// How many operations wait. Any thread may ask.
    std::uint32_t size() const noexcept { return size_.load(); }

private:
    queue_options const options_;
    std::array<linked_list<gate_waiter>, 3> by_priority_;
    std::atomic<std::uint32_t> size_ = 0;
};

} // namespace detail

/// Refuses attempts while too many are in flight; it finds out the limit itself, unless that is a
/// `fixed_limit`.
///
/// - A success tells the algorithm how long it took.
/// - A timeout is a drop, and so is a refusal because the server is overloaded or limits this client.
/// - Other ends say nothing.
///
/// With a queue, operations wait for a place: those of a higher `retry_policy::priority` first, and otherwise
/// in the order of their arrival. The end of an attempt wakes the next operation at once, on its executor. An
/// operation leaves the queue after `longest_wait`, at its own limits, when it is cancelled and when its scope
/// is drained. If the queue is full, the operation is refused, or else the last operation of a lower priority.
/// A hedge and a blocking `retry` are refused instead of waiting. Operations that wait on a context that was
/// made to run without locks need a limit that only this context uses.
///
/// Without a queue, refused attempts fail, or wait with `wait_when_refused`.
///
/// `Algorithm` is fixed_limit, aimd, gradient, or a class with the same two functions. They are called one at a
/// time, and `limit` is asked after each `update`.
///
/// A policy's text has `concurrency_limit(fixed_limit(4))`, without a queue.
///
/// Errors: an operation whose first attempt is refused ends with error::too_many_in_flight.
/// Thread safety: call any function from any thread. Admitting an attempt takes no lock, unless operations
/// wait; a success and a drop take one, for one `update`.
template <class Algorithm>
class concurrency_limit final : public retry_gate {
public:
    /// Begins with the limit of `algorithm`. Throws std::invalid_argument if `longest_wait` is not positive.
    explicit concurrency_limit(Algorithm algorithm = Algorithm(), queue_options const& queue = {})
        : algorithm_(std::move(algorithm))
        , first_limit_(algorithm_.limit())
        , limit_(first_limit_)
        , queue_(queue) {}

    /// How many attempts may run now.
    std::uint32_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
    /// How many attempts run.
    std::uint32_t in_flight() const noexcept { return in_flight_.load(std::memory_order_relaxed); }
    /// How many operations wait in the queue.
    std::uint32_t queued() const noexcept { return queue_.size(); }
    /// Whether operations may wait in a queue.
    bool has_queue() const noexcept { return queue_.greatest() != 0; }

    std::string_view name() const noexcept override { return "concurrency_limit"; }
    admission admit(std::uint64_t, time_point now) noexcept override {
        if (queue_.size() == 0 && take_place())
            return now;
        admission answer{(time_point::max)(), error::too_many_in_flight};
        answer.can_queue = has_queue();
        return answer;
    }

    admission admit_again(admission const&, std::uint64_t, time_point now) noexcept override {
        return now; // it has kept its place while it waited for other gates
    }

    admission enqueue(gate_waiter& waiter, std::uint64_t, time_point now) noexcept override {
        std::lock_guard const lock(mutex_);
        admission answer{(time_point::max)(), error::too_many_in_flight};
        grant(); // if a place has become free, no waiter need be expelled
        if (!queue_.make_room(waiter.priority))
            return answer;
        queue_.add(waiter);
        grant(); // again: an attempt that ended before `add` saw an empty queue, and granted nobody
        if (waiter.is_granted())
            return now;
        answer.until = queue_.give_up_at(now);
        answer.can_queue = true;
        return answer;
    }

    admission leave(gate_waiter& waiter, std::uint64_t, time_point now) noexcept override {
        std::lock_guard const lock(mutex_);
        if (waiter.is_granted())
            return now;
        if (!waiter.is_decided())
            queue_.remove(waiter);
        return {(time_point::max)(), error::too_many_in_flight};
    }

    void on_end(attempt_end const& end) noexcept override {
        std::uint32_t const count = in_flight_.fetch_sub(1);
        bool const succeeded = end.outcome == attempt_end::how::succeeded;
        bool const is_update = succeeded || is_drop(end);
        if (!is_update && queue_.size() == 0)
            return;
        std::lock_guard const lock(mutex_);
        if (is_update) {
            algorithm_.update(end.took, count, !succeeded);
            limit_.store(algorithm_.limit(), std::memory_order_relaxed);
        }
        grant();
    }

    bool measures_time() const noexcept override { return true; }

    /// Whether no attempt runs or waits, and the limit is the first one. Anything else that the algorithm knows
    /// does not count, such as the usual time of a `gradient`.
    bool is_idle(time_point) const noexcept override {
        return in_flight() == 0 && queued() == 0 && limit() == first_limit_;
    }

private:
    static constexpr int most_grants = 16; // in one call; each granted attempt grants as many when it ends

    static bool is_drop(attempt_end const& end) noexcept {
        return end.outcome == attempt_end::how::failed &&
               (end.kind == failure_kind::timeout || end.kind == failure_kind::overloaded ||
                end.kind == failure_kind::throttled);
    }

    bool take_place() noexcept {
        std::uint32_t count = in_flight_.load();
        while (count < limit())
            if (in_flight_.compare_exchange_weak(count, count + 1))
                return true;
        return false;
    }

    void grant() noexcept {
        for (int i = 0; i != most_grants && queue_.size() != 0 && take_place(); ++i)
            queue_.grant_first();
    }

    std::mutex mutex_;
    Algorithm algorithm_;
    std::uint32_t const first_limit_;
    std::atomic<std::uint32_t> limit_;
    std::atomic<std::uint32_t> in_flight_ = 0;
    detail::attempt_queue queue_;
};

} // namespace asio_retry
