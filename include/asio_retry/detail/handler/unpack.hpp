#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

template <typename Tuple>
inline constexpr auto places_of = std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<Tuple>>>();

/// std::apply for what is no pointer to a member, `places` being the `places_of` the tuple: one function to
/// compile for each call where that has four.
template <typename F, typename Tuple, std::size_t... Places>
decltype(auto) unpack(F&& f, Tuple&& values, std::index_sequence<Places...>) {
    return std::forward<F>(f)(std::get<Places>(std::forward<Tuple>(values))...);
}

} // namespace asio_retry::detail
