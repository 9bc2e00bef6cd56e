// Asks a server over TLS. Each attempt has a connection and a TLS session of its own.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/fresh_connection.hpp>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include <iostream>
#include <string>

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using namespace std::chrono_literals;

// One attempt: a line to the server, and the line that it answers.
asio::awaitable<std::string> ask(ssl::context& trusted, std::string host, std::string port,
                                 asio_retry::attempt a) {
    ssl::stream<tcp::socket> stream(co_await asio::this_coro::executor, trusted);
    stream.set_verify_callback(ssl::host_name_verification(host));  // the certificate must name this host
    SSL_set_tlsext_host_name(stream.native_handle(), host.c_str()); // for a server of many hosts (SNI)
    co_await asio_retry::fresh_connection(stream.next_layer(), host, port)(asio::use_awaitable);
    co_await stream.async_handshake(ssl::stream_base::client, asio::use_awaitable);
    a.mark_sent(); // a failure up to here is retried, and a failure from here on is not
    co_await asio::async_write(stream, asio::buffer("hello\n", 6), asio::use_awaitable);
    std::string answer;
    co_await asio::async_read_until(stream, asio::dynamic_buffer(answer), '\n', asio::use_awaitable);
    co_return answer; // the answer is whole: it has the end of its line
}

void print(asio_retry::retry_event const& e) {
    std::cout << e << std::endl; // one line: what failed, and what follows
}

asio::awaitable<void> session(std::string host, std::string port, std::string certificates) {
    ssl::context trusted(ssl::context::tls_client);
    boost::system::error_code unread;
    trusted.load_verify_file(certificates, unread); // or set_default_verify_paths(): those of the system
    if (unread)
        std::cerr << certificates << ": " << unread.message() << '\n'; // and no certificate is trusted
    trusted.set_verify_mode(ssl::verify_peer); // without this line every certificate is accepted
    auto const policy = asio_retry::retry_policy()
                            .backoff(asio_retry::exponential(50ms).cap(1s))
                            .attempt_timeout(5s)
                            .unlimited_attempts()
                            .total_timeout(60s)
                            .retry_sent(false)
                            .on_retry(print)
                            .on_give_up(print);
    auto attempt = [&](asio_retry::attempt a) { return ask(trusted, host, port, a); };
    std::cout << co_await asio_retry::async_retry(attempt, policy);
}

int main(int argc, char** argv) {
    if (argc != 4) {
        std::cerr << "usage: ask HOST PORT CERTIFICATES\n";
        return 2;
    }
    asio::io_context io;
    auto done = asio::co_spawn(io, session(argv[1], argv[2], argv[3]), asio::use_future);
    io.run();
    try {
        done.get();
    } catch (boost::system::system_error const&) { // on_give_up has logged it
        return 1;
    }
}
