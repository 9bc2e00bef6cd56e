// The limit of a real server: nginx, which answers 503 to requests beyond a rate.
#include "nginx_process.hpp"
#include "run_with_programs.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

std::string nginx_program;

// nginx grants a request each 10 ms, or 20. A request may come `burst` times as much too early, because others
// before it came late: timers, the network and nginx itself take their time. Without such a tolerance no client
// could use 99 % of a rate.
struct rates {
    int of_nginx = 100;
    int burst = 5;
    std::uint32_t of_client = 99;

    duration interval() const { return duration(1s) / of_nginx; }
    std::string directive() const {
        return "limit_req zone=all" + (burst ? " burst=" + std::to_string(burst) + " nodelay;" : ";");
    }
};

/// A request, as the client saw it. nginx has seen it between these times.
struct exchange {
    time_point sent, answered;
    unsigned status = 0;
};

struct outcome {
    std::vector<exchange> all; ///< in the order in which they were sent
    duration took{};

    auto refused() const {
        return std::ranges::count_if(all, [](exchange const& each) { return each.status == 503; });
    }

    /// How much too early a request may have come to nginx, by its own rule.
    duration earliness(rates const& of) const {
        duration greatest{};
        time_point arrival = all.front().sent;
        for (exchange const& each : all) {
            greatest = std::max(greatest, arrival - each.sent);
            arrival = std::max(arrival, each.answered) + of.interval();
        }
        return greatest;
    }
};

/// A client with connections that stay open, at a load of one and a half times what nginx grants.
class client {
public:
    explicit client(retry_policy policy, rates of = {}, duration lateness = {})
        : rates_(of)
        , lateness_(lateness)
        , policy_(std::move(policy))
        , nginx_(nginx_program, [of](free_ports const& ports) {
            return "limit_req_zone $server_port zone=all:1m rate=" + std::to_string(of.of_nginx) +
                   "r/s;\nkeepalive_requests 1000000;\nkeepalive_timeout 1h;\nserver { listen 127.0.0.1:" +
                   std::to_string(ports[0]) + "; location / { " + of.directive() + " empty_gif; } }\n";
        }) {}

    /// As many requests as the rate allows in this time.
    outcome run(std::chrono::seconds length) {
        auto const count = rates_.of_client * static_cast<std::uint64_t>(length.count());
        asio::co_spawn(io_, load(count), asio::detached);
        time_point const begin = std::chrono::steady_clock::now();
        io_.run();
        outcome result{std::move(exchanges_), std::chrono::steady_clock::now() - begin};
        std::ranges::sort(result.all, {}, &exchange::sent);
        EXPECT_EQ(result.all.size(), count);
        return result;
    }

private:
    asio::awaitable<void> load(std::uint64_t count) {
        for (int i = 0; i != 8; ++i)
            idle_.push_back(co_await connect());
        asio::steady_timer timer(io_, std::chrono::steady_clock::now());
        while (count-- != 0) {
            asio::co_spawn(io_, ask(), asio::detached);
            timer.expires_at(timer.expiry() + rates_.interval() * 2 / 3);
            co_await timer.async_wait(asio::use_awaitable);
        }
    }

    asio::awaitable<void> ask() {
        auto request = [this] { return make_request(); };
        co_await async_retry(request, policy_);
    }

    asio::awaitable<void> make_request() {
        if (idle_.empty())
            idle_.push_back(co_await connect());
        tcp::socket connection = std::move(idle_.back());
        idle_.pop_back();
        if (++made_ % 10 == 0 && lateness_ > 0s) {
            asio::steady_timer timer(io_, lateness_);
            co_await timer.async_wait(asio::use_awaitable);
        }
        exchange made;
        made.sent = std::chrono::steady_clock::now();
        static constexpr char question[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
        co_await asio::async_write(connection, asio::buffer(question, sizeof question - 1),
                                   asio::use_awaitable);
        boost::beast::flat_buffer buffer;
        http::response<http::string_body> answer;
        co_await http::async_read(connection, buffer, answer, asio::use_awaitable);
        made.answered = std::chrono::steady_clock::now();
        made.status = answer.result_int();
        exchanges_.push_back(made);
        if (answer.keep_alive())
            idle_.push_back(std::move(connection));
    }

    asio::awaitable<tcp::socket> connect() {
        tcp::socket connection(io_);
        co_await connection.async_connect({asio::ip::address_v4::loopback(), nginx_.ports()[0]},
                                          asio::use_awaitable);
        connection.set_option(tcp::no_delay(true));
        co_return connection;
    }

    asio::io_context io_{1};
    rates rates_;
    duration lateness_; // of each tenth request
    int made_ = 0;
    retry_policy policy_;
    nginx_process nginx_;
    std::vector<tcp::socket> idle_;
    std::vector<exchange> exchanges_;
};

/// Such a limit has no times for those that wait: they ask again when a second is over, all at once.
class attempts_in_a_second final : public retry_gate {
public:
    admission admit(std::uint64_t, time_point now) noexcept override {
        std::lock_guard const lock(mutex_);
        if (now >= over_) {
            over_ = now + 1s;
            count_ = 0;
        }
        return count_ < rates().of_client && ++count_ ? now : over_;
    }
    bool measures_time() const noexcept override { return true; }

private:
    std::mutex mutex_;
    time_point over_ = (time_point::min)();
    std::uint32_t count_ = 0;
};

std::chrono::seconds length() {
    char const* const text = std::getenv("ASIO_RETRY_LIMIT_REQ_SECONDS");
    return std::chrono::seconds(text ? std::stoi(text) : 5);
}

void show(std::string const& name, outcome const& result, rates const& of = {}) {
    using milliseconds = std::chrono::duration<double, std::milli>;
    std::cout << name << ": " << result.refused() << " of " << result.all.size() << " requests got 503 in "
              << std::chrono::duration<double>(result.took).count() << " s; a request came up to "
              << milliseconds(result.earliness(of)).count() << " ms too early\n";
}

retry_policy once() {
    return retry_policy().max_attempts(1);
}

retry_policy paced(rates const& of) {
    return once().gate(std::make_shared<rate_limit>(of.of_client, 1s)).wait_when_refused();
}

// A request may come too early for the tolerance because the machine was busy. Then the test is made again.
void expect_no_refusal(rates const& of) {
    for (int i = 0; i != 3; ++i) {
        outcome const result = client(paced(of), of).run(length());
        show("rate_limit at " + of.directive(), result, of);
        duration const planned = (result.all.size() - 1) * duration(1s) / of.of_client;
        EXPECT_GE(result.took, planned);
        EXPECT_LE(result.took, planned + std::max<duration>(1s, 2 * result.earliness(of)))
            << "no time is wasted";
        if (result.refused() == 0)
            return;
        ASSERT_GE(result.earliness(of), of.burst * of.interval() - 2ms) << "nginx counts in milliseconds";
    }
    GTEST_SKIP() << "this machine is too busy";
}

TEST(limit_req, decision_69_refuses_no_request_at_99_percent_of_its_rate) {
    expect_no_refusal({100, 5, 99});
}

TEST(limit_req, refuses_no_request_at_its_own_rate_if_it_has_a_burst) {
    expect_no_refusal({50, 5, 50});
}

TEST(limit_req, refuses_no_request_at_98_percent_with_a_burst_of_one) {
    expect_no_refusal({50, 1, 49});
}

// 49 of 50 a second: each request has 0.4 ms, and each tenth is 15 ms late. So the request after it is early.
TEST(limit_req, refuses_who_comes_after_a_late_request_if_it_has_no_burst) {
    rates const none{50, 0, 49}, some{50, 1, 49};
    outcome const result = client(paced(none), none, 15ms).run(std::min(length(), 5s));
    show("late requests, no burst", result, none);
    EXPECT_GT(result.refused(), 0);
    outcome const granted = client(paced(some), some, 15ms).run(std::min(length(), 5s));
    show("late requests, a burst of one", granted, some);
    EXPECT_LT(granted.refused(), result.refused());
}

TEST(limit_req, refuses_a_client_that_polls) {
    auto const polling = once().gate(std::make_shared<attempts_in_a_second>()).wait_when_refused();
    outcome const result = client(polling).run(std::min(length(), 5s));
    show("polling", result);
    EXPECT_GT(result.refused(), 0);
}

TEST(limit_req, refuses_a_client_without_a_limit) {
    outcome const result = client(once()).run(std::min(length(), 5s));
    show("no limit", result);
    EXPECT_GT(result.refused(), 0);
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&nginx_program}, "nginx");
}
