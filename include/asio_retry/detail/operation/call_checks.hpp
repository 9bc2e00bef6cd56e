#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/detail/policy/policy_arguments.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#ifdef ASIO_RETRY_NO_CLOSURE_WARNING
#define ASIO_RETRY_CLOSURE_WARNING
#else
#define ASIO_RETRY_CLOSURE_WARNING                                                                             \
    [[deprecated("name the lambda first, as in auto operation = [s] { ... }; co_await "                        \
                 "async_retry(operation, policy): inside a co_await expression g++ before 13 destroys "        \
                 "twice what a lambda captures by value, or what an aggregate holds")]]
#endif

namespace asio_retry::detail {

// --- the order of the arguments

/// The position of the operation among the arguments, from 0: after the place to wait, if there is one.
template <typename... Args>
inline constexpr std::size_t operation_place = 0;
template <typename First, typename... Others>
    requires(provides_executor<First> || std::convertible_to<First, retry_scope&> ||
             std::convertible_to<First, attempt const&>)
inline constexpr std::size_t operation_place<First, Others...> = 1;

/// Whether a scope is given that would end before its operations, or that cannot start any.
template <typename...>
inline constexpr bool is_led_by_lost_scope = false;
template <typename First, typename... Others>
inline constexpr bool is_led_by_lost_scope<First, Others...> =
    std::same_as<std::remove_cvref_t<First>, retry_scope> && !std::convertible_to<First, retry_scope&>;

/// Whether the policy follows the operation.
template <typename Policy, typename... Args>
inline constexpr bool has_policy_in_place =
    !is_led_by_lost_scope<Args...> && sizeof...(Args) > operation_place<Args...> + 1 &&
    policy_place<Policy, Args...> == operation_place<Args...> + 1;

// --- what g++ before 13 destroys twice

/// Starts nothing: only the type of the result matters.
struct initiation_probe {
    template <typename... Args>
    void operator()(Args&&...) const {}
};

/// Whether a coroutine may await what the initiating function returns.
template <typename Result>
concept awaitable_result = awaitable_traits<Result>::is_awaitable || asio::is_deferred<Result>::value ||
                           requires(Result&& result) { std::forward<Result>(result).operator co_await(); } ||
                           requires(Result&& result) { result.await_ready(); };

template <typename Token, typename Signature>
inline constexpr bool is_awaited = awaitable_result<decltype(asio::async_initiate<Token, Signature>(
    initiation_probe(), std::declval<std::remove_reference_t<Token>&>()))>;

/// Whether the operation is a temporary that the compiler destroys twice. A call whose token makes something to
/// await is taken for a part of a `co_await` expression.
template <typename Operation, typename Token>
inline constexpr bool is_destroyed_twice = [] {
    if constexpr (!is_temporary<Operation>)
        return false;
    else if constexpr (std::is_same_v<std::decay_t<Token>, default_token>)
        return true;
    else if constexpr (operation_form<Operation>::is_usable &&
                       is_token_for<Token, typename operation_form<Operation>::signature>)
        return is_awaited<Token, typename operation_form<Operation>::signature>;
    else
        return false; // another message says what is wrong
}();

/// The policy beside a lambda without a name. The compiler warns of the conversion to it.
template <typename Policy>
struct policy_beside_unnamed_lambda : Policy {
    template <std::convertible_to<Policy> Given = Policy>
    ASIO_RETRY_CLOSURE_WARNING policy_beside_unnamed_lambda(Given&& policy = Given())
        : Policy(std::forward<Given>(policy)) {}
};

template <typename Policy, bool>
struct policy_parameter {
    using type = Policy;
};
template <typename Policy>
struct policy_parameter<Policy, true> {
    using type = policy_beside_unnamed_lambda<Policy>;
};

/// The policy as a parameter. The caller converts it, so that the warning has the caller's line.
template <typename Policy, typename Operation, typename Token>
using policy_for = typename policy_parameter<Policy, is_destroyed_twice<Operation, Token>>::type;

} // namespace asio_retry::detail
