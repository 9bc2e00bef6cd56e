#include "demo.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace gateway {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

asio::awaitable<void> serve(std::shared_ptr<tcp::socket> client) {
    boost::beast::flat_buffer buffer;
    for (;;) {
        http::request<http::string_body> question;
        co_await http::async_read(*client, buffer, question, asio::use_awaitable);
        http::response<http::string_body> answer(http::status::ok, question.version());
        answer.keep_alive(question.keep_alive());
        answer.body() = "hello\n";
        answer.prepare_payload();
        co_await http::async_write(*client, answer, asio::use_awaitable);
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

} // namespace

demo::server::server(asio::io_context& io)
    : reserved(io, tcp::v4())
    , acceptor(io) {
    reserved.set_option(tcp::acceptor::reuse_address(true));
    reserved.bind({asio::ip::address_v4::loopback(), 0});
    endpoint = reserved.local_endpoint();
    open();
}

void demo::server::open() {
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen();
}

demo::demo(std::size_t servers) {
    for (std::size_t i = 0; i != servers; ++i)
        asio::co_spawn(io_, accept(servers_.emplace_back(io_)), asio::detached);
    thread_ = std::jthread([this] {
        auto const work = asio::make_work_guard(io_);
        io_.run();
    });
}

demo::~demo() {
    io_.stop();
}

std::vector<tcp::endpoint> demo::endpoints() const {
    std::vector<tcp::endpoint> result;
    for (server const& each : servers_)
        result.push_back(each.endpoint);
    return result;
}

void demo::stop(std::size_t index) {
    server& chosen = servers_[index];
    if (!chosen.runs.exchange(false))
        return;
    asio::post(io_, [&chosen] {
        boost::system::error_code ignored;
        chosen.acceptor.close(ignored);
        for (auto const& each : std::exchange(chosen.clients, {}))
            if (auto const client = each.lock())
                client->close(ignored);
    });
}

void demo::start(std::size_t index) {
    server& chosen = servers_[index];
    if (chosen.runs.exchange(true))
        return;
    asio::co_spawn(
        io_,
        [](server& it) -> asio::awaitable<void> {
            it.open();
            co_await accept(it);
        }(chosen),
        asio::detached);
}

asio::awaitable<void> demo::accept(server& server) {
    for (;;) {
        auto const client =
            std::make_shared<socket>(co_await server.acceptor.async_accept(asio::use_awaitable));
        std::erase_if(server.clients, [](auto const& each) { return each.expired(); });
        server.clients.push_back(client);
        asio::co_spawn(client->get_executor(), serve(client), asio::detached);
    }
}

void demo::ask(tcp::endpoint const& gateway) {
    for (std::chrono::milliseconds const pause : {90ms, 100ms, 110ms})
        asio::co_spawn(io_, ask_on_one_connection(gateway, pause), asio::detached);
}

} // namespace gateway
