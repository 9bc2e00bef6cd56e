// Three gateways with one budget in a real Redis, which hangs, is killed and is started again.
#include "fleet/redis_process.hpp"
#include "integration/gateway_process.hpp"
#include "integration/own_folder.hpp"
#include "integration/redis_client.hpp"
#include "integration/run_with_programs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

std::string redis_server;

constexpr double ratio = 0.1;             // what a success earns
constexpr std::size_t of_the_store = 100; // what it has at first, and at most

/// An answer for breakers, so that none opens and retries go on.
constexpr auto busy = http::status::too_many_requests;

outcome eight_clients(gateway_process const& gateway, std::size_t requests) {
    return load(gateway.port(), requests, {.clients = 8});
}

class fleet_of_gateways : public test_in_folder {
protected:
    fleet_of_gateways()
        : test_in_folder("fleet") {}

    std::unique_ptr<gateway_process> make_gateway(int database, std::string const& credentials = {}) const {
        return std::make_unique<gateway_process>(
            std::vector<std::string>{"--upstream", "127.0.0.1:" + std::to_string(server.port()), "--policy",
                                     "constant(10ms) no_jitter() max_attempts(4) attempt_timeout(1s)",
                                     "--quiet", "--budget",
                                     "redis://" + credentials + "127.0.0.1:" + std::to_string(redis.port()) +
                                         '/' + std::to_string(database)},
            folder / "log");
    }

    /// Databases of their own make budgets of their own.
    void start(bool with_one_budget) {
        gateways.clear();
        for (int i = 0; i != 3; ++i)
            gateways.push_back(make_gateway(with_one_budget ? 0 : i));
    }

    /// Each gateway has so many successes at least, and its breaker is closed. Returns how many at most.
    std::size_t earn(std::size_t successes) {
        status = http::status::ok;
        std::size_t most = 0;
        for (auto const& each : gateways) {
            std::size_t had = 0;
            for (auto const end = std::chrono::steady_clock::now() + 1min;;) {
                outcome const seen = eight_clients(*each, successes);
                had += seen.had(200);
                if (seen.had(503) == 0)
                    break;
                if (std::chrono::steady_clock::now() > end)
                    throw std::runtime_error("the breaker stays open");
            }
            most = std::max(most, had);
        }
        status = busy;
        return most;
    }

    /// How often a gateway tries again, while nothing succeeds.
    std::size_t retries(gateway_process const& by, std::size_t requests) const {
        constexpr char const* count = "asio_retry_retries_total"; // without those that an open breaker refuses
        double const before = by.metric(count);
        outcome const seen = eight_clients(by, requests); // 503 where the budget refused only after the wait
        EXPECT_EQ(seen.had(unsigned(busy)) + seen.had(503), requests) << "and nobody was made to wait";
        return static_cast<std::size_t>(by.metric(count) - before);
    }

    fleet::redis_process redis{redis_server};
    std::atomic<http::status> status = http::status::ok;
    test_server server{[this](question const&) -> asio::awaitable<std::optional<answer>> {
        co_return answer(status.load(), 11);
    }};
    std::vector<std::unique_ptr<gateway_process>> gateways;
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
    auto const with_password = make_gateway(2, ":secret@"), with_another = make_gateway(2, ":guess@");
    status = busy;
    for (auto const& each : {with_password.get(), with_another.get()})
        retries(*each, 100);
    EXPECT_EQ(with_password->metric("gateway_fleet_budget_shared"), 1);
    EXPECT_EQ(with_another->metric("gateway_fleet_budget_shared"), 0);
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&gateway_program, &redis_server}, "redis-server");
}
