#pragma once

#include <asio_retry/backoff.hpp>
#include <asio_retry/jitter.hpp>

#include <concepts>
#include <type_traits>

namespace asio_retry::detail {

/// Whether F is a function that makes one, given without being called.
template <typename F, typename Made>
inline constexpr bool is_maker_of = false;
template <typename Made, typename... Args>
inline constexpr bool is_maker_of<Made (*)(Args...), Made> = true;

/// Reports why the argument is no backoff. (Without `auto` the function would be instantiated too late to
/// complain first.)
template <typename Other>
auto explain_backoff() {
    constexpr bool is_maker = is_maker_of<std::decay_t<Other>, backoff>;
    static_assert(!is_maker, "backoff: this function makes a backoff: call it, as in exponential(100ms)");
    static_assert(!is_duration<Other>,
                  "backoff: a duration alone has no shape: constant(100ms) or exponential(100ms)");
    static_assert(!is_number<Other>,
                  "backoff: a number is no delay, and needs a unit and a shape: constant(100ms) or "
                  "exponential(100ms)");
    static_assert(!std::same_as<std::remove_cvref_t<Other>, jitter>,
                  "backoff: this is a jitter, which is set by jitter(...)");
    static_assert(is_maker || is_duration<Other> || is_number<Other> ||
                      std::same_as<std::remove_cvref_t<Other>, jitter>,
                  "backoff: it must be called, as an lvalue, with a std::uint64_t and return a duration");
}

/// The same for a jitter.
template <typename Other>
auto explain_jitter() {
    constexpr bool is_maker = is_maker_of<std::decay_t<Other>, jitter>;
    static_assert(!is_maker, "jitter: this function makes a jitter: call it, as in equal_jitter()");
    static_assert(!is_duration<Other>,
                  "jitter: a duration alone says no jitter: additive_jitter(100ms) or symmetric_jitter(100ms)");
    static_assert(!is_number<Other>, "jitter: a number alone says no jitter: proportional_jitter(0.1)");
    static_assert(!std::same_as<std::remove_cvref_t<Other>, backoff>,
                  "jitter: this is a backoff, which is set by backoff(...)");
    static_assert(
        is_maker || is_duration<Other> || is_number<Other> || std::same_as<std::remove_cvref_t<Other>, backoff>,
        "jitter: it must be called, as an lvalue, with a backoff_step and a random& and return a duration");
}

} // namespace asio_retry::detail
