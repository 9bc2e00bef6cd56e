// The program of doc/guide/tls.md before the server of OpenSSL, which is restarted and has wrong certificates,
// and before a server that breaks off where the test wants it.
#include "child_process.hpp"
#include "own_folder.hpp"
#include "ports.hpp"
#include "run_with_programs.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#ifdef BOOST_ASIO_SEPARATE_COMPILATION
#include <boost/asio/ssl/impl/src.hpp>
#endif
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace ssl = asio::ssl;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

std::string tls_program, openssl_program;

template <typename T, auto Free>
struct free_with {
    void operator()(T* p) const { Free(p); }
};

/// Writes a certificate that has signed itself, and its key, into one file.
void write_certificate(std::filesystem::path const& file, std::string const& host, std::chrono::seconds valid) {
    std::unique_ptr<EVP_PKEY_CTX, free_with<EVP_PKEY_CTX, EVP_PKEY_CTX_free>> const maker(
        EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nullptr));
    EVP_PKEY* made = nullptr;
    EVP_PKEY_keygen_init(maker.get());
    EVP_PKEY_keygen(maker.get(), &made);
    std::unique_ptr<EVP_PKEY, free_with<EVP_PKEY, EVP_PKEY_free>> const key(made);
    std::unique_ptr<X509, free_with<X509, X509_free>> const certificate(X509_new());
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -7200);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), static_cast<long>(valid.count()));
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<unsigned char const*>(host.c_str()),
                               -1, -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    X509_sign(certificate.get(), key.get(), nullptr);
    std::unique_ptr<FILE, free_with<FILE, std::fclose>> const out(std::fopen(file.c_str(), "w"));
    if (!out || !PEM_write_X509(out.get(), certificate.get()) ||
        !PEM_write_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr))
        throw std::runtime_error("cannot write " + file.string());
}

/// Closes with a reset, which a destructor does not.
void reset(ssl::stream<tcp::socket>& stream) {
    stream.next_layer().set_option(asio::socket_base::linger(true, 0));
    stream.next_layer().close();
}

/// How far a server goes with a connection.
enum class breaks_off { in_the_handshake, in_the_handshake_by_reset, before_the_answer, never };

class tls : public test_in_folder {
protected:
    tls()
        : test_in_folder("tls") {
        write_certificate(folder / "right", "localhost", 1h);
        server_context_.use_certificate_chain_file(folder / "right");
        server_context_.use_private_key_file(folder / "right", ssl::context::pem);
    }

    void start_openssl(std::string const& certificate) {
        std::string const file = folder / certificate;
        server_ = std::make_unique<child_process>(std::vector<std::string>{openssl_program, "s_server",
                                                                           "-accept", std::to_string(port_),
                                                                           "-cert", file, "-key", file, "-rev"},
                                                  folder / "server");
        wait_until_it_answers(port_);
    }

    child_process start_client() const {
        return child_process({tls_program, "localhost", std::to_string(port_), folder / "right"},
                             folder / "client");
    }

    std::string said() const {
        std::ifstream file(folder / "client");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    /// Runs the program before a server that ends its connections so, one after the other. It counts requests.
    int run_program(std::vector<breaks_off> ways) {
        tcp::acceptor acceptor(io_, on_loopback(port_));
        asio::co_spawn(io_, serve(acceptor, std::move(ways)), asio::detached);
        child_process client = start_client();
        while (client.is_running() && !io_.stopped())
            io_.run_for(10ms);
        status_ = client.wait();
        return requests_;
    }

    asio::awaitable<void> serve(tcp::acceptor& acceptor, std::vector<breaks_off> ways) {
        for (breaks_off const way : ways) {
            tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
            ++connections_;
            co_await serve(ssl::stream<tcp::socket>(std::move(socket), server_context_), way);
        }
    }

    asio::awaitable<void> serve(ssl::stream<tcp::socket> stream, breaks_off way) {
        if (way == breaks_off::in_the_handshake || way == breaks_off::in_the_handshake_by_reset) {
            std::string hello(4096, '\0');
            co_await stream.next_layer().async_read_some(asio::buffer(hello), asio::use_awaitable);
            if (way == breaks_off::in_the_handshake_by_reset)
                reset(stream);
            co_return;
        }
        co_await stream.async_handshake(ssl::stream_base::server, asio::use_awaitable);
        std::string request;
        co_await asio::async_read_until(stream, asio::dynamic_buffer(request), '\n', asio::use_awaitable);
        ++requests_;
        if (way == breaks_off::never)
            co_await asio::async_write(stream, asio::buffer("an answer\n", 10), asio::use_awaitable);
    }

    unsigned short const port_ = free_port();
    asio::io_context io_{1};
    ssl::context server_context_{ssl::context::tls_server};
    std::unique_ptr<child_process> server_;
    int connections_ = 0, requests_ = 0, status_ = -1;
};

TEST_F(tls, a_request_waits_for_a_server_that_is_restarted) {
    start_openssl("right");
    child_process first = start_client();
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(said(), "olleh\n");
    server_->send(SIGKILL);
    server_->wait();
    child_process second = start_client();
    auto const has_failed = [&] {
        if (!said().starts_with("olleh\nattempt 1: Connection refused; next attempt in "))
            throw std::runtime_error(said());
    };
    retry(has_failed, retry_policy().backoff(constant(20ms)).unlimited_attempts().max_elapsed(60s));
    start_openssl("right");
    EXPECT_EQ(second.wait(), 0);
    EXPECT_THAT(said(), testing::EndsWith("\nolleh\n"));
}

TEST_F(tls, decision_54_a_wrong_certificate_costs_one_attempt) {
    write_certificate(folder / "of_nobody", "localhost", 1h);
    write_certificate(folder / "of_another", "example.org", 1h);
    write_certificate(folder / "expired", "localhost", -1h);
    for (std::string const certificate : {"of_nobody", "of_another", "expired"}) {
        start_openssl(certificate);
        std::filesystem::remove(folder / "client");
        if (certificate != "of_nobody") // the client trusts it but for its name or its time
            std::filesystem::copy_file(folder / certificate, folder / "right",
                                       std::filesystem::copy_options::overwrite_existing);
        child_process client = start_client();
        EXPECT_EQ(client.wait(), 1);
        EXPECT_EQ(said(), "attempt 1: certificate verify failed (SSL routines); gave up: not_retryable\n")
            << certificate;
        server_.reset();
    }
}

TEST_F(tls, a_handshake_that_breaks_off_is_repeated) {
    EXPECT_EQ(
        run_program({breaks_off::in_the_handshake, breaks_off::in_the_handshake_by_reset, breaks_off::never}),
        1);
    EXPECT_EQ(status_, 0);
    EXPECT_EQ(connections_, 3);
    EXPECT_THAT(said(), StartsWith("attempt 1: stream truncated; next attempt in "));
    EXPECT_THAT(said(), HasSubstr("\nattempt 2: Connection reset by peer; next attempt in "));
    EXPECT_THAT(said(), testing::EndsWith("\nan answer\n"));
}

TEST_F(tls, a_request_without_an_answer_is_not_repeated) {
    EXPECT_EQ(run_program({breaks_off::before_the_answer, breaks_off::never}), 1);
    EXPECT_EQ(status_, 1);
    EXPECT_EQ(connections_, 1);
    EXPECT_EQ(said(), "attempt 1: stream truncated; gave up: not_retryable\n");
}

/// How a server closes a connection after its answer.
enum class closes { with_close_notify, without, by_reset };

class closed_tls : public tls {
protected:
    /// What reading to the end says.
    error_code read_to_the_end(closes how) {
        tcp::acceptor acceptor(io_, on_loopback(port_));
        error_code end;
        asio::co_spawn(io_, close(acceptor, how), asio::detached);
        asio::co_spawn(io_, read(end), asio::detached);
        io_.run();
        io_.restart();
        return end;
    }

    asio::awaitable<void> close(tcp::acceptor& acceptor, closes how) {
        ssl::stream<tcp::socket> stream(co_await acceptor.async_accept(asio::use_awaitable), server_context_);
        co_await stream.async_handshake(ssl::stream_base::server, asio::use_awaitable);
        co_await asio::async_write(stream, asio::buffer("a part", 6), asio::use_awaitable);
        if (how == closes::by_reset)
            reset(stream);
        error_code ignored;
        if (how == closes::with_close_notify)
            co_await stream.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    }

    asio::awaitable<void> read(error_code& end) {
        ssl::context trusted(ssl::context::tls_client);
        ssl::stream<tcp::socket> stream(co_await asio::this_coro::executor, trusted);
        co_await stream.next_layer().async_connect(on_loopback(port_), asio::use_awaitable);
        co_await stream.async_handshake(ssl::stream_base::client, asio::use_awaitable);
        std::string text(4096, '\0');
        while (!end)
            co_await stream.async_read_some(asio::buffer(text), asio::redirect_error(asio::use_awaitable, end));
    }
};

TEST_F(closed_tls, an_end_with_close_notify_is_told_from_a_lost_connection) {
    EXPECT_EQ(read_to_the_end(closes::with_close_notify), asio::error::eof);
    EXPECT_EQ(read_to_the_end(closes::without), ssl::error::stream_truncated);
    EXPECT_EQ(read_to_the_end(closes::by_reset), asio::error::connection_reset);
    for (error_code const code : {error_code(asio::error::eof), error_code(ssl::error::stream_truncated),
                                  error_code(asio::error::connection_reset)}) {
        EXPECT_EQ(classify(code).kind, failure_kind::transient) << code;
        EXPECT_EQ(classify(code).effect, effect::possible) << code;
    }
}

TEST_F(tls, a_shutdown_waits_for_the_server_until_a_limit) {
    tcp::acceptor acceptor(io_, on_loopback(port_));
    ssl::context trusted(ssl::context::tls_client);
    ssl::stream<tcp::socket> held(io_, server_context_);
    error_code end;
    auto const serve_one = [&]() -> asio::awaitable<void> {
        held.next_layer() = co_await acceptor.async_accept(asio::use_awaitable);
        co_await held.async_handshake(ssl::stream_base::server, asio::use_awaitable);
    };
    auto const ask = [&]() -> asio::awaitable<void> {
        ssl::stream<tcp::socket> stream(co_await asio::this_coro::executor, trusted);
        co_await stream.next_layer().async_connect(on_loopback(port_), asio::use_awaitable);
        co_await stream.async_handshake(ssl::stream_base::client, asio::use_awaitable);
        auto const limited = retry_policy().max_attempts(1).attempt_timeout(50ms);
        auto const shut_down = [&](auto token) { return stream.async_shutdown(std::move(token)); };
        co_await async_retry(shut_down, limited, asio::redirect_error(asio::use_awaitable, end));
    };
    asio::co_spawn(io_, serve_one, asio::detached);
    asio::co_spawn(io_, ask, asio::detached);
    io_.run();
    EXPECT_EQ(end, asio::error::timed_out);
}

TEST_F(tls, a_stream_whose_handshake_failed_has_no_second_one) {
    tcp::acceptor acceptor(io_, on_loopback(port_));
    ssl::context untrusting(ssl::context::tls_client);
    untrusting.set_verify_mode(ssl::verify_peer);
    ssl::stream<tcp::socket> stream(io_, untrusting);
    error_code first, second;
    auto const ask = [&]() -> asio::awaitable<void> {
        for (error_code* const ec : {&first, &second}) {
            stream.next_layer() = tcp::socket(io_);
            co_await stream.next_layer().async_connect(on_loopback(port_), asio::use_awaitable);
            co_await stream.async_handshake(ssl::stream_base::client,
                                            asio::redirect_error(asio::use_awaitable, *ec));
            stream.set_verify_mode(ssl::verify_none);
        }
        acceptor.close();
    };
    asio::co_spawn(io_, serve(acceptor, {breaks_off::never, breaks_off::never}), asio::detached);
    asio::co_spawn(io_, ask, asio::detached);
    io_.run();
    EXPECT_EQ(classify(first).kind, failure_kind::permanent) << first.message();
    EXPECT_EQ(second, ssl::error::unspecified_system_error) << "although it accepts every certificate";
    EXPECT_EQ(classify(second).kind, failure_kind::transient);
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&tls_program, &openssl_program}, "openssl");
}
