#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/hedge/hedge_operation.hpp>
#include <asio_retry/detail/operation/argument_order.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/hedge_policy.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <utility>

namespace asio_retry {

/// Makes an attempt, and another beside it when that takes too long: the first that succeeds wins.
///
/// The first attempt is begun at once; the next each time that the policy's delay has passed without a result,
/// or at once when one fails and the failure is to be retried, until `max_attempts` have begun. The first
/// success ends the operation, and so does a failure that is not to be retried; where all of them failed the
/// last failure does. The attempts that still run then are told to stop, with `terminal`, and what they come to
/// is destroyed.
///
/// Worth it for requests that may be made twice, are rarely slow, and are slow for a reason that another
/// attempt does not share: another replica, another connection. It multiplies what a peer gets that is slow
/// because it has too much to do: give the policy a gate, such as a `retry_budget`.
///
/// `operation` is called as an lvalue, once per attempt. It is of any form that `async_retry` takes, except
/// `with_report`, `with_hooks` and `or_error`. Several of its attempts run at a time, so each needs a socket
/// and buffers of its own. An operation that takes an `attempt` can choose them by its `number`, which counts
/// from 1. The step of `before_retry` comes before each attempt but the first.
///
/// Preconditions: those of `async_retry`. An attempt may be told to stop at any time, and that must not meet
/// its own steps on another thread. So on an executor that runs functions on several threads at once, such as
/// that of a thread_pool, give the handler a strand as its executor (`bind_executor`). That is not needed where
/// each attempt is a single Asio operation, or an awaitable of `any_io_executor`. Bad policies are refused when
/// they are built. An empty operation is refused at once, with std::invalid_argument; so is an
/// empty executor that is given to it.
///
/// Lifetimes: operation and policy are moved or copied. The operation stays at one address until the last
/// attempt has ended. What it refers to, such as buffers, must live as long.
/// - By default the completion comes when all attempts have ended, so until the completion is long enough. An
///   attempt that ignores that it is told to stop delays the completion. The caller, each deadline, the scope
///   and a drain of it tell it again.
/// - With `deliver_at_once` the completion comes first, and some attempts may end after it. The library then
///   takes its own memory and not that of the handler's allocator, which may go with the handler.
///
/// Completion signature: as for `async_retry`. The completion carries what the attempt that ended the operation
/// came to, unchanged, except as said under errors and cancellation.
///
/// Token: any; the default is that of `async_retry`.
///
/// Executor: as for `async_retry`: the first attempt is initiated where the initiating function is called, the
/// others, the policy's callables and the handler run on the handler's associated executor. An awaitable of
/// `any_io_executor` runs on a strand of its own unless that executor runs one function at a time. All attempts
/// share one wait, which hangs on the context of the given executor, context or scope, or of the handler's
/// executor.
///
/// Per-operation cancellation: `terminal` and `partial` are forwarded as they are to all attempts that run, and
/// no further one begins; none begins in a scope that was cancelled before the start, but the operation does
/// not hear that a coroutine was. `total` does the same as `terminal` while only the first attempt has begun,
/// unless it has failed, and is ignored afterwards, because two attempts may both have had side effects. If an
/// attempt succeeds all the same the operation does; otherwise it completes with `operation_aborted`. An
/// awaitable attempt sees `terminal` only, unless it asks for more.
///
/// Errors: those of `async_retry`: `timed_out` when total_timeout or the deadline ended it; `operation_aborted`
/// when cancelled; what is inside a `permanent` error; what the gate gives as its reason where it let not even
/// the first attempt begin; an exception that a callable of the policy throws, or the `asio_retry::error` that
/// names it; otherwise the last failure's own. Where there is no memory for an attempt it has failed, and where
/// there is none for the operation it ends with `no_memory` (a std::bad_alloc); where there is none to say that
/// either, this function throws std::bad_alloc. A value that throws ends its attempt as a handler that is
/// destroyed uncalled does, and the exception comes out of the context. If an attempt throws when it is
/// told to stop, the exception comes out of `emit` or of the context; the other attempts are told all the same,
/// and the operation goes on. An attempt whose handler is destroyed uncalled will never answer: it is hedged
/// like any other that is slow. If that happens to all of them the operation's handler is destroyed uncalled.
///
/// Thread safety: as for `async_retry`. Attempts may complete on any thread of the executor, in any order; one
/// that completes while another thread tells attempts to stop waits for that, as for a mutex.
template <typename Operation, typename Token = detail::default_token>
    requires(!detail::provides_executor<Operation>)
auto async_hedge(Operation&& operation, hedge_policy policy, Token&& token = Token()) {
    return detail::initiate(detail::handler_executor_source(), std::forward<Operation>(operation),
                            std::move(policy), std::forward<Token>(token));
}

/// The same on `executor`.
template <detail::executor Executor, typename Operation, typename Token = detail::default_token>
auto async_hedge(Executor const& executor, Operation&& operation, hedge_policy policy,
                 Token&& token = Token()) {
    return detail::initiate(detail::wait_on(executor), std::forward<Operation>(operation), std::move(policy),
                            std::forward<Token>(token));
}

/// The same on the executor of `context`.
template <std::derived_from<boost::asio::execution_context> Context, typename Operation,
          typename Token = detail::default_token>
auto async_hedge(Context& context, Operation&& operation, hedge_policy policy, Token&& token = Token()) {
    return detail::initiate(detail::wait_on(context.get_executor()), std::forward<Operation>(operation),
                            std::move(policy), std::forward<Token>(token));
}

/// The same in `scope`: a cancellation of the scope acts like one of type `terminal`, its deadline like the
/// policy's. Where the scope has no room for another operation this one makes no attempt and completes with
/// `no_buffer_space`. `retry_scope::retry_now` ends only a wait that a peer has asked for.
template <typename Operation, typename Token = detail::default_token>
auto async_hedge(retry_scope& scope, Operation&& operation, hedge_policy policy, Token&& token = Token()) {
    return detail::initiate(detail::scope_source{state_of(scope)}, std::forward<Operation>(operation),
                            std::move(policy), std::forward<Token>(token));
}

/// A hedge inside the attempt `outer` of a retry: it has no more time than that attempt's operation, and makes
/// as many attempts as the policy says if that attempt is the first, and otherwise one.
template <typename Operation, typename Token = detail::default_token>
auto async_hedge(attempt const& outer, Operation&& operation, hedge_policy policy, Token&& token = Token()) {
    return async_hedge(std::forward<Operation>(operation), policy.nested_in(outer), std::forward<Token>(token));
}

/// For what has no policy there: says what is wrong.
template <typename... Args>
    requires(!detail::has_policy_in_place<hedge_policy, Args...>)
auto async_hedge(Args&&...) {
    constexpr auto policy = detail::policy_place<hedge_policy, Args...>;
    constexpr auto operation = detail::operation_place<Args...>;
    constexpr bool is_there = policy != sizeof...(Args);
    constexpr bool is_lost = detail::is_led_by_lost_scope<Args...>;
    constexpr bool is_other = !is_there && detail::has_policy<retry_policy, Args...>;
    static_assert(
        !is_lost,
        "async_hedge: the scope must be a variable that is not const and outlives what is started in it");
    static_assert(!is_other, "async_hedge: it takes a hedge_policy; a retry_policy is for async_retry");
    static_assert(
        is_there || is_other || is_lost,
        "async_hedge: there is no policy: async_hedge(operation, policy); an executor, context, scope or "
        "attempt stands before them, a completion token behind");
    static_assert(!is_there || is_lost || policy > operation,
                  "async_hedge: the operation comes before the policy");
    static_assert(
        !is_there || is_lost || policy <= operation,
        "async_hedge: the order is: an executor, context, scope or attempt if any, the operation, the "
        "policy, and a completion token if any");
}

} // namespace asio_retry
