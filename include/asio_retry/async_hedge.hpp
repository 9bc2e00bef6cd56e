#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/hedge/hedge_operation.hpp>
#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/hedge_policy.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <utility>

namespace asio_retry {

/// Makes an attempt, and another beside it when the first takes too long: the first that succeeds wins.
///
/// The next attempt begins when the policy's delay has passed without a result, or when an attempt fails and is
/// to be retried. A success, or a failure that is not to be retried, ends the operation and cancels the other
/// attempts. Use it for requests that may be made twice, with a gate such as a `retry_budget`. The whole
/// contract: doc/reference/async_hedge.md.
///
/// `operation` is of any form that `async_retry` takes, except `with_report`, `with_hooks` and `or_error`.
/// Several attempts run at a time, so each needs a socket and buffers of its own, for instance by
/// `attempt::number`.
///
/// `policy` is a `hedge_policy`. Its type here lets g++ 12 warn of a lambda that it would destroy twice.
///
/// Preconditions: as for `async_retry`. On an executor that runs functions on several threads at once, give the
/// handler a strand as its executor. No strand is needed if each attempt is a single Asio operation, or an
/// awaitable of `any_io_executor`. Throws std::invalid_argument for an empty operation or executor.
///
/// Lifetimes: operation and policy are moved or copied. The operation, and all that it refers to, live until
/// the last attempt has ended. By default that is before the completion; with `deliver_at_once` attempts may
/// end after it.
///
/// Completion signature, default token, executor and errors: as for `async_retry`.
///
/// Per-operation cancellation: `terminal` and `partial` go to all running attempts, and no further one begins.
/// `total` does the same while only the first attempt has begun and has not failed; afterwards it is ignored. A
/// success wins over a cancellation; otherwise the operation completes with `operation_aborted`.
///
/// Thread safety: as for `async_retry`. Attempts may complete on any thread of the executor, in any order.
template <typename Operation, typename Token = detail::default_token>
    requires(!detail::provides_executor<Operation>)
auto async_hedge(Operation&& operation, detail::policy_for<hedge_policy, Operation, Token, false> policy,
                 Token&& token = Token()) {
    return detail::initiate<hedge_policy>(detail::handler_executor_source(), std::forward<Operation>(operation),
                                          std::move(policy), std::forward<Token>(token));
}

/// Hedges an operation on `executor`, with the contract of `async_hedge(operation, policy)`.
template <detail::executor Executor, typename Operation, typename Token = detail::default_token>
auto async_hedge(Executor const& executor, Operation&& operation,
                 detail::policy_for<hedge_policy, Operation, Token> policy, Token&& token = Token()) {
    return detail::initiate<hedge_policy>(detail::wait_on(executor), std::forward<Operation>(operation),
                                          std::move(policy), std::forward<Token>(token));
}

/// Hedges an operation on the executor of `context`, with the contract of `async_hedge(operation, policy)`.
template <std::derived_from<boost::asio::execution_context> Context, typename Operation,
          typename Token = detail::default_token>
auto async_hedge(Context& context, Operation&& operation,
                 detail::policy_for<hedge_policy, Operation, Token> policy, Token&& token = Token()) {
    return detail::initiate<hedge_policy>(detail::wait_on(context.get_executor()),
                                          std::forward<Operation>(operation), std::move(policy),
                                          std::forward<Token>(token));
}

/// Hedges an operation in `scope`. A cancellation of the scope acts like one of type `terminal`, its deadline
/// like the policy's. If the scope has no room for another operation, this one makes no attempt and completes
/// with `no_buffer_space`. `retry_scope::retry_now` ends only a wait that a server asked for.
template <typename Operation, typename Token = detail::default_token>
auto async_hedge(retry_scope& scope, Operation&& operation,
                 detail::policy_for<hedge_policy, Operation, Token> policy, Token&& token = Token()) {
    return detail::initiate<hedge_policy>(detail::scope_source{state_of(scope)},
                                          std::forward<Operation>(operation), std::move(policy),
                                          std::forward<Token>(token));
}

/// A hedge inside the attempt `outer` of a retry. It has no more time than that attempt's operation. It makes
/// as many attempts as the policy says if that attempt is the first, and otherwise one.
template <typename Operation, typename Token = detail::default_token>
auto async_hedge(attempt const& outer, Operation&& operation,
                 detail::policy_for<hedge_policy, Operation, Token, false> policy, Token&& token = Token()) {
    return detail::initiate<hedge_policy>(detail::handler_executor_source(), std::forward<Operation>(operation),
                                          policy.nested_in(outer), std::forward<Token>(token));
}

/// Explains in a compiler error that the policy is missing or stands elsewhere.
template <typename... Args>
    requires(!detail::has_policy_in_place<hedge_policy, Args...>)
auto async_hedge(Args&&...) {
    constexpr auto policy = detail::policy_place<hedge_policy, Args...>;
    constexpr auto operation = detail::operation_place<Args...>;
    constexpr bool is_there = policy != sizeof...(Args);
    constexpr bool is_lost = detail::begins_with_unusable_scope<Args...>;
    constexpr bool is_other = !is_there && detail::has_policy<retry_policy, Args...>;
    static_assert(!is_lost,
                  "async_hedge: the scope must be a variable that is not const and outlives the operations "
                  "started in it");
    static_assert(!is_other, "async_hedge: it takes a hedge_policy; a retry_policy is for async_retry");
    static_assert(
        is_there || is_other || is_lost,
        "async_hedge: the policy is missing: async_hedge(operation, policy); an executor, context, scope or "
        "attempt comes before them, a completion token last");
    static_assert(!is_there || is_lost || policy > operation,
                  "async_hedge: the operation comes before the policy");
    static_assert(
        !is_there || is_lost || policy <= operation,
        "async_hedge: the order is: an executor, context, scope or attempt (if any), the operation, the "
        "policy, and a completion token (if any)");
}

/// Explains in a compiler error that an argument is an overloaded function.
ASIO_RETRY_REFUSES_OVERLOADED("async_hedge: this function is overloaded")
void async_hedge(...) ASIO_RETRY_REFUSED;

} // namespace asio_retry
