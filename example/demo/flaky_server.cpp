#include "flaky_server.hpp"

#include "rethrow.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/system_error.hpp>

#include <array>
#include <chrono>
#include <utility>

namespace demo {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto time_listening = 2500ms;
constexpr auto time_refusing = 600ms;

enum class behaviour { answer, say_unavailable, reset_at_once, reset_after_request, hang };

using enum behaviour;
constexpr std::array rotation{
    answer, answer,          say_unavailable, answer, reset_at_once,      answer, hang, answer,
    answer, say_unavailable, answer,          answer, reset_after_request};

void reset(tcp::socket& socket) {
    socket.set_option(asio::socket_base::linger(true, 0));
    socket.close();
}

asio::awaitable<void> reply(tcp::socket& socket, http::status status) {
    http::response<http::string_body> answer(status, 11);
    answer.keep_alive(false);
    answer.body() = http::obsolete_reason(status);
    answer.prepare_payload();
    co_await http::async_write(socket, answer, asio::use_awaitable);
    socket.shutdown(tcp::socket::shutdown_send);
}

asio::awaitable<void> behave(tcp::socket& socket, behaviour how) {
    if (how == reset_at_once) {
        reset(socket);
        co_return;
    }
    beast::flat_buffer buffer;
    http::request<http::empty_body> request;
    co_await http::async_read(socket, buffer, request, asio::use_awaitable);
    switch (how) {
    case answer:
        co_await reply(socket, http::status::ok);
        break;
    case say_unavailable:
        co_await reply(socket, http::status::service_unavailable);
        break;
    case reset_at_once:
    case reset_after_request:
        reset(socket);
        break;
    case hang:
        co_await socket.async_wait(tcp::socket::wait_read, asio::use_awaitable);
        break;
    }
}

} // namespace

flaky_server::flaky_server(asio::any_io_executor executor, journal const& log)
    : log_(log)
    , reserved_(executor, tcp::v4())
    , acceptor_(executor)
    , next_break_(executor) {
    // Bound but never listening: the port stays ours, and refuses, while the acceptor is closed.
    reserved_.set_option(asio::socket_base::reuse_address(true));
    reserved_.bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0));
}

void flaky_server::start() {
    listen();
    asio::co_spawn(next_break_.get_executor(), take_breaks(), rethrow);
}

void flaky_server::stop() {
    stopped_ = true;
    next_break_.cancel();
    error_code ignored;
    acceptor_.close(ignored);
    for (tcp::socket& socket : connections_)
        socket.close(ignored);
}

void flaky_server::listen() {
    acceptor_.open(tcp::v4());
    acceptor_.set_option(asio::socket_base::reuse_address(true));
    acceptor_.bind(endpoint());
    acceptor_.listen();
    asio::co_spawn(acceptor_.get_executor(), accept_connections(), rethrow);
}

asio::awaitable<void> flaky_server::pass(std::chrono::milliseconds time) {
    if (stopped_)
        co_return;
    next_break_.expires_after(time);
    co_await next_break_.async_wait(asio::as_tuple(asio::use_awaitable));
}

asio::awaitable<void> flaky_server::take_breaks() {
    for (;;) {
        co_await pass(time_listening);
        if (stopped_)
            co_return;
        log_.line("the server stops listening");
        acceptor_.close();

        co_await pass(time_refusing);
        if (stopped_)
            co_return;
        log_.line("the server listens again");
        listen();
    }
}

asio::awaitable<void> flaky_server::accept_connections() {
    while (acceptor_.is_open()) {
        error_code error;
        tcp::socket socket = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, error));
        if (error || stopped_)
            continue;
        connection const peer = connections_.insert(connections_.end(), std::move(socket));
        asio::co_spawn(acceptor_.get_executor(), serve(peer, accepted_++), rethrow);
    }
}

asio::awaitable<void> flaky_server::serve(connection peer, std::size_t number) {
    try {
        co_await behave(*peer, rotation[number % rotation.size()]);
    } catch (boost::system::system_error const&) {
        // The client went away, or stop() closed the connection.
    }
    connections_.erase(peer);
}

} // namespace demo
