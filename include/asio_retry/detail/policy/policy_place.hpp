#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace asio_retry::detail {

/// The index of the policy among the arguments; their number if there is none.
template <typename Policy, typename... Args>
inline constexpr std::size_t policy_place = [] {
    constexpr bool is_policy[] = {std::convertible_to<Args, Policy>..., true};
    std::size_t place = 0;
    while (!is_policy[place])
        ++place;
    return place;
}();

/// Whether a policy of another kind is among the arguments.
template <typename Other, typename... Args>
inline constexpr bool has_policy = (std::same_as<std::remove_cvref_t<Args>, Other> || ...);

} // namespace asio_retry::detail
