#pragma once

#include <asio_retry/detail/operation/repeated_initiation.hpp>
#include <asio_retry/detail/policy/never.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_scope.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// A completion token that makes any Asio operation one that is retried:
/// `co_await asio::async_connect(socket, endpoints, retrying(policy))`.
///
/// An initiating function hands its token an initiation and arguments for it. The initiation is carried out
/// again for each attempt, with copies of the arguments, as by `async_retry`. What else the function does, such
/// as to open a socket, it does once. The operation completes as `token` says, which stands inside:
/// `retrying(policy, as_tuple(use_awaitable))` and not `as_tuple(retrying(policy))`, because adapters outside
/// are a part of each attempt.
///
/// Preconditions: the arguments that the initiating function hands on can be copied, and the operation has one
/// completion signature, with an error_code or a std::exception_ptr first and values that have a default: a
/// server accepts with `acceptor.async_accept(socket, retrying(policy))`. Buffers and what else the arguments
/// refer to serve all attempts, and an attempt that failed half-way, as a read of a stream may, is not undone.
/// A socket whose connect failed cannot be relied on any more: `async_connect(socket, endpoints,
/// retrying(policy))` opens it anew for each endpoint, `socket.async_connect` does not.
///
/// Lifetimes: policy, token and arguments are moved or copied. What they refer to, the I/O object too, outlives
/// the operation.
///
/// Completion signature: that of the operation.
///
/// Token: any. The default is that of the executor of the I/O object, or else that of `async_retry`: `deferred`
/// where the completion has an error_code.
///
/// Executor: attempts, waits, the policy's callables and the handler are on the executors that `async_retry`
/// says. Waits use the context of the I/O object's executor or, where the operation has no I/O object, of the
/// handler's.
///
/// Per-operation cancellation, errors and thread safety: those of `async_retry`.
template <typename Token = detail::default_token>
[[nodiscard]] auto retrying(retry_policy policy, Token&& token = Token()) {
    return detail::retrying_token<detail::source_of_initiation, std::decay_t<Token>>{
        {}, std::move(policy), std::forward<Token>(token)};
}

/// The same in `scope`, on whose executor it waits.
template <typename Token = detail::default_token>
[[nodiscard]] auto retrying(retry_scope& scope, retry_policy policy, Token&& token = Token()) {
    return detail::retrying_token<detail::source_of_scope, std::decay_t<Token>>{
        {{state_of(scope)}}, std::move(policy), std::forward<Token>(token)};
}

/// For what is neither: says what is wrong.
template <typename First, typename... Others>
    requires(!std::convertible_to<First, retry_policy> &&
             !std::same_as<std::remove_cvref_t<First>, retry_scope>)
auto retrying(First&&, Others&&...) {
    static_assert(
        detail::never<First>,
        "retrying: the policy comes first, or a scope and then the policy; the completion token comes last");
    return retrying(retry_policy());
}

} // namespace asio_retry
