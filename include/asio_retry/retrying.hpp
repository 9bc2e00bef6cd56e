#pragma once

#include <asio_retry/detail/operation/repeated_initiation.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_scope.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace asio_retry {

/// A completion token that makes any Asio operation retry.
///
///     co_await asio::async_connect(socket, endpoints, retrying(policy))
///
/// An initiating function passes its token an initiation and arguments for it. Each attempt carries out the
/// initiation again, with copies of the arguments, as `async_retry` would. The function's other work, such as
/// opening a socket, is done once. The operation completes as `token` says. Write
/// `retrying(policy, as_tuple(use_awaitable))`, not `as_tuple(retrying(policy))`: an adapter outside is a part
/// of each attempt.
///
/// Preconditions: the arguments can be copied. The operation has one completion signature, with an error_code
/// or a std::exception_ptr first and values that have a default. So a server accepts with
/// `acceptor.async_accept(socket, retrying(policy))`. All attempts use the same buffers and other referenced
/// objects, and a half-finished attempt, such as a read of a stream, is not undone. Do not rely on a socket
/// whose connect failed: `async_connect(socket, endpoints, retrying(policy))` opens it anew for each endpoint,
/// `socket.async_connect` does not.
///
/// Lifetimes: policy, token and arguments are moved or copied. Everything that they refer to, the I/O object
/// too, outlives the operation.
///
/// Completion signature: that of the operation. Any token will do. The default is that of the I/O object's
/// executor, or else that of `async_retry`: `deferred` if the completion has an error_code.
///
/// Executor: as for `async_retry`. Waits use the context of the I/O object's executor or, without an I/O
/// object, of the handler's.
///
/// Per-operation cancellation, errors and thread safety: as for `async_retry`.
template <typename Token = detail::default_token>
[[nodiscard]] auto retrying(retry_policy policy, Token&& token = Token()) {
    return detail::retrying_token<detail::source_of_initiation, std::decay_t<Token>>{
        {}, std::move(policy), std::forward<Token>(token)};
}

/// A token that repeats an initiating function in `scope`. The retry waits on the executor of the scope.
template <typename Token = detail::default_token>
[[nodiscard]] auto retrying(retry_scope& scope, retry_policy policy, Token&& token = Token()) {
    return detail::retrying_token<detail::source_of_scope, std::decay_t<Token>>{
        {{state_of(scope)}}, std::move(policy), std::forward<Token>(token)};
}

namespace detail {

/// False, but only known when a template is instantiated with the type.
template <typename>
inline constexpr bool never = false;

} // namespace detail

/// Explains in a compiler error that the policy has to come first, or second after a scope.
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
