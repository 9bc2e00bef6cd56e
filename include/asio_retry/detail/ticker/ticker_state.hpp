#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/operation_limits.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace asio_retry::detail {

class ticker_state;

/// A wait for a tick. The code that takes it from the scheduler, or finds it due, queues its turn; the wait
/// ends in that turn.
class ASIO_RETRY_DECL ticker_wait : public wait_node {
protected:
    explicit ticker_wait(std::shared_ptr<ticker_state> state) noexcept
        : state_(std::move(state)) {}
    ~ticker_wait() = default;

    std::shared_ptr<ticker_state> const& state() const noexcept { return state_; }

    /// The handler's slot has received a cancellation.
    void on_cancelled(boost::asio::cancellation_type_t type);

private:
    friend class ticker_state;

    /// Queues its turn on the executor of its handler. If this throws, nothing happened.
    virtual void post() = 0;

    /// Runs its turn at once, on this thread.
    virtual void end() = 0;

    /// Destroys it and its handler, uncalled.
    virtual void dissolve() noexcept = 0;

    bool on_expiry() final;
    void on_shutdown() noexcept final;

    // Used by the thread that decides.
    error_code result_; // if set, the result is decided
    bool is_first_tick_ = false;

    bool cancelled_ = false; // protected by the mutex of the state

    std::shared_ptr<ticker_state> state_;
};

/// The state that a backoff_ticker and its wait share.
///
/// The mutex is never held while a callable of the policy or a handler runs. Meanwhile the machine is in use:
/// requests are only noted, and the thread that uses the machine obeys them.
class ASIO_RETRY_DECL ticker_state final : cancellation_probe {
public:
    ticker_state(boost::asio::any_io_executor executor, retry_policy policy);

    boost::asio::any_io_executor const& executor() const noexcept { return executor_; }

    /// The functions of backoff_ticker.
    void stop();
    void start_over();
    void tick_now();

    /// Begins a wait, which the caller owns. Returns true if it is due: then queue it. Otherwise it has another
    /// owner. If this throws, the caller owns it again.
    bool begin(ticker_wait& wait);

    /// Queues the turn of a wait, which may end before this returns. If this throws, the exception comes from
    /// the handler.
    void queue(ticker_wait& wait);

    /// The handler's slot has cancelled the wait.
    void cancel(ticker_wait& wait);

    /// The turn of the wait has come. Returns its result; or none if the wait goes on with another owner,
    /// because a gate grants no tick and the policy waits when refused.
    std::optional<error_code> conclude(ticker_wait& wait);

    /// The wait will never have its turn.
    void forget(ticker_wait& wait) noexcept;

private:
    friend class ticker_wait;

    enum class phase : unsigned char {
        idle,
        deciding, ///< a thread uses the machine
        waiting,  ///< the scheduler has the wait
        queued,   ///< its turn is queued
    };

    bool stops(bool) const noexcept override { return stopped_.load(std::memory_order_relaxed); }

    bool on_expiry(ticker_wait& wait);
    bool take_back(ticker_wait& wait) noexcept;
    bool decide(ticker_wait& wait, time_point now);
    retry_action ask(ticker_wait& wait, time_point now, std::optional<time_point> starts_over_from);
    random& get_random();
    void withdraw(ticker_wait const& wait) noexcept;
    std::optional<error_code> conclude_due(ticker_wait& wait, bool cancelled);
    std::optional<error_code> start_over_with(ticker_wait& wait);
    template <typename Begin>
    std::optional<error_code> wait_again(ticker_wait& wait, Begin begin);
    bool begin_wait(ticker_wait& wait, bool is_due, std::unique_lock<std::mutex> lock);
    error_code note_end(retry_action const& action);

    boost::asio::any_io_executor executor_;
    retry_scheduler& scheduler_;
    retry_policy policy_;

    // Used only while deciding, one thread at a time.
    std::optional<retry_machine> machine_; // none before the first tick
    std::optional<random> random_;
    std::optional<time_point> planned_; // when the tick after the last one is due
    error_code ended_with_;

    std::mutex mutex_;
    std::atomic<bool> stopped_ = false;
    ticker_wait* current_ = nullptr;
    phase phase_ = phase::idle;
    std::optional<time_point> starts_over_from_;
    bool tick_requested_ = false; // noted by `tick_now`; `begin_wait` obeys it
};

} // namespace asio_retry::detail
