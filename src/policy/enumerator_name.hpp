#pragma once

#include <cstddef>
#include <string_view>

namespace asio_retry::detail {

/// The name of an enumerator. `names` are in the order of the enumerators, and `Last` is the last one. Returns
/// `otherwise` for any other value.
template <auto Last, std::size_t Count>
constexpr std::string_view enumerator_name(std::string_view const (&names)[Count], decltype(Last) value,
                                           std::string_view otherwise) noexcept {
    static_assert(Count == static_cast<std::size_t>(Last) + 1);
    auto const index = static_cast<std::size_t>(value);
    return index < Count ? names[index] : otherwise;
}

} // namespace asio_retry::detail
