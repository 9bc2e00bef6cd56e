#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include <optional>

namespace asio_retry::detail {

/// The class of a code of TLS, HTTP or WebSocket from Asio or Boost.Beast, and of Boost.MySQL and Boost.MQTT5;
/// nothing for every other code. It knows them by the name of their category and by number, so that it includes
/// none of their headers.
std::optional<failure_class> classify_protocol(error_code const& code) noexcept;

/// Whether it is such a code, and a further attempt would not help.
inline bool is_protocol_failure(error_code const& code) noexcept {
    auto const what = classify_protocol(code);
    return what && what->kind == failure_kind::permanent;
}

} // namespace asio_retry::detail
