// What a server had done when a client heard of a failure: with nginx and haproxy before it, and with a reset.
#include "child_process.hpp"
#include "nginx_process.hpp"
#include "own_folder.hpp"
#include "ports.hpp"
#include "run_with_programs.hpp"

#include <asio_retry/failure_class.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

std::string haproxy_program, nginx_program;

/// Does its work as soon as a request has come, and then what it is told.
class worker {
public:
    enum class habit { lose_answer, answer_429, hang, leave };

    explicit worker(asio::io_context& io, habit does)
        : then(does)
        , acceptor_(io, on_loopback(0))
        , port_(acceptor_.local_endpoint().port()) {
        asio::co_spawn(io, accept(), asio::detached);
    }

    unsigned short port() const { return port_; }

    habit then;
    int done = 0;

private:
    asio::awaitable<void> accept() {
        for (;;)
            asio::co_spawn(acceptor_.get_executor(),
                           serve(co_await acceptor_.async_accept(asio::use_awaitable)), asio::detached);
    }

    asio::awaitable<void> serve(tcp::socket connection) {
        std::string request;
        co_await asio::async_read_until(connection, asio::dynamic_buffer(request), "\r\n\r\n",
                                        asio::use_awaitable);
        ++done;
        static constexpr std::string_view too_many =
            "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        if (then == habit::answer_429)
            co_await asio::async_write(connection, asio::buffer(too_many), asio::use_awaitable);
        if (then == habit::hang) // until the proxy gives up
            co_await asio::async_read(connection, asio::dynamic_buffer(request), asio::use_awaitable);
        if (then == habit::leave)
            acceptor_.close();
    }

    tcp::acceptor acceptor_;
    unsigned short const port_;
};

class effects_behind_a_proxy : public test_in_folder {
protected:
    effects_behind_a_proxy()
        : test_in_folder("effects") {
        std::ofstream(folder / "haproxy.conf") << R"(
defaults
    mode http
    timeout connect 1s
    timeout client 10s
    timeout server 10s
listen alone
    bind 127.0.0.1:)" << haproxy_port << R"(
    server first 127.0.0.1:)" << first.port() << R"(
listen impatient
    bind 127.0.0.1:)" << impatient_haproxy_port << R"(
    timeout server 1s
    server first 127.0.0.1:)" << first.port() << R"(
listen repeating
    bind 127.0.0.1:)" << repeating_haproxy_port << R"(
    retry-on all-retryable-errors
    retries 1
    option redispatch 1
    balance first
    server first 127.0.0.1:)" << first.port() << R"(
    server second 127.0.0.1:)" << second.port() << R"(
listen told_not_to_repeat
    bind 127.0.0.1:)" << told_haproxy_port << R"(
    http-request disable-l7-retry
    retry-on all-retryable-errors
    retries 1
    option redispatch 1
    balance first
    server first 127.0.0.1:)" << first.port() << R"(
    server second 127.0.0.1:)" << second.port() << R"(
listen repeating_at_one
    bind 127.0.0.1:)" << lonely_haproxy_port << R"(
    retry-on all-retryable-errors
    retries 1
    server first 127.0.0.1:)" << first.port() << '\n';
        haproxy.emplace(std::vector<std::string>{haproxy_program, "-db", "-f", folder / "haproxy.conf"},
                        folder / "haproxy.log");
        for (unsigned short const port : {haproxy_port, impatient_haproxy_port, repeating_haproxy_port,
                                          told_haproxy_port, lonely_haproxy_port})
            wait_until_it_answers(port);
    }

    std::string nginx_servers(free_ports const& ports) const {
        std::string const to_first = "http://127.0.0.1:" + std::to_string(first.port());
        auto const serve = [&](std::size_t i, std::string const& location) {
            return "server { listen 127.0.0.1:" + std::to_string(ports[i]) + "; location / { " + location +
                   " } }\n";
        };
        return "proxy_read_timeout 10s; limit_req_zone $server_port zone=all:1m rate=1r/m;\n"
               "upstream both { server 127.0.0.1:" +
               std::to_string(first.port()) +
               " max_fails=0; server 127.0.0.1:" + std::to_string(second.port()) + " backup; }\n" +
               serve(0, "proxy_pass " + to_first + ";") +
               serve(1, "limit_req zone=all; limit_req_status 429; proxy_pass " + to_first + ";") +
               serve(2, "proxy_pass http://both;") +
               serve(3, "proxy_next_upstream off; proxy_pass http://both;") +
               serve(4, "proxy_read_timeout 1s; proxy_pass " + to_first + ";");
    }

    /// The status of the answer.
    int ask(unsigned short port, std::string const& method) {
        auto const exchange = [&]() -> asio::awaitable<int> {
            tcp::socket connection(io);
            co_await connection.async_connect(on_loopback(port), asio::use_awaitable);
            std::string const request =
                method + " /pay HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            co_await asio::async_write(connection, asio::buffer(request), asio::use_awaitable);
            std::string answer;
            co_await asio::async_read_until(connection, asio::dynamic_buffer(answer), "\r\n",
                                            asio::use_awaitable);
            co_return std::stoi(answer.substr(9, 3)); // after "HTTP/1.1 "
        };
        first.done = second.done = 0;
        int status = 0;
        std::exception_ptr thrown;
        asio::co_spawn(io, exchange, [&](std::exception_ptr e, int got) {
            thrown = e;
            status = got;
            io.stop();
        });
        io.restart();
        io.run();
        if (thrown)
            std::rethrow_exception(thrown);
        return status;
    }

    asio::io_context io{1};
    worker first{io, worker::habit::lose_answer}, second{io, worker::habit::answer_429};
    nginx_process nginx{nginx_program, [this](free_ports const& ports) { return nginx_servers(ports); }};
    unsigned short const haproxy_port = free_port(), impatient_haproxy_port = free_port(),
                         repeating_haproxy_port = free_port(), told_haproxy_port = free_port(),
                         lonely_haproxy_port = free_port();
    std::optional<child_process> haproxy;
};

TEST_F(effects_behind_a_proxy, of_502_and_504_are_possible_as_the_work_is_done) {
    for (unsigned short const proxy : {nginx.ports()[0], haproxy_port}) {
        EXPECT_EQ(ask(proxy, "POST"), 502);
        EXPECT_EQ(first.done, 1);
    }
    first.then = worker::habit::hang;
    for (unsigned short const proxy : {nginx.ports()[4], impatient_haproxy_port}) {
        EXPECT_EQ(ask(proxy, "POST"), 504);
        EXPECT_EQ(first.done, 1);
    }
    EXPECT_EQ(classify_http(502).effect, effect::possible);
    EXPECT_EQ(classify_http(504).effect, effect::possible);
}

TEST_F(effects_behind_a_proxy, of_503_are_possible_as_haproxy_says_it_after_its_own_retry) {
    first.then = worker::habit::leave;
    EXPECT_EQ(ask(lonely_haproxy_port, "POST"), 503);
    EXPECT_GE(first.done, 1);
    EXPECT_EQ(ask(lonely_haproxy_port, "POST"), 503);
    EXPECT_EQ(first.done, 0) << "and also if nobody is there";
    EXPECT_EQ(classify_http(503).effect, effect::possible);
}

TEST_F(effects_behind_a_proxy, of_429_are_none_as_limit_req_comes_before_the_server) {
    EXPECT_EQ(ask(nginx.ports()[1], "POST"), 502);
    EXPECT_EQ(first.done, 1);
    EXPECT_EQ(ask(nginx.ports()[1], "POST"), 429);
    EXPECT_EQ(first.done, 0);
    EXPECT_EQ(classify_http(429).effect, effect::none);
}

// The second server refuses what the first has done: so the 429 is about the second alone.
TEST_F(effects_behind_a_proxy, of_429_are_not_known_if_the_proxy_repeats_requests) {
    EXPECT_EQ(ask(nginx.ports()[2], "POST"), 502);
    EXPECT_EQ(first.done, 1);
    EXPECT_EQ(second.done, 0) << "by default nginx repeats no POST";
    for (char const* const method : {"GET", "PUT", "DELETE"}) {
        EXPECT_EQ(ask(nginx.ports()[2], method), 429) << method;
        EXPECT_EQ(first.done, 1);
        EXPECT_EQ(ask(nginx.ports()[3], method), 502) << method << ", and nginx is told not to";
        EXPECT_EQ(second.done, 0);
    }
    EXPECT_EQ(ask(repeating_haproxy_port, "POST"), 429);
    EXPECT_EQ(first.done, 1);
    EXPECT_EQ(ask(told_haproxy_port, "POST"), 502) << "haproxy is told not to";
    EXPECT_EQ(first.done, 1);
    EXPECT_EQ(second.done, 0);
}

TEST(effects_of_a_reset, the_server_has_done_its_work_before_shutdown_fails_with_not_connected) {
    asio::io_context io;
    tcp::acceptor acceptor(io, on_loopback(0));
    tcp::socket client(io), served(io);
    client.connect(acceptor.local_endpoint());
    acceptor.accept(served);
    asio::write(client, asio::buffer("pay", 3));
    std::string request(3, ' ');
    asio::read(served, asio::buffer(request));
    served.set_option(asio::socket_base::linger(true, 0)); // close() resets the connection
    served.close();
    client.wait(tcp::socket::wait_read);
    boost::system::error_code failed;
    client.shutdown(tcp::socket::shutdown_send, failed);
    EXPECT_EQ(failed, asio::error::not_connected);
    EXPECT_EQ(classify(failed), failure_class(failure_kind::transient, effect::possible));
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&haproxy_program, &nginx_program}, "nginx or haproxy");
}
