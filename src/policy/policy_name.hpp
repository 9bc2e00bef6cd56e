#pragma once

#include <cstddef>
#include <string_view>

namespace asio_retry::detail {

inline constexpr std::size_t longest_policy_name = 128; // bytes

/// The offset of the first forbidden character: a control character, a line separator, or a byte that is not
/// UTF-8. The size of the name if there is none.
std::size_t first_bad_character(std::string_view name) noexcept;

/// Throws std::invalid_argument, naming the field, the value and the rule.
void check_policy_name(std::string_view name);

} // namespace asio_retry::detail
