#pragma once

#include <asio_retry/detail/attempt/operation_form.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace asio_retry::detail {

/// Whether the compiler destroys twice what a `co_await` expression initialises without a constructor: lambdas
/// and aggregates. It keeps a bitwise copy of them in the coroutine's frame, and destroys both.
inline constexpr bool destroys_temporaries_twice =
#if defined(__GNUC__) && !defined(__clang__)
    __GNUC__ < 13;
#else
    false;
#endif

/// Whether the type is that of a lambda. Only its name in g++ tells: it ends with `<lambda(...)>`.
template <typename T>
consteval bool is_closure() {
    std::string_view const name = __PRETTY_FUNCTION__; // ... [with T = NAME] or ... [with T = NAME; ...]
    int depth = 0;
    for (std::size_t place = name.rfind("<lambda("); place < name.size(); ++place) {
        depth += name[place] == '<' ? 1 : name[place] == '>' ? -1 : 0;
        if (depth == 0)
            return name[place + 1] == ']' || name[place + 1] == ';';
    }
    return false;
}

/// A wrapper that was made of a temporary which the compiler may destroy twice.
template <typename Wrapper>
struct [[nodiscard("this starts nothing: give it to async_retry or retry")]] temporary_operation : Wrapper {
    using Wrapper::Wrapper;
};

template <typename Wrapper>
struct operation_form<temporary_operation<Wrapper>> : operation_form<Wrapper> {};

template <typename Operation>
struct unmarked {
    using type = Operation;
    static constexpr bool has_mark = false;
};
template <typename Wrapper>
struct unmarked<temporary_operation<Wrapper>> {
    using type = Wrapper;
    static constexpr bool has_mark = true;
};

/// Whether `Given&&` may be a temporary that the compiler destroys twice. A variable that is moved looks alike.
template <typename Given>
inline constexpr bool is_temporary = [] {
    if constexpr (!destroys_temporaries_twice || !std::is_class_v<Given> ||
                  std::is_trivially_destructible_v<Given>)
        return false;
    else
        return unmarked<Given>::has_mark || std::is_aggregate_v<Given> || is_closure<Given>();
}();

/// What is kept of a callable that was given as `Given&&`.
template <typename Given>
using kept = typename unmarked<std::decay_t<Given>>::type;

template <typename Wrapper, bool>
struct marked {
    using type = Wrapper;
};
template <typename Wrapper>
struct marked<Wrapper, true> {
    using type = temporary_operation<Wrapper>;
};

/// The wrapper that is made of `Given&&...`.
template <template <typename...> typename Wrapper, typename... Given>
using wrapper = typename marked<Wrapper<kept<Given>...>, (is_temporary<Given> || ...)>::type;

} // namespace asio_retry::detail
