#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include <optional>

namespace asio_retry::detail {

/// The class of a code that `classify` knows. Nothing for a foreign category and for an exception without a
/// code.
std::optional<failure_class> known_class(error_code const& ec) noexcept;

} // namespace asio_retry::detail
