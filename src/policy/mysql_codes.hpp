#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include <optional>
#include <string_view>

namespace asio_retry::detail {

/// The class of a code of Boost.MySQL, by the name of its category. Nothing for any other name.
std::optional<failure_class> classify_mysql(std::string_view category, int value) noexcept;

} // namespace asio_retry::detail
