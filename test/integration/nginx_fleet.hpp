#pragma once

#include "child_process.hpp"
#include "nginx_configuration.hpp"
#include "ports.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

// Several nginx that do the same, and haproxy before them.

namespace asio_retry::test {

namespace http = boost::beast::http;
using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

inline std::string gateway, haproxy, nginx; // the programs

constexpr std::chrono::milliseconds usual_delay(4);

/// How often each id was seen.
using seen_ids = std::map<std::string, std::size_t>;

/// The program behind one nginx. It answers each request after `delay`.
class application {
public:
    explicit application(asio::io_context& io)
        : acceptor_(io, on_loopback(0)) {
        asio::co_spawn(io, accept(), asio::detached);
    }

    unsigned short port() const { return acceptor_.local_endpoint().port(); }

    std::atomic<std::chrono::milliseconds> delay = usual_delay;

    /// Read it when the thread of the applications has ended.
    seen_ids seen;

private:
    asio::awaitable<void> accept() {
        for (;;)
            asio::co_spawn(acceptor_.get_executor(),
                           serve(co_await acceptor_.async_accept(asio::use_awaitable)), asio::detached);
    }

    asio::awaitable<void> serve(tcp::socket connection) {
        boost::beast::flat_buffer buffer;
        request question;
        co_await http::async_read(connection, buffer, question, asio::use_awaitable);
        ++seen[std::string(question["X-Id"])];
        asio::steady_timer timer(connection.get_executor(), delay.load());
        co_await timer.async_wait(asio::use_awaitable);
        response answer(http::status::ok, question.version());
        answer.keep_alive(false);
        answer.body() = "done\n";
        answer.prepare_payload();
        co_await http::async_write(connection, answer, asio::use_awaitable);
    }

    tcp::acceptor acceptor_;
};

/// What one nginx does besides asking its application.
struct nginx_extras {
    std::string around{};    ///< in the block `http`
    std::string before{};    ///< in the `location` of the application
    std::string locations{}; ///< beside it
};

/// An nginx with its application, always on the same port.
class server {
public:
    server(std::string program, std::filesystem::path folder, asio::io_context& io,
           nginx_extras const& extras = {})
        : behind(io)
        , program_(std::move(program))
        , folder_(std::move(folder))
        , port_(free_port()) {
        std::filesystem::create_directory(folder_);
        std::ofstream(folder_ / "nginx.conf") << nginx_in_its_folder << extras.around << R"(
    log_format seen '$http_x_id';
    access_log seen.log seen;
    server {
        listen 127.0.0.1:)" << port_ << ";\n" << extras.locations
                                              << "location / { " << extras.before
                                              << "proxy_pass http://127.0.0.1:" << behind.port() << R"(; }
    }
}
)";
        start();
    }

    unsigned short port() const noexcept { return port_; }
    std::filesystem::path const& folder() const noexcept { return folder_; }

    /// Does not wait until it answers: the clients' thread calls it.
    void start() {
        process_.emplace(std::vector<std::string>{program_, "-p", folder_.string() + '/', "-c", "nginx.conf",
                                                  "-e", "stderr"},
                         folder_ / "log");
    }

    void kill() { process_.reset(); } // SIGKILL
    void stop() { process_->send(SIGSTOP); }
    void go_on() { process_->send(SIGCONT); }

    /// Then its log is complete.
    void end() {
        if (process_) {
            process_->send(SIGQUIT);
            process_->wait();
        }
        process_.reset();
    }

    /// By nginx, or by the application. An nginx that is killed logs nothing of what it has begun.
    seen_ids seen() const {
        seen_ids result;
        std::ifstream file(folder_ / "seen.log");
        for (std::string id; file >> id;)
            ++result[id];
        for (auto const& [id, count] : behind.seen)
            result[id] = std::max(result[id], count);
        return result;
    }

    application behind;

private:
    std::string program_;
    std::filesystem::path folder_;
    unsigned short port_;
    std::optional<child_process> process_;
};

/// The servers, and the thread of their applications.
class nginx_fleet {
public:
    ~nginx_fleet() { end(); }

    void add(std::string const& program, std::filesystem::path const& folder, nginx_extras const& extras = {}) {
        servers.push_back(std::make_unique<server>(program, folder, io_, extras));
    }

    std::vector<tcp::endpoint> endpoints() const {
        std::vector<tcp::endpoint> all;
        for (auto const& each : servers)
            all.push_back(on_loopback(each->port()));
        return all;
    }

    /// Their endpoints, when all of them answer.
    std::vector<tcp::endpoint> run() {
        thread_ = std::jthread([this](std::stop_token const& token) {
            std::stop_callback const stop(token, [this] { io_.stop(); });
            io_.run();
        });
        for (auto const& each : servers)
            wait_until_it_answers(each->port());
        return endpoints();
    }

    /// Until then their logs grow.
    void end() {
        for (auto const& each : servers)
            each->kill();
        thread_ = {};
    }

private:
    asio::io_context io_{1};

public:
    std::vector<std::unique_ptr<server>> servers;

private:
    std::jthread thread_;
};

inline asio::awaitable<response> ask(tcp::endpoint where, request const& question,
                                     std::function<void()> sends = {}) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(where, asio::use_awaitable);
    socket.set_option(tcp::no_delay(true));
    if (sends)
        sends();
    co_await http::async_write(socket, question, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    response answer;
    co_await http::async_read(socket, buffer, answer, asio::use_awaitable);
    co_return answer;
}

/// The rules of the others, as far as haproxy has them: as many attempts, as long, the better of two servers
/// drawn at random, another one at each retry, half a second without a failed server, no second POST.
/// Its probes are requests of its own. `others` are lines of the block `global`.
inline std::string haproxy_before(unsigned short port, std::vector<tcp::endpoint> const& servers,
                                  std::string const& seconds, std::string const& others = {}) {
    std::string text = "global\n" + others + R"(
defaults
    mode http
    timeout connect )" +
                       seconds + R"(
    timeout client 10m
    timeout server )" + seconds +
                       R"(
    timeout queue 10s
    timeout check )" + seconds +
                       R"(
    retries 3
    option redispatch 1
    retry-on all-retryable-errors
listen servers
    bind 127.0.0.1:)" + std::to_string(port) +
                       R"(
    balance random(2)
    http-request disable-l7-retry unless METH_GET
    option httpchk GET /check
    default-server check inter 500ms fall 2 rise 1 observe layer7 error-limit 3 on-error mark-down
)";
    for (std::size_t i = 0; i != servers.size(); ++i)
        text += "    server s" + std::to_string(i) + " 127.0.0.1:" + std::to_string(servers[i].port()) + '\n';
    return text;
}

} // namespace asio_retry::test
