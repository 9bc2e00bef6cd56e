#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

template <typename Tuple>
inline constexpr auto places_of = std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<Tuple>>>();

/// std::apply, except for pointers to members; `places` is `places_of` the tuple. Each call compiles one
/// function where std::apply takes four.
template <typename F, typename Tuple, std::size_t... Places>
decltype(auto) unpack(F&& f, Tuple&& values, std::index_sequence<Places...>) {
    return std::forward<F>(f)(std::get<Places>(std::forward<Tuple>(values))...);
}

} // namespace asio_retry::detail
