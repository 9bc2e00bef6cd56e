#include "demo.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <chrono>
#include <utility>

namespace gateway {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> say_hello(tcp::socket client) {
    boost::beast::flat_buffer buffer;
    for (;;) {
        http::request<http::string_body> question;
        co_await http::async_read(client, buffer, question, asio::use_awaitable);
        http::response<http::string_body> answer(http::status::ok, question.version());
        answer.keep_alive(question.keep_alive());
        answer.body() = "hello\n";
        answer.prepare_payload();
        co_await http::async_write(client, answer, asio::use_awaitable);
    }
}

asio::awaitable<void> ask_on_one_connection(tcp::endpoint gateway, std::chrono::milliseconds pause) {
    tcp::socket socket(co_await asio::this_coro::executor);
    asio::steady_timer timer(socket.get_executor());
    boost::beast::flat_buffer buffer;
    co_await socket.async_connect(gateway, asio::use_awaitable);
    for (;;) {
        http::request<http::string_body> question(http::verb::get, "/hello", 11);
        question.set(http::field::host, "localhost");
        co_await http::async_write(socket, question, asio::use_awaitable);
        http::response<http::string_body> answer;
        co_await http::async_read(socket, buffer, answer, asio::use_awaitable);
        timer.expires_after(pause);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

asio::awaitable<void> accept_clients(tcp::acceptor& acceptor) {
    for (;;) {
        tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(acceptor.get_executor(), say_hello(std::move(client)), asio::detached);
    }
}

} // namespace

demo_server::running::running(tcp::endpoint const& where)
    : acceptor(io, where) {
    asio::co_spawn(io, accept_clients(acceptor), asio::detached);
    thread = std::jthread([this] { io.run(); });
}

demo_server::demo_server()
    : reserved_(io_, tcp::v4()) {
    reserved_.set_option(tcp::acceptor::reuse_address(true));
    reserved_.bind({asio::ip::address_v4::loopback(), 0});
    start();
}

bool demo_server::runs() const {
    std::lock_guard const lock(mutex_);
    return running_.has_value();
}

void demo_server::start() {
    std::lock_guard const lock(mutex_);
    if (!running_)
        running_.emplace(endpoint());
}

void demo_server::stop() {
    std::lock_guard const lock(mutex_);
    running_.reset();
}

std::vector<tcp::endpoint> demo::endpoints() const {
    std::vector<tcp::endpoint> result;
    for (demo_server const& each : servers_)
        result.push_back(each.endpoint());
    return result;
}

void demo::ask(tcp::endpoint const& gateway) {
    for (std::chrono::milliseconds const pause : {90ms, 100ms, 110ms})
        asio::co_spawn(io_, ask_on_one_connection(gateway, pause), asio::detached);
    clients_ = std::jthread([this] { io_.run(); });
}

} // namespace gateway
