#pragma once

#include <asio_retry/detail/policy/config.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace asio_retry::detail {

[[noreturn]] ASIO_RETRY_DECL void refuse_empty(std::string_view field);

/// std::function and its kin: made from a signature, possibly from null, and able to say whether it has a
/// function.
template <typename F>
inline constexpr bool is_function_wrapper = false;
template <template <typename...> typename Wrapper, typename Signature, typename... Options>
    requires std::is_function_v<Signature>
inline constexpr bool is_function_wrapper<Wrapper<Signature, Options...>> =
    std::is_constructible_v<Wrapper<Signature, Options...>, std::nullptr_t> &&
    std::is_constructible_v<bool, Wrapper<Signature, Options...> const&>;

/// A null pointer or an empty wrapper. No other class is asked: what a comparison with null or a conversion to
/// bool means there is its own affair.
template <typename F>
inline constexpr bool may_be_empty =
    std::is_pointer_v<F> || std::is_member_pointer_v<F> || is_function_wrapper<F>;

/// Throws std::invalid_argument, naming the field. Who calls this for many types asks `may_be_empty` before, so
/// that no function is compiled for those that cannot be.
template <typename F>
void refuse_if_empty(std::string_view field, F const& function) {
    if constexpr (std::is_pointer_v<F> || std::is_member_pointer_v<F>) {
        if (function == nullptr)
            refuse_empty(field);
    } else if constexpr (is_function_wrapper<F>) {
        if (!static_cast<bool>(function)) // that of Boost never equals nullptr
            refuse_empty(field);
    }
}

} // namespace asio_retry::detail
