#include <asio_retry/asio_retry.hpp>

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/websocket/error.hpp>

#include <gtest/gtest.h>

#include <initializer_list>

#ifdef ASIO_RETRY_TEST_OPENSSL
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#ifdef BOOST_ASIO_SEPARATE_COMPILATION
#include <boost/asio/ssl/impl/src.hpp>
#endif
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <utility>
#include <vector>
#endif

// The library includes neither Beast nor OpenSSL, and knows their codes by number: these are their own.

namespace asio_retry::test {
namespace {

namespace beast = boost::beast;
using http_error = beast::http::error;
using websocket_error = beast::websocket::error;

void expect(failure_kind kind, std::initializer_list<error_code> codes) {
    for (error_code const& code : codes) {
        EXPECT_EQ(static_cast<int>(classify(code).kind), static_cast<int>(kind))
            << code << ' ' << code.message();
        EXPECT_EQ(static_cast<int>(classify(code).effect), static_cast<int>(effect::possible)) << code;
    }
}

TEST(foreign_codes, decision_54_of_beast_have_these_numbers) {
    expect(failure_kind::timeout, {beast::error::timeout});
    expect(failure_kind::transient, {http_error::end_of_stream, http_error::partial_message,
                                     http_error::bad_alloc, websocket_error::closed});
    expect(failure_kind::permanent, {http_error::need_more,
                                     http_error::unexpected_body,
                                     http_error::need_buffer,
                                     http_error::end_of_chunk,
                                     http_error::buffer_overflow,
                                     http_error::header_limit,
                                     http_error::body_limit,
                                     http_error::bad_line_ending,
                                     http_error::bad_method,
                                     http_error::bad_target,
                                     http_error::bad_version,
                                     http_error::bad_status,
                                     http_error::bad_reason,
                                     http_error::bad_field,
                                     http_error::bad_value,
                                     http_error::bad_content_length,
                                     http_error::bad_transfer_encoding,
                                     http_error::bad_chunk,
                                     http_error::bad_chunk_extension,
                                     http_error::bad_obs_fold,
                                     http_error::multiple_content_length,
                                     http_error::stale_parser,
                                     http_error::short_read});
    expect(failure_kind::permanent,
           {websocket_error::buffer_overflow, websocket_error::message_too_big,
            websocket_error::bad_http_version, websocket_error::no_upgrade, websocket_error::bad_sec_accept,
            websocket_error::upgrade_declined, websocket_error::bad_opcode, websocket_error::bad_masked_frame,
            websocket_error::bad_close_payload});
}

#ifdef ASIO_RETRY_TEST_OPENSSL
namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;

error_code of_openssl(int library, int reason) {
    return error_code(static_cast<int>(ERR_PACK(library, 0, reason)), asio::error::get_ssl_category());
}

TEST(foreign_codes, decision_54_of_openssl_have_these_numbers) {
    expect(failure_kind::transient,
           {of_openssl(ERR_LIB_SSL, SSL_R_PROTOCOL_IS_SHUTDOWN),
            of_openssl(ERR_LIB_SSL, SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC),
            of_openssl(ERR_LIB_SSL, SSL_R_SSLV3_ALERT_BAD_RECORD_MAC),
            of_openssl(ERR_LIB_SSL, SSL_R_TLSV1_ALERT_INTERNAL_ERROR),
            of_openssl(ERR_LIB_SSL, SSL_R_TLSV1_ALERT_USER_CANCELLED), ssl::error::stream_truncated});
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
    expect(failure_kind::transient, {of_openssl(ERR_LIB_SSL, SSL_R_UNEXPECTED_EOF_WHILE_READING)});
#endif
    expect(failure_kind::permanent,
           {of_openssl(ERR_LIB_SSL, SSL_R_CERTIFICATE_VERIFY_FAILED),
            of_openssl(ERR_LIB_SSL, SSL_R_TLSV1_ALERT_UNKNOWN_CA),
            of_openssl(ERR_LIB_SSL, SSL_R_TLSV1_ALERT_PROTOCOL_VERSION),
            of_openssl(ERR_LIB_SSL, SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE),
            of_openssl(ERR_LIB_SSL, SSL_R_WRONG_VERSION_NUMBER), of_openssl(ERR_LIB_X509, 134),
            of_openssl(ERR_LIB_EVP, SSL_R_PROTOCOL_IS_SHUTDOWN)});
}

/// A server whose certificate nobody but itself has signed.
ssl::context self_signed() {
    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(nullptr, EVP_PKEY_free);
    std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> maker(
        EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nullptr), EVP_PKEY_CTX_free);
    EVP_PKEY* made = nullptr;
    EVP_PKEY_keygen_init(maker.get());
    EVP_PKEY_keygen(maker.get(), &made);
    key.reset(made);
    std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<unsigned char const*>("x"), -1, -1,
                               0);
    X509_set_issuer_name(certificate.get(), name);
    X509_sign(certificate.get(), key.get(), nullptr);
    ssl::context context(ssl::context::tls_server);
    EXPECT_EQ(SSL_CTX_use_certificate(context.native_handle(), certificate.get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context.native_handle(), key.get()), 1);
    return context;
}

asio::awaitable<void> serve(tcp::acceptor& acceptor, ssl::context& context, int& connections) {
    for (;;) {
        error_code ec;
        tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        if (ec)
            co_return;
        ++connections;
        ssl::stream<tcp::socket> stream(std::move(socket), context);
        co_await stream.async_handshake(ssl::stream_base::server,
                                        asio::redirect_error(asio::use_awaitable, ec));
    }
}

TEST(foreign_codes, decision_54_a_certificate_that_is_not_trusted_costs_one_handshake) {
    ssl::context server = self_signed();
    ssl::context client(ssl::context::tls_client);
    client.set_verify_mode(ssl::verify_peer);
    asio::io_context io(1);
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    int connections = 0;
    error_code last;
    asio::co_spawn(io, serve(acceptor, server, connections), asio::detached);
    auto const connect = [&]() -> asio::awaitable<void> {
        ssl::stream<tcp::socket> stream(co_await asio::this_coro::executor, client);
        co_await stream.next_layer().async_connect(acceptor.local_endpoint(), asio::use_awaitable);
        co_await stream.async_handshake(ssl::stream_base::client, asio::use_awaitable);
    };
    auto const ask = [&]() -> asio::awaitable<void> {
        auto const policy = retry_policy().backoff(constant(std::chrono::milliseconds(1))).max_attempts(5);
        try {
            co_await async_retry(connect, policy);
        } catch (boost::system::system_error const& e) {
            last = e.code();
        }
        acceptor.close();
    };
    asio::co_spawn(io, ask(), asio::detached);
    io.run();
    EXPECT_EQ(connections, 1);
    EXPECT_EQ(last, of_openssl(ERR_LIB_SSL, SSL_R_CERTIFICATE_VERIFY_FAILED)) << last.message();
}
#endif

} // namespace
} // namespace asio_retry::test
