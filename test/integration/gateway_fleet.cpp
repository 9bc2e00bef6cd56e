// Three gateways with one budget in a real Redis, which hangs, is killed and is started again.
#include "fleet/redis_process.hpp"
#include "integration/child_process.hpp"
#include "integration/own_folder.hpp"
#include "integration/ports.hpp"
#include "integration/redis_client.hpp"
#include "integration/run_with_programs.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace http = boost::beast::http;
using namespace std::chrono_literals;

using request = http::request<http::empty_body>;
using response = http::response<http::string_body>;

std::string gateway_program, redis_server;

constexpr double ratio = 0.1;             // what a success earns
constexpr std::size_t of_the_store = 100; // what it has at first, and at most

/// Answers every request with 200, or with 503, and counts them.
class upstream {
public:
    upstream() {
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }
    ~upstream() {
        io_.stop();
        thread_.join();
    }
    upstream(upstream const&) = delete;
    upstream& operator=(upstream const&) = delete;

    unsigned short port() const { return acceptor_.local_endpoint().port(); }
    void answer_with(http::status status) { status_ = status; }
    std::size_t hits() const noexcept { return hits_; }

private:
    asio::awaitable<void> accept() {
        for (;;)
            asio::co_spawn(io_, serve(co_await acceptor_.async_accept(asio::use_awaitable)), asio::detached);
    }

    asio::awaitable<void> serve(tcp::socket client) {
        boost::beast::flat_buffer buffer;
        for (;;) {
            http::request<http::string_body> question;
            co_await http::async_read(client, buffer, question, asio::use_awaitable);
            ++hits_;
            response answer(status_.load(), 11);
            answer.prepare_payload();
            co_await http::async_write(client, answer, asio::use_awaitable);
        }
    }

    std::atomic<http::status> status_ = http::status::ok;
    std::atomic<std::size_t> hits_ = 0;
    asio::io_context io_{1};
    tcp::acceptor acceptor_{io_, on_loopback(0)};
    std::thread thread_;
};

/// An answer for breakers, so that none opens and retries go on.
constexpr auto busy = http::status::too_many_requests;

using statuses = std::map<unsigned, std::size_t>;

asio::awaitable<void> ask(unsigned short port, std::size_t& left, statuses& seen) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(on_loopback(port), asio::use_awaitable);
    socket.set_option(tcp::no_delay(true));
    boost::beast::flat_buffer buffer;
    request question(http::verb::get, "/page", 11);
    question.set(http::field::host, "localhost");
    while (left != 0) {
        --left;
        co_await http::async_write(socket, question, asio::use_awaitable);
        response answer;
        co_await http::async_read(socket, buffer, answer, asio::use_awaitable);
        ++seen[answer.result_int()];
    }
}

class gateway {
public:
    gateway(std::filesystem::path const& folder, unsigned short upstream, std::string budget)
        : port_(free_port()) {
        std::vector<std::string> arguments{gateway_program,
                                           "--listen",
                                           "127.0.0.1:" + std::to_string(port_),
                                           "--upstream",
                                           "127.0.0.1:" + std::to_string(upstream),
                                           "--policy",
                                           "constant(10ms) no_jitter() max_attempts(4) attempt_timeout(1s)",
                                           "--quiet",
                                           "--budget",
                                           std::move(budget)};
        process_.emplace(std::move(arguments), folder / ("log" + std::to_string(port_)));
        wait_until_it_answers(port_);
    }

    /// What its clients get: eight at a time, so many requests.
    statuses load(std::size_t requests) {
        asio::io_context io;
        statuses seen;
        for (int client = 0; client != 8; ++client)
            asio::co_spawn(io, ask(port_, requests, seen), [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(e);
            });
        io.run();
        return seen;
    }

    /// The sum over all labels.
    double metric(std::string const& name) {
        asio::io_context io;
        tcp::socket socket(io);
        socket.connect(on_loopback(port_));
        request question(http::verb::get, "/metrics", 11);
        question.set(http::field::host, "localhost");
        http::write(socket, question);
        boost::beast::flat_buffer buffer;
        response answer;
        http::read(socket, buffer, answer);
        std::istringstream text(answer.body());
        double sum = 0;
        for (std::string line; std::getline(text, line);)
            if (line.starts_with(name + ' ') || line.starts_with(name + '{'))
                sum += std::strtod(line.c_str() + line.rfind(' '), nullptr);
        return sum;
    }

    /// Attempts beyond the first of each request. A breaker that is open refuses some of them.
    std::size_t retries() { return static_cast<std::size_t>(metric("asio_retry_retries_total")); }

    int end() {
        process_->send(SIGTERM);
        return process_->wait();
    }

private:
    unsigned short port_;
    std::optional<child_process> process_;
};

class fleet_of_gateways : public test_in_folder {
protected:
    fleet_of_gateways()
        : test_in_folder("fleet") {}

    /// Databases of their own make budgets of their own.
    void start(bool with_one_budget) {
        gateways.clear();
        for (int i = 0; i != 3; ++i)
            gateways.push_back(std::make_unique<gateway>(folder, server.port(),
                                                         "redis://127.0.0.1:" + std::to_string(redis.port()) +
                                                             '/' + std::to_string(with_one_budget ? 0 : i)));
    }

    /// Each gateway has so many successes at least, and its breaker is closed. Returns how many at most.
    std::size_t earn(std::size_t successes) {
        server.answer_with(http::status::ok);
        std::size_t most = 0;
        for (auto const& each : gateways) {
            std::size_t had = 0;
            for (auto const end = std::chrono::steady_clock::now() + 1min;;) {
                statuses const seen = each->load(successes);
                if (seen.contains(200))
                    had += seen.at(200);
                if (!seen.contains(503))
                    break;
                if (std::chrono::steady_clock::now() > end)
                    throw std::runtime_error("the breaker stays open");
            }
            most = std::max(most, had);
        }
        server.answer_with(busy);
        return most;
    }

    /// How often a gateway tries again, while nothing succeeds.
    std::size_t retries(gateway& by, std::size_t requests) {
        std::size_t const before = by.retries();
        statuses seen = by.load(requests); // 503 where the budget refused only after the wait
        EXPECT_EQ(seen[unsigned(busy)] + seen[503], requests) << "and nobody was made to wait";
        return by.retries() - before;
    }

    fleet::redis_process redis{redis_server};
    upstream server;
    std::vector<std::unique_ptr<gateway>> gateways;
};

/// With three budgets there would be three times as much: the control.
TEST_F(fleet_of_gateways, retries_no_more_together_than_their_one_budget_allows) {
    constexpr std::size_t successes = 100;
    for (bool const with_one_budget : {true, false}) {
        redis_client(redis.port()).command({"FLUSHALL"});
        start(with_one_budget);
        EXPECT_EQ(earn(successes), successes);
        EXPECT_EQ(redis_client(redis.port()).command({"DBSIZE"})->integer, 0) << "asked while nothing failed";
        auto const allowed = of_the_store + static_cast<std::size_t>(3 * ratio * successes);
        std::size_t total = 0;
        auto const end = std::chrono::steady_clock::now() + 20s;
        for (int round = 0;
             with_one_budget ? round != 8 : total <= allowed && std::chrono::steady_clock::now() < end; ++round)
            for (auto const& each : gateways)
                total += retries(*each, 150);
        if (with_one_budget) {
            EXPECT_GT(total, 0u);
            EXPECT_LE(total, allowed);
        } else {
            EXPECT_GT(total, allowed);
        }
        std::cout << total << " retries of three gateways with "
                  << (with_one_budget ? "one budget" : "three budgets") << ", where one allows " << allowed
                  << '\n';
    }
}

TEST_F(fleet_of_gateways, live_on_a_tenth_of_their_own_without_the_redis_and_share_again) {
    start(true);
    std::size_t successes = earn(50);
    for (auto const& each : gateways) {
        retries(*each, 100);
        EXPECT_EQ(each->metric("gateway_fleet_budget_shared"), 1);
    }
    for (bool const hangs : {true, false}) {
        hangs ? redis.pause() : redis.kill();
        std::vector<double> held;
        for (auto const& each : gateways)
            held.push_back(each->metric("gateway_fleet_budget_held"));
        successes += earn(300);
        for (std::size_t i = 0; i != gateways.size(); ++i) {
            std::size_t spent = 0;
            auto const end = std::chrono::steady_clock::now() + 20s; // after an empty store it asks later
            do {
                ASSERT_LT(std::chrono::steady_clock::now(), end) << i;
                spent += retries(*gateways[i], 150);
            } while (gateways[i]->metric("gateway_fleet_budget_shared") != 0);
            spent += retries(*gateways[i], 150);
            // What it had here, and what it has ever earned.
            EXPECT_LE(static_cast<double>(spent), held[i] + ratio * static_cast<double>(successes)) << i;
        }
        hangs ? redis.go_on() : redis.restart();
        auto const back = std::chrono::steady_clock::now();
        for (auto const& each : gateways) {
            while (each->metric("gateway_fleet_budget_shared") == 0) {
                ASSERT_LT(std::chrono::steady_clock::now(), back + 20s);
                retries(*each, 50);
            }
        }
    }
}

TEST_F(fleet_of_gateways, end_when_they_are_told_to) {
    start(true);
    earn(10);
    retries(*gateways[0], 50);
    redis.pause();
    EXPECT_EQ(gateways[0]->end(), 0) << "it has asked before";
    EXPECT_EQ(gateways[1]->end(), 0) << "it has asked nothing";
    redis.kill();
    EXPECT_EQ(gateways[2]->end(), 0);
}

TEST_F(fleet_of_gateways, may_need_a_password) {
    redis_client(redis.port()).command({"CONFIG", "SET", "requirepass", "secret"});
    std::string const server_and_database = "@127.0.0.1:" + std::to_string(redis.port()) + "/2";
    gateway with_password(folder, server.port(), "redis://:secret" + server_and_database);
    gateway with_another(folder, server.port(), "redis://:guess" + server_and_database);
    server.answer_with(busy);
    for (gateway* each : {&with_password, &with_another})
        retries(*each, 100);
    EXPECT_EQ(with_password.metric("gateway_fleet_budget_shared"), 1);
    EXPECT_EQ(with_another.metric("gateway_fleet_budget_shared"), 0);
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&gateway_program, &redis_server}, "redis-server");
}
