#pragma once

#include <asio_retry/detail/ticker/handler_wait.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/retry_policy.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// Ticks at the delays of a policy: for a loop that polls more and more rarely, or paces its own attempts.
///
/// The first tick comes at once. Every later tick comes a delay after the `async_wait` for it began. For the
/// policy, a tick is an attempt, and the wait for the next tick is a failure with `error::result_rejected`. So
/// `max_attempts(n)` allows n ticks. max_elapsed, total_timeout, the deadline and the gate apply, and the hooks
/// are called. retry_if is not asked, and attempt_timeout has no effect. The gate is asked for retries and
/// hears of no attempts; an observer hears of nothing. The policy's callables run where you call `async_wait`
/// and `reset`, and where the handler runs.
///
/// Lifetimes: the destructor does the same as `stop`. A wait that is pending then may outlive the ticker. The
/// execution context must outlive both.
///
/// Thread safety: distinct tickers are independent. Do not call member functions of one ticker concurrently, as
/// with Asio's timers. The executor may run functions on several threads.
class backoff_ticker {
public:
    /// An executor of any kind.
    using executor_type = boost::asio::any_io_executor;

    /// Ticks on `executor`. Throws std::invalid_argument if the executor is empty.
    backoff_ticker(executor_type executor, retry_policy given_policy)
        : state_(std::make_shared<detail::ticker_state>(std::move(executor), std::move(given_policy))) {}

    /// Ticks on the executor of `context`.
    template <std::derived_from<boost::asio::execution_context> Context>
    backoff_ticker(Context& context, retry_policy given_policy)
        : backoff_ticker(executor_type(context.get_executor()), std::move(given_policy)) {}

    ~backoff_ticker() { stop(); }
    backoff_ticker(backoff_ticker const&) = delete;
    backoff_ticker& operator=(backoff_ticker const&) = delete;

    /// The executor of the ticks, unless a handler has an executor of its own.
    executor_type const& get_executor() const noexcept { return state_->executor(); }

    /// Completes at the next tick, never inside the initiating function.
    ///
    /// Precondition: no other wait of this ticker is pending.
    ///
    /// Completion signature: void(error_code).
    ///
    /// Executor: that of the handler, or else that of the ticker.
    ///
    /// Per-operation cancellation: all types; the wait then completes with `operation_aborted`. The next wait
    /// takes its place, and ends when the cancelled wait would have ended.
    ///
    /// Errors:
    /// - `error::exhausted` when the policy allows no further tick, until `reset`;
    /// - `timed_out` instead of it if the deadline or the total_timeout is the reason;
    /// - `operation_aborted` when stopped or cancelled;
    /// - `already_started` if another wait is pending; the other wait goes on;
    /// - the `asio_retry::error` that names a callable of the policy, if the callable threw.
    template <typename Token = boost::asio::deferred_t>
    auto async_wait(Token&& token = Token()) {
        return boost::asio::async_initiate<Token, void(error_code)>(initiation{state_}, token);
    }

    /// Ends a pending wait with `operation_aborted`, and every later wait at once, for good.
    ///
    /// A second call does nothing.
    void stop() { std::shared_ptr(state_)->stop(); }

    /// Starts over, as if the first tick had just been.
    ///
    /// The next wait has the first delay, all other ticks are left again, and the time counts from now. A
    /// pending wait continues with the first delay from now. No tick comes at once, except one that is already
    /// due. After `stop` it does nothing.
    void reset() { std::shared_ptr(state_)->start_over(); }

    /// Ends a pending wait with a tick now, unless it has to wait for a gate.
    void retry_now() { std::shared_ptr(state_)->tick_now(); }

private:
    struct initiation {
        using executor_type = boost::asio::any_io_executor;
        std::shared_ptr<detail::ticker_state> state;

        executor_type get_executor() const noexcept { return state->executor(); }

        template <typename Handler>
        void operator()(Handler&& handler) const {
            using handler_type = std::decay_t<Handler>;
            detail::handler_wait<handler_type>::initiate(handler_type(std::forward<Handler>(handler)), state);
        }
    };

    std::shared_ptr<detail::ticker_state> state_;
};

} // namespace asio_retry
