#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/scope/scope_join.hpp>
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

/// A group of operations that are cancelled together and waited for together, as with a context in Go.
///
/// `async_retry(scope, operation, policy)` starts an operation in it. Scopes nest: a request to a scope reaches
/// its children. A scope for a single operation is a handle on that operation. You may cancel the scope, or the
/// operation through the slot of its handler: the first one counts. Trees may be of any depth and size. If a
/// scope has more than 64 operations and children, a call tells the first 64. The scope's context, which has to
/// run, tells the rest. Scopes of one tree that are asked at the same time share these turns evenly.
///
/// Lifetimes: the destructor cancels and detaches. So a scope may be destroyed before its operations have
/// ended, but not after the execution context of its executor. Parent and child may be destroyed in either
/// order.
///
/// Thread safety: scopes may be made, used and destroyed on any thread, whatever other threads do with their
/// parents and children. One tree has one mutex, and no code of yours runs under it.
class retry_scope {
public:
    /// The type of the executor, which may be of any kind.
    using executor_type = boost::asio::any_io_executor;

    /// Makes a scope whose operations have no time beyond `deadline`, as with `retry_policy::deadline`.
    ///
    /// Throws std::invalid_argument if the executor is empty.
    explicit retry_scope(executor_type executor, saturating_time_point deadline = (time_point::max)())
        : retry_scope(std::move(executor), {}, deadline) {}

    /// Makes a scope on the executor of `context`, whose operations have no time beyond `deadline`.
    template <std::derived_from<boost::asio::execution_context> Context>
    explicit retry_scope(Context& context, saturating_time_point deadline = (time_point::max)())
        : retry_scope(executor_type(context.get_executor()), deadline) {}

    /// Makes a child: it is cancelled, drained and sent to retry with its parent, and has no more time.
    ///
    /// The parent counts the child's operations and waits for them.
    explicit retry_scope(retry_scope& parent, saturating_time_point deadline = (time_point::max)())
        : retry_scope(parent.get_executor(), parent.state_, deadline) {}

    ~retry_scope() {
        try {
            state_->request(detail::scope_request::cancel);
        } catch (...) { // an operation that could not be told finds out before its next attempt
        }
    }
    retry_scope(retry_scope const&) = delete; // a scope is not copied: pass it by reference, as retry_scope&

    /// Explains in a compiler error that a scope is not copied.
    ASIO_RETRY_REFUSES("retry_scope: a scope is not copied: pass it by reference, as retry_scope&",
                       std::same_as<retry_scope> Scope)
    retry_scope(Scope& other) ASIO_RETRY_REFUSED;

    retry_scope& operator=(retry_scope const&) = delete;

    /// The executor of the scope.
    executor_type const& get_executor() const noexcept { return state_->executor(); }

    /// The deadline of the scope; time_point::max() if there is none.
    time_point deadline() const noexcept { return state_->deadline(); }

    /// Cancels all operations of the scope and its children, for good.
    ///
    /// Every wait ends with `operation_aborted`, every attempt is cancelled (`terminal`), and no further
    /// attempt begins. An operation that starts later makes no attempt. Each operation is told on its own
    /// executor, so possibly none has ended when this returns. If there are more than 64 operations and
    /// children, the scope's context tells the rest. A second call cancels the attempts that still run again.
    /// The destructor cancels too, but only once.
    void cancel() { state_->request(detail::scope_request::cancel, true); }

    /// Whether `cancel` was called, here or for a parent, or a drain's time was over before its operations.
    bool cancelled() const { return state_->cancelled(); }

    /// Ends every wait now with another attempt: the network is back, say, or the configuration has changed.
    ///
    /// A running attempt continues. Limits and counts stay as they are. If no attempt may begin any more, as
    /// after a drain, it does nothing. If there are more than 64 operations and children, the scope's context
    /// tells the rest.
    void retry_now() { state_->request(detail::scope_request::retry_now); }

    /// Ends every wait with another attempt within `spread`, so that not all operations ask at once.
    ///
    /// Each wait ends at a time drawn uniformly from [now, now + spread), or at its own time if that is
    /// earlier. `retry_now()` and `cancel()` still end it at once. Of two calls that concern a wait, the
    /// shorter time holds. Throws std::invalid_argument if `spread` is negative.
    void retry_now(saturating_duration spread) {
        bool const is_at_once = detail::non_negative("retry_now", spread) == duration::zero();
        state_->request(is_at_once ? detail::scope_request::retry_now : detail::scope_request::retry_within,
                        false, spread);
    }

    /// How many operations were started here or in a child and have not ended.
    std::size_t pending() const { return state_->pending(); }

    /// Refuses operations beyond `greatest` pending ones: they make no attempt, and complete with
    /// `no_buffer_space`.
    ///
    /// A refused operation takes no room in any scope. An operation that has ended takes none either, even if
    /// its handler has yet to run. At first there is no such limit. Throws std::invalid_argument if it is zero.
    retry_scope& max_pending(std::size_t greatest) {
        if (greatest == 0)
            detail::refuse("max_pending", "0", "must be at least 1");
        state_->limit_pending(greatest);
        return *this;
    }

    /// Completes when the handler of the last operation of the scope and its children has run; it cancels
    /// nothing.
    ///
    /// An operation that waits for its own scope waits for ever. If a coroutine awaits an operation, the
    /// coroutine has continued by then, up to its next suspension. The exception is a coroutine that was
    /// resumed before the join began.
    ///
    /// Any number of joins may be pending. If more than four end together, the scope's context ends the rest
    /// in turns.
    ///
    /// Completion signature: void(error_code), with success.
    ///
    /// Executor: that of the handler, or else that of the scope.
    ///
    /// Per-operation cancellation: all types; the join then completes with `operation_aborted` and the
    /// operations continue.
    template <typename Token = boost::asio::deferred_t>
    auto async_join(Token&& token = Token()) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(initiate_join{{state_}},
                                                                                   token);
    }

    /// Lets running attempts finish within `timeout`, starts no more, then cancels the scope; for a shutdown.
    ///
    /// No further attempt begins, now and later, in the scope and its children. Every wait ends at once with
    /// `operation_aborted`. Running attempts have `timeout` to succeed; a failed attempt completes its
    /// operation with `operation_aborted`. If an attempt is left after that, the scope is cancelled. The drain
    /// completes as `async_join` does, when the handler of the last operation has run.
    ///
    /// Work that the handlers have started, such as writing an answer, may continue: let the context run until
    /// it has no work. Or make each write of an answer an operation too, with a single attempt. A drain of its
    /// scope ends when the answers are written. Retries inside that operation, in a child of the scope, end
    /// their waits at once.
    ///
    /// Completion signature: void(error_code, std::size_t), with success and a count. The count is the number
    /// of operations whose attempt still ran when the time was up, and which the drain cancelled. It leaves out
    /// an operation whose wait the drain cut short, and one whose last attempt failed within the time: both end
    /// with `operation_aborted`. It also leaves out an attempt that was cancelled before for another reason.
    ///
    /// Executor: as for `async_join`.
    ///
    /// Per-operation cancellation: all types; the drain then completes with `operation_aborted`, cancels
    /// nothing, and still no attempt begins.
    ///
    /// Errors: throws std::invalid_argument if `timeout` is negative.
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
