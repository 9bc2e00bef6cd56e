#pragma once

#include "child_process.hpp"
#include "ports.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// The gateway of example/gateway, a server behind it, and clients before it.

namespace asio_retry::test {

namespace http = boost::beast::http;
using question = http::request<http::string_body>;
using answer = http::response<http::string_body>;

inline std::string gateway_program;

/// Answers on a thread of its own.
class test_server {
public:
    /// `reply` is called on that thread. Without an answer the connection is closed.
    using reply = std::function<asio::awaitable<std::optional<answer>>(question const&)>;

    explicit test_server(reply r)
        : reply_(std::move(r)) {
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::jthread([this] { io_.run(); });
    }
    ~test_server() { io_.stop(); }
    test_server(test_server const&) = delete;
    test_server& operator=(test_server const&) = delete;

    unsigned short port() const { return acceptor_.local_endpoint().port(); }
    asio::io_context& context() noexcept { return io_; }

private:
    asio::awaitable<void> accept() {
        for (;;)
            asio::co_spawn(io_, serve(co_await acceptor_.async_accept(asio::use_awaitable)), asio::detached);
    }

    asio::awaitable<void> serve(tcp::socket client) {
        boost::beast::flat_buffer buffer;
        for (;;) {
            question q;
            co_await http::async_read(client, buffer, q, asio::use_awaitable);
            auto a = co_await reply_(q);
            if (!a)
                break;
            a->prepare_payload();
            co_await http::async_write(client, *a, asio::use_awaitable);
        }
    }

    reply const reply_;
    asio::io_context io_{1};
    tcp::acceptor acceptor_{io_, on_loopback(0)};
    std::jthread thread_;
};

inline question question_for(std::string const& target, http::verb method = http::verb::get) {
    question q(method, target, 11);
    q.set(http::field::host, "localhost");
    q.prepare_payload();
    return q;
}

/// What somebody answers, on a connection of its own.
inline answer ask(unsigned short port, question const& q) {
    asio::io_context io;
    tcp::socket socket(io);
    socket.connect(on_loopback(port));
    http::write(socket, q);
    boost::beast::flat_buffer buffer;
    answer a;
    http::read(socket, buffer, a);
    return a;
}

/// What clients have seen.
struct outcome {
    std::size_t requests = 0;
    std::size_t lost = 0; ///< no answer
    std::map<unsigned, std::size_t> statuses;
    std::set<std::string> answered; ///< the field `X-Id` of these requests

    std::size_t had(unsigned status) const {
        auto const found = statuses.find(status);
        return found == statuses.end() ? 0 : found->second;
    }
    std::size_t failures() const { return requests - had(200); }
};

/// What `load` is to do.
struct load_options {
    http::verb method = http::verb::get;
    std::function<void(std::size_t)> between = {}; ///< called before each request, with its number
    int clients = 4;
};

inline asio::awaitable<void> ask_again_and_again(unsigned short port, std::size_t count,
                                                 load_options const& options, outcome& total) {
    static std::size_t next_id = 0;
    std::optional<tcp::socket> socket;
    boost::beast::flat_buffer buffer;
    while (total.requests != count) {
        if (options.between)
            options.between(total.requests);
        question q = question_for("/page", options.method);
        q.set("X-Id", std::to_string(next_id++));
        ++total.requests;
        try {
            if (!socket) {
                socket.emplace(co_await asio::this_coro::executor);
                co_await socket->async_connect(on_loopback(port), asio::use_awaitable);
                socket->set_option(tcp::no_delay(true));
            }
            co_await http::async_write(*socket, q, asio::use_awaitable);
            answer a;
            co_await http::async_read(*socket, buffer, a, asio::use_awaitable);
            ++total.statuses[a.result_int()];
            total.answered.insert(std::string(q["X-Id"]));
            if (!a.keep_alive())
                socket.reset();
        } catch (boost::system::system_error const&) {
            ++total.lost;
            socket.reset();
            buffer.clear();
        }
    }
}

/// Clients, each on a connection that lasts, until `count` requests have ended.
inline outcome load(unsigned short port, std::size_t count, load_options const& options = {}) {
    asio::io_context io;
    outcome total;
    for (int client = 0; client != options.clients; ++client)
        asio::co_spawn(io, ask_again_and_again(port, count, options, total), [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
    io.run();
    return total;
}

/// A gateway that runs.
class gateway_process {
public:
    gateway_process(std::vector<std::string> const& options, std::filesystem::path const& log)
        : process_(command(port_, options), log) {
        wait_until_it_answers(port_);
    }

    static std::vector<std::string> command(unsigned short port, std::vector<std::string> const& options) {
        std::vector<std::string> result{gateway_program, "--listen", "127.0.0.1:" + std::to_string(port)};
        result.insert(result.end(), options.begin(), options.end());
        return result;
    }

    unsigned short port() const noexcept { return port_; }
    child_process& process() noexcept { return process_; }

    /// The sum over all labels that the name leaves open.
    double metric(std::string const& name) const {
        std::istringstream text(ask(port_, question_for("/metrics")).body());
        double sum = 0;
        for (std::string line; std::getline(text, line);)
            if (line.starts_with(name + ' ') || line.starts_with(name + '{'))
                sum += std::strtod(line.c_str() + line.rfind(' '), nullptr);
        return sum;
    }

    int end() {
        process_.send(SIGTERM);
        return process_.wait();
    }

private:
    unsigned short const port_ = free_port();
    child_process process_;
};

} // namespace asio_retry::test
