// A server that asks a backend for its answers. On SIGTERM every client still gets one; a second signal cancels
// the rest.
#include <asio_retry/async_retry.hpp>

#include <boost/asio.hpp>

#include <csignal>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

int requests_under_way = 0;

// Stands for the backend: it answers "slow" slowly, and refuses everything else.
asio::awaitable<std::string> ask_backend(std::string question) {
    if (++requests_under_way == 2)
        std::raise(SIGTERM); // an operator stops this server while both requests run
    if (question != "slow\n")
        throw boost::system::system_error(asio::error::connection_refused);
    asio::steady_timer timer(co_await asio::this_coro::executor, 50ms);
    co_await timer.async_wait(asio::use_awaitable);
    co_return "an answer\n";
}

auto const policy =
    asio_retry::retry_policy().backoff(asio_retry::constant(1h)).jitter(asio_retry::no_jitter());

struct server {
    explicit server(asio::io_context& io)
        : acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0))
        , reads(io)
        , requests(io) {}

    tcp::acceptor acceptor;
    asio_retry::retry_scope reads;    // sessions that wait for a question
    asio_retry::retry_scope requests; // sessions that answer a question
};

asio::awaitable<void> session(tcp::socket client, server& all) {
    std::string read;
    auto const next = [&] {
        return asio::async_read_until(client, asio::dynamic_buffer(read), '\n', asio::use_awaitable);
    };
    for (;;) {
        // One attempt, so that the scope reaches the read. It throws when the client has left, or at the
        // shutdown.
        std::size_t const size = co_await asio_retry::async_retry(all.reads, next, policy.max_attempts(1));
        std::string const question = read.substr(0, size);
        read.erase(0, size);
        std::string answer;
        try {
            answer =
                co_await asio_retry::async_retry(all.requests, [&] { return ask_backend(question); }, policy);
        } catch (boost::system::system_error const& e) {
            answer = "sorry: " + e.code().message() + "\n";
        }
        co_await asio::async_write(client, asio::buffer(answer), asio::use_awaitable);
    }
}

asio::awaitable<void> accept(server& all) {
    for (;;) {
        tcp::socket client = co_await all.acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(all.acceptor.get_executor(), session(std::move(client), all), asio::detached);
    }
}

asio::awaitable<void> shut_down(server& all) {
    asio::signal_set signals(co_await asio::this_coro::executor, SIGINT, SIGTERM);
    co_await signals.async_wait(asio::use_awaitable);
    all.acceptor.close(); // no more clients
    all.reads.cancel();   // and no more questions
    signals.async_wait([&](boost::system::error_code ec, int) { ec ? void() : all.requests.cancel(); });
    std::size_t const cancelled = co_await all.requests.async_drain(5s, asio::use_awaitable);
    std::cout << "drained, " << cancelled << " requests had to be cancelled\n";
}

asio::awaitable<void> client(tcp::endpoint server, std::string question, std::string& answer) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio::use_awaitable);
    co_await asio::async_write(socket, asio::buffer(question), asio::use_awaitable);
    boost::system::error_code ec; // end of file, when the server has closed the connection
    co_await asio::async_read(socket, asio::dynamic_buffer(answer),
                              asio::redirect_error(asio::use_awaitable, ec));
    answer += ec.message() + "\n";
}

int main() {
    asio::io_context io(1);
    server all(io);
    asio::co_spawn(io, shut_down(all), asio::detached);
    asio::co_spawn(io, accept(all), asio::detached);

    std::string slow, refused, idle;
    asio::co_spawn(io, client(all.acceptor.local_endpoint(), "", idle), asio::detached);
    asio::co_spawn(io, client(all.acceptor.local_endpoint(), "slow\n", slow), asio::detached);
    asio::co_spawn(io, client(all.acceptor.local_endpoint(), "other\n", refused), asio::detached);
    io.run(); // until every session has written its answer
    std::cout << "idle: " << idle << "slow: " << slow << "other: " << refused;
}
