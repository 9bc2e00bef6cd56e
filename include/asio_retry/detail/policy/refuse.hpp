#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace asio_retry::detail {

/// Throws std::invalid_argument, naming the field, its value and the broken rule.
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, std::string_view value, std::string_view rule);
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, duration value, std::string_view rule);
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, double value, std::string_view rule);

/// The rule ends with the name of another field, and `other` is the value of that field: "..., which is 2s".
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, duration value, std::string_view rule,
                                         duration other);
[[noreturn]] ASIO_RETRY_DECL void refuse(std::string_view field, double value, std::string_view rule,
                                         double other);

/// Refuses a negative duration.
ASIO_RETRY_DECL duration non_negative(std::string_view field, duration value);

[[noreturn]] ASIO_RETRY_DECL void refuse_empty(std::string_view field);

/// Whether F is like std::function: made from a signature, possibly from null, and convertible to bool.
template <typename F>
inline constexpr bool is_function_wrapper = false;
template <template <typename...> typename Wrapper, typename Signature, typename... Options>
    requires std::is_function_v<Signature>
inline constexpr bool is_function_wrapper<Wrapper<Signature, Options...>> =
    std::is_constructible_v<Wrapper<Signature, Options...>, std::nullptr_t> &&
    std::is_constructible_v<bool, Wrapper<Signature, Options...> const&>;

/// Only pointers and function wrappers can be empty. For any other class a comparison with null or a conversion
/// to bool may mean anything.
template <typename F>
inline constexpr bool may_be_empty =
    std::is_pointer_v<F> || std::is_member_pointer_v<F> || is_function_wrapper<F>;

/// Throws std::invalid_argument, naming the field, if the function is empty. Code that calls it for many types
/// checks `may_be_empty` first, so that no function is compiled for the others.
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
