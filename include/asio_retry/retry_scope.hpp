#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/scope/handler_join.hpp>
#include <asio_retry/duration.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// Operations that are cancelled together and waited for together; what a context is in Go.
///
/// `async_retry(scope, operation, policy)` starts an operation in it. Scopes nest: what reaches a scope reaches
/// its children; one for a single operation is a handle on that operation. Cancelling it and cancelling an
/// operation through the slot of its handler go together: whichever is first. Lifetime: the destructor cancels
/// and detaches, so a scope may be destroyed before its operations have ended, but not after the execution
/// context of its executor; parent and child may be destroyed in either order. Thread safety: scopes may be
/// made, used and destroyed on any thread, whatever others do with their parents and children; one tree has one
/// mutex, and nothing of the user's runs under it. Trees may be of any depth and size: of more than 64
/// operations and children a call tells the first, and turns of the scope's context, which has to run, tell the
/// rest. Scopes of one tree that are asked at the same time share these turns evenly.
class retry_scope {
public:
    /// Of any kind.
    using executor_type = boost::asio::any_io_executor;

    /// Its operations have no time beyond `deadline`, as by `retry_policy::deadline`. Throws
    /// std::invalid_argument if the executor is empty.
    explicit retry_scope(executor_type executor, saturating_time_point deadline = (time_point::max)())
        : retry_scope(std::move(executor), {}, deadline) {}

    /// The same on the executor of `context`.
    template <std::derived_from<boost::asio::execution_context> Context>
    explicit retry_scope(Context& context, saturating_time_point deadline = (time_point::max)())
        : retry_scope(executor_type(context.get_executor()), deadline) {}

    /// A child: cancelled, drained and sent to retry with its parent, counted and waited for by its parent, and
    /// without more time.
    explicit retry_scope(retry_scope& parent, saturating_time_point deadline = (time_point::max)())
        : retry_scope(parent.get_executor(), parent.state_, deadline) {}

    ~retry_scope() {
        try {
            state_->request(detail::scope_request::cancel);
        } catch (...) { // an operation that could not be told finds out before its next attempt
        }
    }
    retry_scope(retry_scope const&) = delete; // a scope is not copied: pass retry_scope&
    retry_scope& operator=(retry_scope const&) = delete;

    /// That of the scope.
    executor_type const& get_executor() const noexcept { return state_->executor(); }

    /// time_point::max() if there is none.
    time_point deadline() const noexcept { return state_->deadline(); }

    /// Ends every wait now with `operation_aborted`, tells every attempt to stop (`terminal`), and lets no
    /// further attempt begin, in this scope and its children. Each operation is told in a turn on its executor,
    /// so nothing may have ended yet when this returns. Of more than 64 operations and children the rest is
    /// told by turns of the scope's context. For good: what is started in it later makes no attempt. To cancel
    /// again tells the attempts that still run again. The destructor cancels, and repeats nothing.
    void cancel() { state_->request(detail::scope_request::cancel, true); }

    /// Whether `cancel` was called, here or of a parent, or the time of a drain was over before its operations.
    bool cancelled() const { return state_->cancelled(); }

    /// Ends every wait now with another attempt: the network is back, say, or the configuration has changed. A
    /// running attempt goes on. Limits and counts stay as they are. Where no attempt begins any more it does
    /// nothing. Of more than 64 operations and children the rest is told by turns of the scope's context.
    void retry_now() { state_->request(detail::scope_request::retry_now); }

    /// The same within `spread`, so that the operations do not ask their server all at once. Each wait ends at
    /// a time drawn uniformly from [now, now + spread), or at its own time if that is earlier. `retry_now()`
    /// and `cancel()` end it at once all the same. Of two calls that concern a wait the shorter time holds.
    /// Throws std::invalid_argument if `spread` is negative.
    void retry_now(saturating_duration spread) {
        bool const is_at_once = detail::non_negative("retry_now", spread) == duration::zero();
        state_->request(is_at_once ? detail::scope_request::retry_now : detail::scope_request::retry_within,
                        false, spread);
    }

    /// How many operations have been started here or in a child and have not ended.
    std::size_t pending() const { return state_->pending(); }

    /// An operation that would make more than `greatest` pending makes no attempt and completes with
    /// `no_buffer_space`; it takes no room in any scope, nor does one that has ended and whose handler has yet
    /// to run. There is no such ceiling at first. Throws std::invalid_argument if it is zero.
    retry_scope& max_pending(std::size_t greatest) {
        if (greatest == 0)
            detail::refuse("max_pending", "0", "must be at least 1");
        state_->limit_pending(greatest);
        return *this;
    }

    /// Completes when the handler of the last operation of the scope and its children has run; it cancels
    /// nothing. An operation that waits for its own scope waits for ever. If a coroutine awaits an operation,
    /// it has gone on by then, up to where it waits for something else, unless it was resumed before the join
    /// began.
    ///
    /// Completion signature: void(error_code), with success. Executor: that of the handler, or else that of the
    /// scope. Per-operation cancellation: all types; the join then completes with `operation_aborted` and the
    /// operations go on. Any number of joins may be pending. Of more than four that end together, turns of the
    /// scope's context end the rest.
    template <typename Token = boost::asio::deferred_t>
    auto async_join(Token&& token = Token()) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(initiate_join{{state_}},
                                                                                   token);
    }

    /// Lets the operations of the scope and its children finish. No further attempt begins, now and later, and
    /// every wait ends at once with `operation_aborted`. Attempts that run have `timeout` to succeed; one that
    /// fails completes its operation with `operation_aborted`. If any is left then the scope is cancelled.
    /// Completes as `async_join` does, when the handler of the last operation has run. What the handlers have
    /// started, such as to write an answer, may go on: let the context run until it has no work. Or make what
    /// writes the answers an operation too, with a single attempt: a drain of its scope ends when they are
    /// written, and what it retries meanwhile, in a child of that scope, ends its waits at once.
    ///
    /// Completion signature: void(error_code, std::size_t), with success and a count. The count is how many
    /// operations had an attempt running when the time was up, which the drain told to stop. It does not count
    /// an operation whose wait the drain cut short, nor one whose last attempt failed within the time: both end
    /// with `operation_aborted`. Nor does it count an attempt that somebody else had told to stop before.
    /// Executor: as `async_join`. Per-operation cancellation: all types; the drain then completes with
    /// `operation_aborted`, nothing is cancelled, and still no attempt begins. Errors: throws
    /// std::invalid_argument if `timeout` is negative.
    template <typename Token = boost::asio::deferred_t>
    auto async_drain(saturating_duration timeout, Token&& token = Token()) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            initiate_drain{{state_}, detail::non_negative("async_drain", timeout)}, token);
    }

private:
    friend detail::scope_handle const& state_of(retry_scope const& scope) noexcept { return scope.state_; }

    retry_scope(executor_type executor, detail::scope_handle parent, time_point deadline)
        : state_(detail::scope_state::create(std::move(executor), std::move(parent), deadline)) {}

    struct initiation {
        using executor_type = boost::asio::any_io_executor;
        detail::scope_handle state;

        executor_type get_executor() const noexcept { return state->executor(); }
    };

    struct initiate_join : initiation {
        template <typename Handler>
        void operator()(Handler&& handler) const {
            using join = detail::handler_join<std::decay_t<Handler>, false>;
            join::initiate(std::decay_t<Handler>(std::forward<Handler>(handler)), this->state,
                           (duration::max)());
        }
    };

    struct initiate_drain : initiation {
        duration timeout;

        template <typename Handler>
        void operator()(Handler&& handler) const {
            using join = detail::handler_join<std::decay_t<Handler>, true>;
            join::initiate(std::decay_t<Handler>(std::forward<Handler>(handler)), this->state, timeout);
        }
    };

    detail::scope_handle state_;
};

} // namespace asio_retry
