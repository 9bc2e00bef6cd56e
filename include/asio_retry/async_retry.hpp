#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/operation/argument_order.hpp>
#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <utility>

namespace asio_retry {

class hedge_policy;

/// Tries an operation until it succeeds or until the policy says that trying again would be wrong.
///
/// The first attempt is initiated inside the initiating function, the others on the executor. An awaitable one
/// that no coroutine awaits is begun on the executor too, which may be later. After a failed attempt its result
/// is destroyed. Then the operation waits, on the scheduler of the executor's context.
///
/// `operation` is called as an lvalue, once per attempt. It is one of:
///  - `[](auto token)`, which starts any Asio asynchronous operation with the token and returns what that call
///    returns; a generic callable of one argument is always taken for this form;
///  - a callable that returns a deferred operation, or such an operation itself;
///  - a callable that returns an `awaitable`;
///  - a plain callable.
///
/// Each of them may have an `attempt` as its first parameter, with a default argument too, and may stand inside
/// `fail_if`, `with_report` and the like.
///
/// Preconditions: the values of the completion are default-constructible, because a completion may have none to
/// give. An operation that takes a token completes on the associated executor of the handler that it is given,
/// as Asio demands of it. On an executor that runs functions on several threads at once, the handler of an
/// operation that has a time limit or a scope has a strand for its executor. It needs none if its attempts are
/// single Asio operations or awaitables of `any_io_executor`; a composed attempt, such as a nested retry, must
/// not be told to stop while a part of it runs. Bad policies are refused when they are built. An empty
/// operation, as a std::function or a pointer may be, and an empty executor given to it are refused at once
/// with std::invalid_argument; a handler's own is as Asio takes it.
///
/// Lifetimes: operation and policy are moved or copied. The operation stays at one address until the last
/// attempt is over. What they refer to must live as long. The context on which its waits hang lives until the
/// operation has ended, or is destroyed while that waits, whose handler is not called then.
///
/// Completion signature:
///  - for `[](auto token)` and deferred operations their own, `void(error_code, T...)` or
///    `void(exception_ptr, T...)`;
///  - for `awaitable<T>` and plain callables `void(exception_ptr[, T])`;
///  - for `awaitable<error_code>`, `awaitable<std::tuple<error_code, T...>>`,
///    `awaitable<boost::system::result<T>>` and plain callables that return `error_code` or
///    `boost::system::result<T>` it is `void(error_code, T...)`.
///
/// The completion carries what the last attempt came to, unchanged, except as said under errors and
/// cancellation.
///
/// Token: any. The default is the executor's own, if it has one. Otherwise it is `use_awaitable` for
/// `void(exception_ptr[, T])` and `deferred` for the others.
///
/// Executor: the first attempt is initiated where the initiating function is called, unless it is an awaitable
/// that no coroutine awaits. The other attempts, the
/// policy's callables and the handler run on the handler's associated executor, and so does the coroutine of an
/// awaitable attempt. If nothing can interrupt an awaitable attempt, the coroutine that awaits its success goes
/// on where the attempt ended, as after any co_await.
///
/// An awaitable of `any_io_executor` that has a time limit or a scope needs a strand. Where a coroutine awaits
/// it, that is the coroutine's executor if this is a strand, or that of a context made for one thread, as by
/// `asio::io_context io(1)` except with Boost 1.87 to 1.89; otherwise it gets a strand of its own, where that
/// coroutine is too until the operation has ended, unless somebody may cancel it. In a scope, with another
/// token, it always gets one of its own.
///
/// Waits hang on the context of the executor, context or scope that was given, or else of the handler's
/// executor. A handler with system_executor counts as one without an executor, as does that of use_future: Asio
/// would call it wherever the operation completes. One with a strand of that has an executor.
///
/// Per-operation cancellation: `terminal` and `partial` end a wait at once, are forwarded to a running attempt
/// as they are, and let no further attempt begin. `total` does the same until the first attempt has failed.
/// Afterwards it is ignored, unless the policy has `allow_total_cancellation()`, because a failed attempt may
/// have had side effects. Each request is forwarded, and each time limit tells the attempt, whatever it was
/// told before. The operation waits for the attempt, unless the policy has `deliver_at_once()`. A success wins
/// over a cancellation; otherwise a cancelled operation completes with `operation_aborted`.
///
/// No attempt is made in a scope that was cancelled before the start, nor in a coroutine that was, where the
/// default token, `use_awaitable` or `as_tuple` of that awaits an awaitable operation, unless this gets a
/// strand without that coroutine. No other operation hears of what came before it, as none of Asio does; but a
/// coroutine that was cancelled throws at `co_await` and does not get there, unless it has said
/// `throw_if_cancelled(false)`.
///
/// An awaitable attempt sees `terminal` only, unless it asks for more, and only what the coroutine that awaits
/// the operation lets through. A request is remembered from when it is made. Each attempt has a cancellation
/// state of its own: what it does to that, such as to reset it in order to clean up, changes neither the
/// outcome nor the state of the caller. (An attempt that nothing can interrupt, neither the caller's slot nor a
/// time limit nor a scope, shares the caller's state.)
///
/// Errors, otherwise the last attempt's own:
///  - `timed_out` when a time limit (attempt_timeout, set_up_within, idle_timeout, total_timeout or the
///    deadline) told the last attempt to stop and it failed, whatever its error; where it is thrown, the
///    exception of the attempt is nested in it. Also when total_timeout or the deadline leaves no time for an
///    attempt: at the start, or after a wait that ended too late, unless the policy has `clamp()`;
///  - `operation_aborted` when cancelled;
///  - the error inside a `permanent` one;
///  - the reason that a gate gives, under `condition::refused`, where it let no attempt begin and there is no
///    error of an earlier one;
///  - an exception that a callable of the policy throws; with `error_code` signatures it becomes an
///    `asio_retry::error`, and so does what `on_retry` throws. What hooks throw at the end changes nothing;
///  - `no_memory` (a std::bad_alloc) where memory was short outside an attempt.
///
/// If an operation that completes with an error code throws, that counts as the code in the exception, or as
/// `error::operation_threw`. To throw instead of starting is a failed attempt, which is retried like any other;
/// so is to throw after having completed inside the initiating function, and want of memory in an attempt. What
/// throws in telling an attempt to stop comes out of `emit` or of the context.
///
/// Where a value throws as it is made or moved, the handler may have to be destroyed uncalled. The exception
/// then comes out of the context, or out of this function in two cases: the first attempt has completed inside
/// it, as a plain callable does, or the handler has an immediate executor.
///
/// Where there is no memory for the operation itself, this function throws std::bad_alloc. A coroutine that
/// awaits an awaitable operation is told so instead, and goes on; Asio destroys one that awaits another form.
///
/// Thread safety: distinct operations are independent. A slot is emitted on the handler's executor, as for
/// every Asio operation, and one handler at a time: on an executor that runs functions on several threads at
/// once the handler has a strand for its executor, and the operation is started there. While the initiating
/// function runs elsewhere it is not emitted. A retry_scope may be cancelled from any thread. An attempt that
/// completes while another thread is telling it to stop waits for that, as for a mutex, because its I/O object
/// may end with it.
template <typename Operation, typename Token = detail::default_token>
    requires(!detail::provides_executor<Operation>)
auto async_retry(Operation&& operation, retry_policy policy, Token&& token = Token()) {
    return detail::initiate(detail::handler_executor_source(), std::forward<Operation>(operation),
                            std::move(policy), std::forward<Token>(token));
}

/// The same on `executor`.
template <detail::executor Executor, typename Operation, typename Token = detail::default_token>
auto async_retry(Executor const& executor, Operation&& operation, retry_policy policy,
                 Token&& token = Token()) {
    return detail::initiate(detail::wait_on(executor), std::forward<Operation>(operation), std::move(policy),
                            std::forward<Token>(token));
}

/// The same on the executor of `context`.
template <std::derived_from<boost::asio::execution_context> Context, typename Operation,
          typename Token = detail::default_token>
auto async_retry(Context& context, Operation&& operation, retry_policy policy, Token&& token = Token()) {
    return detail::initiate(detail::wait_on(context.get_executor()), std::forward<Operation>(operation),
                            std::move(policy), std::forward<Token>(token));
}

/// The same in `scope`: a cancellation of the scope acts like one of type `terminal`, its deadline like the
/// policy's. Where the scope has no room for another operation this one makes no attempt and completes with
/// `no_buffer_space`.
template <typename Operation, typename Token = detail::default_token>
auto async_retry(retry_scope& scope, Operation&& operation, retry_policy policy, Token&& token = Token()) {
    return detail::initiate(detail::scope_source{state_of(scope)}, std::forward<Operation>(operation),
                            std::move(policy), std::forward<Token>(token));
}

/// A nested retry, inside the attempt `outer` of another: it has no more time than that attempt,
/// and makes a single attempt unless the policy has `retry_when_nested()`, because nested retries multiply.
template <typename Operation, typename Token = detail::default_token>
auto async_retry(attempt const& outer, Operation&& operation, retry_policy policy, Token&& token = Token()) {
    return async_retry(std::forward<Operation>(operation), policy.nested_in(outer), std::forward<Token>(token));
}

/// For what has no policy there: says what is wrong.
template <typename... Args>
    requires(!detail::has_policy_in_place<retry_policy, Args...>)
auto async_retry(Args&&...) {
    constexpr auto policy = detail::policy_place<retry_policy, Args...>;
    constexpr auto operation = detail::operation_place<Args...>;
    constexpr bool is_there = policy != sizeof...(Args);
    constexpr bool is_lost = detail::is_led_by_lost_scope<Args...>;
    constexpr bool is_other = !is_there && detail::has_policy<hedge_policy, Args...>;
    static_assert(
        !is_lost,
        "async_retry: the scope must be a variable that is not const and outlives what is started in it");
    static_assert(!is_other, "async_retry: it takes a retry_policy; a hedge_policy is for async_hedge");
    static_assert(
        is_there || is_other || is_lost,
        "async_retry: there is no policy: async_retry(operation, policy); an executor, context, scope or "
        "attempt stands before them, a completion token behind");
    static_assert(!is_there || is_lost || policy > operation,
                  "async_retry: the operation comes before the policy");
    static_assert(
        !is_there || is_lost || policy <= operation,
        "async_retry: the order is: an executor, context, scope or attempt if any, the operation, the "
        "policy, and a completion token if any");
}

} // namespace asio_retry
