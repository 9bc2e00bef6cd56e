#include "policy/protocol_codes.hpp"

#include "policy/mysql_codes.hpp"

#include <boost/system/error_code.hpp>

#include <string_view>

namespace asio_retry::detail {
namespace {

constexpr failure_class lost{failure_kind::transient, effect::possible};
constexpr failure_class hopeless{failure_kind::permanent, effect::possible};

/// The reason in a code of OpenSSL's library for TLS (ERR_LIB_SSL, 20); 0 for its other libraries. Version 3
/// has the library from bit 23 on and the reason below (ERR_LIB_OFFSET, ERR_REASON_MASK of openssl/err.h);
/// version 1 had it from bit 24 on, above twelve bits for a function and twelve for the reason.
constexpr unsigned tls_reason(int value) noexcept {
    auto const bits = static_cast<unsigned>(value);
    if (bits >> 23 == 20)
        return bits & 0x7fffff;
    return bits >> 24 == 20 ? bits & 0xfff : 0;
}

/// Failures of certificates, versions, ciphers and missing files: the next handshake would fail in the same
/// way. Reasons that concern one connection only are those of openssl/sslerr.h.
failure_class classify_openssl(int value) noexcept {
    switch (tls_reason(value)) {
    case 207:  // SSL_R_PROTOCOL_IS_SHUTDOWN
    case 281:  // SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC: damaged on the way
    case 294:  // SSL_R_UNEXPECTED_EOF_WHILE_READING
    case 1020: // SSL_R_SSLV3_ALERT_BAD_RECORD_MAC
    case 1080: // SSL_R_TLSV1_ALERT_INTERNAL_ERROR: "unrelated to the peer", RFC 8446, 6.2
    case 1090: // SSL_R_TLSV1_ALERT_USER_CANCELLED
        return lost;
    }
    return hopeless;
}

/// Beast's enumeration http::error.
failure_class classify_beast_http(int value) noexcept {
    switch (value) {
    case 1:  // end_of_stream
    case 2:  // partial_message
    case 10: // bad_alloc
        return lost;
    }
    return hopeless;
}

/// The enumeration client::error of Boost.MQTT5.
failure_class classify_mqtt_client(int value) noexcept {
    switch (value) {
    case 102: // session_expired: the next attempt subscribes again
        return lost;
    case 103: // pid_overrun: 65,535 messages wait for their answers
        return {failure_kind::overloaded, effect::none};
    }
    return hopeless;
}

} // namespace

std::optional<failure_class> classify_protocol(error_code const& code) noexcept {
    if (code.category() == boost::system::system_category()) // most codes are
        return std::nullopt;
    std::string_view const category = code.category().name();
    if (category == "asio.ssl")
        return classify_openssl(code.value());
    if (category == "asio.ssl.stream") // stream_truncated, and two errors that no server sends
        return lost;
    if (category == "boost.beast" && code.value() == 1) // error::timeout
        return failure_class{failure_kind::timeout, effect::possible};
    if (category == "beast.http")
        return classify_beast_http(code.value());
    if (category == "boost.beast.websocket") // 1 is error::closed
        return code.value() == 1 ? lost : hopeless;
    if (category == "grpc") // of asio_retry/grpc.hpp
        return classify_grpc(code.value());
    if (category == "mqtt_client_error")
        return classify_mqtt_client(code.value());
    return classify_mysql(category, code.value());
}

} // namespace asio_retry::detail
