#pragma once

#include <asio_retry/attempt.hpp>
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

/// Makes attempts until one succeeds, the policy ends the operation, or the operation is cancelled.
///
/// `operation` is called as an lvalue, once per attempt, with a completion token, an `attempt`, both or
/// nothing. It may return an `awaitable`, a deferred operation or a plain value. All forms and the whole
/// contract: doc/reference/async_retry.md.
///
/// `policy` is a `retry_policy`. Its type here lets g++ 12 warn of a lambda that it would destroy twice.
///
/// Preconditions: the values of the completion are default-constructible. On an executor of several threads,
/// the handler of an operation with a time limit or a scope has a strand as its executor. Throws
/// std::invalid_argument for an empty operation or executor.
///
/// Lifetimes: operation and policy are moved or copied. Everything that they refer to lives until the last
/// attempt is over.
///
/// Completion signature: that of the Asio operation. For an `awaitable<T>` or a plain callable it is
/// `void(exception_ptr[, T])`, or `void(error_code, T...)` if they return error codes or results. The default
/// token is the executor's own, or else `use_awaitable` for `void(exception_ptr[, T])` and `deferred` for the
/// others.
///
/// Executor: the first attempt is initiated where this is called. The other attempts, the policy's callables
/// and the handler run on the handler's associated executor.
///
/// Per-operation cancellation: `terminal` and `partial` end a wait, go to a running attempt, and let no further
/// attempt begin. `total` does so until the first attempt has failed. A success wins; otherwise the operation
/// completes with `operation_aborted`.
///
/// Errors: the last attempt's own. It is `timed_out` after a time limit, the error inside a `permanent` one, or
/// a gate's reason, under `condition::refused`. A callable of the policy that throws leaves its exception or an
/// `asio_retry::error`.
///
/// Thread safety: distinct operations are independent. Emit a slot on the handler's executor only.
template <typename Operation, typename Token = detail::default_token>
    requires(!detail::provides_executor<Operation>)
auto async_retry(Operation&& operation, detail::policy_for<retry_policy, Operation, Token, false> policy,
                 Token&& token = Token()) {
    return detail::initiate<retry_policy>(detail::handler_executor_source(), std::forward<Operation>(operation),
                                          std::move(policy), std::forward<Token>(token));
}

/// Retries an operation on `executor`, with the contract of `async_retry(operation, policy)`.
template <detail::executor Executor, typename Operation, typename Token = detail::default_token>
auto async_retry(Executor const& executor, Operation&& operation,
                 detail::policy_for<retry_policy, Operation, Token> policy, Token&& token = Token()) {
    return detail::initiate<retry_policy>(detail::wait_on(executor), std::forward<Operation>(operation),
                                          std::move(policy), std::forward<Token>(token));
}

/// Retries an operation on the executor of `context`, with the contract of `async_retry(operation, policy)`.
template <std::derived_from<boost::asio::execution_context> Context, typename Operation,
          typename Token = detail::default_token>
auto async_retry(Context& context, Operation&& operation,
                 detail::policy_for<retry_policy, Operation, Token> policy, Token&& token = Token()) {
    return detail::initiate<retry_policy>(detail::wait_on(context.get_executor()),
                                          std::forward<Operation>(operation), std::move(policy),
                                          std::forward<Token>(token));
}

/// Retries an operation in `scope`. A cancellation of the scope acts like one of type `terminal`, its deadline
/// like the policy's. If the scope has no room for another operation, this one makes no attempt and completes
/// with `no_buffer_space`.
template <typename Operation, typename Token = detail::default_token>
auto async_retry(retry_scope& scope, Operation&& operation,
                 detail::policy_for<retry_policy, Operation, Token> policy, Token&& token = Token()) {
    return detail::initiate<retry_policy>(detail::scope_source{state_of(scope)},
                                          std::forward<Operation>(operation), std::move(policy),
                                          std::forward<Token>(token));
}

/// A nested retry, inside the attempt `outer` of another retry. It has no more time than that attempt. It makes
/// a single attempt unless the policy has `retry_when_nested()`, because nested retries multiply.
template <typename Operation, typename Token = detail::default_token>
auto async_retry(attempt const& outer, Operation&& operation,
                 detail::policy_for<retry_policy, Operation, Token, false> policy, Token&& token = Token()) {
    return detail::initiate<retry_policy>(detail::handler_executor_source(), std::forward<Operation>(operation),
                                          policy.nested_in(outer), std::forward<Token>(token));
}

/// Explains in a compiler error that the policy is missing or stands elsewhere.
template <typename... Args>
    requires(!detail::has_policy_in_place<retry_policy, Args...>)
auto async_retry(Args&&...) {
    constexpr auto policy = detail::policy_place<retry_policy, Args...>;
    constexpr auto operation = detail::operation_place<Args...>;
    constexpr bool is_there = policy != sizeof...(Args);
    constexpr bool is_lost = detail::begins_with_unusable_scope<Args...>;
    constexpr bool is_other = !is_there && detail::has_policy<hedge_policy, Args...>;
    static_assert(!is_lost,
                  "async_retry: the scope must be a variable that is not const and outlives the operations "
                  "started in it");
    static_assert(!is_other, "async_retry: it takes a retry_policy; a hedge_policy is for async_hedge");
    static_assert(
        is_there || is_other || is_lost,
        "async_retry: the policy is missing: async_retry(operation, policy); an executor, context, scope or "
        "attempt comes before them, a completion token last");
    static_assert(!is_there || is_lost || policy > operation,
                  "async_retry: the operation comes before the policy");
    static_assert(
        !is_there || is_lost || policy <= operation,
        "async_retry: the order is: an executor, context, scope or attempt (if any), the operation, the "
        "policy, and a completion token (if any)");
}

/// Explains in a compiler error that an argument is an overloaded function.
ASIO_RETRY_REFUSES_OVERLOADED("async_retry: this function is overloaded")
void async_retry(...) ASIO_RETRY_REFUSED;

} // namespace asio_retry
