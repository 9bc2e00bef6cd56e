#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// Tries an operation until it succeeds or until the policy says that trying again would be wrong.
///
/// The first attempt is initiated inside the initiating function, the others on the executor. After a failed
/// attempt, when its result has been destroyed, the operation waits on the scheduler of the executor's context.
///
/// `operation`, called as an lvalue once per attempt, is one of:
///  - `[](auto token)` that starts any Asio asynchronous operation with the token and returns what that
///  returns;
///    a generic callable of one argument is always taken for this form;
///  - a callable that returns a deferred operation, or such an operation itself;
///  - a callable that returns an `awaitable`;
///  - a plain callable;
/// each with an `attempt` as its first parameter if it likes, or any of them inside `fail_if` or `with_report`.
///
/// Preconditions: the values of the completion are default-constructible, for a completion that has none to
/// give. On an executor that runs functions on several threads at once, a handler whose operation has a time
/// limit or a scope has a strand for its executor, unless its attempts are single Asio operations or
/// awaitables of `any_io_executor`: a composed attempt, a nested retry say, must not be told to stop while a
/// part of it runs. Bad policies are refused when they are built, and an empty operation, as a std::function or
/// a pointer may be, at once with std::invalid_argument.
///
/// Lifetimes: operation and policy are moved or copied; the operation stays at one address until the last
/// attempt is over. What they refer to must live as long.
///
/// Completion signature:
///  - `[](auto token)` and deferred operations: their own, `void(error_code, T...)` or `void(exception_ptr,
///  T...)`;
///  - `awaitable<T>` and plain callables: `void(exception_ptr[, T])`;
///  - `awaitable<error_code>`, `awaitable<std::tuple<error_code, T...>>`, `awaitable<boost::system::result<T>>`
///  and plain
///    callables that return `error_code` or `boost::system::result<T>`: `void(error_code, T...)`.
/// The completion carries what the last attempt came to, unchanged, except as said under errors and
/// cancellation.
///
/// Token: any. The default is `use_awaitable` for `void(exception_ptr[, T])`, or else `deferred`, or the
/// executor's own.
///
/// Executor: the first attempt is initiated where the initiating function is called. The other attempts, the
/// policy's callables and the handler run on the handler's associated executor, and so does the coroutine of an
/// awaitable attempt; after the success of one that nothing can interrupt the coroutine that awaits it goes on
/// where the attempt ended, as after any co_await. With a time limit, or in a scope, an awaitable of
/// `any_io_executor` that a coroutine awaits runs on that executor itself if it is a strand, or that of a
/// context made for one thread, as by `asio::io_context io(1)`, and on a strand of its own otherwise; in a
/// scope, with another token, always on one of its own. Waits hang on the context of the given
/// executor, context or scope; without one, of the handler's executor. A handler that was given system_executor
/// counts as one without: Asio would call it wherever the operation completes.
///
/// Per-operation cancellation: `terminal` and `partial` end a wait at once, are forwarded to a running attempt
/// as they are, and let no further attempt begin; an operation that was cancelled before its start makes none.
/// `total` does the same until the first attempt has failed and is ignored afterwards, unless the policy has
/// `allow_total_cancellation()`, because a failed attempt may have had side effects. A success wins over a
/// cancellation; otherwise a cancelled operation completes with `operation_aborted`. An awaitable attempt sees
/// `terminal` only, unless it asks for more, and of what the coroutine that awaits the operation lets through.
/// A request is remembered from when it is made: each attempt has a cancellation state of its own, and what it
/// does to that, such as to reset it in order to clean up, changes neither the outcome nor the state of the
/// caller. (Attempts that nothing can interrupt, neither the caller's slot nor a time limit nor a scope,
/// share the caller's.)
///
/// Errors: `timed_out` when attempt_timeout, total_timeout or the deadline ended the last attempt, whatever it
/// made of that, with the exception that it threw nested in a thrown one; `operation_aborted` when cancelled;
/// what is inside a `permanent` error; what a gate of the policy gives as its reason, under
/// `condition::refused`, where it let no attempt begin and there is no error of an earlier one; an exception
/// that a callable of the policy throws, which with `error_code` signatures becomes an `asio_retry::error`;
/// otherwise the last attempt's own. An exception thrown by an operation that completes with an error code
/// counts as the code in it, or `error::operation_threw`. To throw instead of starting is to fail: such an
/// attempt is retried like any other. Want of memory is a failed attempt or completes the operation with
/// `no_memory` (a std::bad_alloc); what throws in telling an attempt to stop comes out of `emit` or of the
/// context; where a value throws as it is made or moved the handler is destroyed uncalled, and the exception
/// comes out of the context.
///
/// Thread safety: distinct operations are independent. A slot is emitted on the handler's executor, as for
/// every Asio operation, and one handler at a time: on an executor that runs functions on several threads at
/// once the handler has a strand for its executor, and the operation is started there. A retry_scope may be
/// cancelled from any thread. An attempt that completes while another thread is telling it to stop waits for
/// that, as for a mutex: its I/O object may end with it.
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
    return detail::initiate(detail::given_executor_source<Executor, detail::no_membership>{executor, {}},
                            std::forward<Operation>(operation), std::move(policy), std::forward<Token>(token));
}

/// The same on the executor of `context`.
template <std::derived_from<boost::asio::execution_context> Context, typename Operation,
          typename Token = detail::default_token>
auto async_retry(Context& context, Operation&& operation, retry_policy policy, Token&& token = Token()) {
    return async_retry(context.get_executor(), std::forward<Operation>(operation), std::move(policy),
                       std::forward<Token>(token));
}

/// The same in `scope`: a cancellation of the scope acts like one of type `terminal`, its deadline like the
/// policy's. Where the scope has no room for another operation this one makes no attempt and completes with
/// `no_buffer_space`.
template <typename Operation, typename Token = detail::default_token>
auto async_retry(retry_scope& scope, Operation&& operation, retry_policy policy, Token&& token = Token()) {
    return detail::initiate(detail::scope_source{state_of(scope)}, std::forward<Operation>(operation),
                            std::move(policy), std::forward<Token>(token));
}

/// A nested retry, inside the attempt `outer` of another: it has no more time than that attempt's operation,
/// and makes a single attempt unless the policy has `retry_when_nested()`, because nested retries multiply.
template <typename Operation, typename Token = detail::default_token>
auto async_retry(attempt const& outer, Operation&& operation, retry_policy policy, Token&& token = Token()) {
    return async_retry(std::forward<Operation>(operation), policy.nested_in(outer), std::forward<Token>(token));
}

} // namespace asio_retry
