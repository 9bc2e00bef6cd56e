#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/operation/initiate_retry.hpp>
#include <asio_retry/detail/policy/policy_arguments.hpp>
#include <asio_retry/retry_scope.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace asio_retry::detail {

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

} // namespace asio_retry::detail
