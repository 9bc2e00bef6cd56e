#pragma once

#include "text/arguments.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace asio_retry::detail {

/// How to make an item from its name.
template <typename Make>
struct item_form {
    std::string_view name;
    std::array<parameter, 3> parameters; ///< an entry without a name is unused
    Make make;
    bool is_list = false;
    bool may_be_repeated = false;
};

template <typename Items>
constexpr auto find_item(Items const& items, std::string_view name) -> decltype(std::begin(items)) {
    auto const found =
        std::find_if(std::begin(items), std::end(items), [&](auto const& item) { return item.name == name; });
    return found == std::end(items) ? nullptr : found;
}

} // namespace asio_retry::detail
