#pragma once

#include <asio_retry/error.hpp>
#include <asio_retry/failure_class.hpp>

#include <optional>

namespace asio_retry::detail {

/// Of a code of TLS, HTTP or WebSocket, as Asio and Boost.Beast have them; nothing for every other code. They
/// are known by the name of their category and by number, so that nothing of theirs is included.
std::optional<failure_class> classify_protocol(error_code const& code) noexcept;

/// Whether it is one of these that a further attempt will not mend.
inline bool is_protocol_failure(error_code const& code) noexcept {
    auto const what = classify_protocol(code);
    return what && what->kind == failure_kind::permanent;
}

} // namespace asio_retry::detail
