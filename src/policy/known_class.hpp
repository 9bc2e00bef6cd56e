#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include <optional>

namespace asio_retry::detail {

/// What `classify` says of a code that it knows; nothing for a code of a foreign category, and for that of an
/// exception without a code.
std::optional<failure_class> known_class(error_code const& ec) noexcept;

} // namespace asio_retry::detail
