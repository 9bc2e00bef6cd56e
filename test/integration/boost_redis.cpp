// Needs Boost 1.88 and a redis-server, whose path the command line names.
#include "boost_redis/client.hpp"
#include "fleet/redis_process.hpp"
#include "integration/run_with_programs.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/version.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using number = redis::response<long long>;

std::string program; // redis-server

retry_policy reconnecting() {
    return retry_policy()
        .unlimited_attempts()
        .backoff(exponential(20ms).cap(500ms))
        .set_up_within(2s)
        .idle_timeout(2500ms)
        .reset_after(10s)
        .retry_if(any_failure);
}

retry_policy patient() {
    return retry_policy()
        .backoff(exponential(10ms).cap(200ms))
        .unlimited_attempts()
        .attempt_timeout(2s)
        .total_timeout(1min);
}

judgement judge(number const& replies) {
    auto const& reply = std::get<0>(replies);
    bool const is_error = reply.has_error();
    return {is_error, is_error ? classify_redis(reply.error().diagnostic) : failure_class(), {}};
}

double milliseconds(duration d) {
    return std::chrono::duration<double, std::milli>(d).count();
}

duration now() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

void expect_success(std::exception_ptr e) {
    EXPECT_NO_THROW(if (e) std::rethrow_exception(e));
}

template <class... Words>
redis::request command(Words const&... words) {
    redis::request result;
    result.push(words...);
    return result;
}

// As in example/redis/counter.cpp.
constexpr char const* count_once = "if redis.call('SET', KEYS[2], '', 'NX', 'EX', ARGV[1]) then "
                                   "  redis.call('INCR', KEYS[1]) "
                                   "  return 1 "
                                   "end "
                                   "return 0";

redis::request count_with_key(std::string const& key) {
    return command("EVAL", count_once, 2, "n", key, 86400);
}

class boost_redis : public testing::Test {
protected:
    boost_redis() { client.server.addr.port = std::to_string(server.port()); }

    asio::awaitable<number> ask(redis::request const& request, retry_policy const& policy) {
        auto const once = [&](attempt a) { return client.ask<number>(request, a); };
        co_return co_await async_retry(fail_if(once, judge), policy);
    }

    asio::awaitable<long long> count(std::string key) {
        redis::request const request = key.empty() ? command("INCR", "n") : count_with_key(key);
        number const reply = co_await ask(request, policy);
        found += !key.empty() && std::get<0>(reply).value() == 0;
        ++acknowledged;
        co_return std::get<0>(reply).value();
    }

    /// Keeps the connection while `work` runs, on a thread of its own, and `trouble` runs on this one.
    void run(std::function<asio::awaitable<void>()> const& work, std::function<void()> const& trouble = [] {}) {
        using namespace asio::experimental::awaitable_operators;
        auto const live = [this](attempt a) { return client.live(a); };
        auto const everything = [&]() -> asio::awaitable<void> {
            co_await (async_retry(live, lasting, asio::use_awaitable) || work());
        };
        asio::co_spawn(io, everything, expect_success);
        io.restart();
        std::thread clients([&] { io.run(); });
        trouble();
        clients.join();
    }

    long long value_of(redis::request const& request) {
        long long result = -1;
        run([&]() -> asio::awaitable<void> { result = std::get<0>(co_await ask(request, policy)).value(); });
        return result;
    }

    asio::awaitable<void> wait(duration time) {
        asio::steady_timer timer(io, time);
        co_await timer.async_wait(asio::use_awaitable);
    }

    fleet::redis_process server{program, fleet::on_the_disk};
    asio::io_context io{1};
    redis_client client{io.get_executor(), {}};
    retry_policy lasting = reconnecting().on_retry([this](retry_event const& e) {
        last_loss = e.stopped;
        ++losses;
    });
    retry_policy policy = patient().on_retry([this](retry_event const& e) {
        ++retries;
        retries_of_sent += e.sent == effect::possible;
    });
    std::atomic<long long> losses = 0, acknowledged = 0;
    long long retries = 0, retries_of_sent = 0, found = 0;
    interruption last_loss{};
};

/// Gives up with the test, which says so.
template <class Condition>
void wait_until(Condition const& condition) {
    for (auto const end = now() + 60s; !condition() && now() < end;)
        std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(condition());
}

// --- reconnection

TEST_F(boost_redis, is_connected_again_after_the_server_was_killed_for_a_second) {
    std::atomic<bool> is_back = false;
    duration back{}, answered{};
    auto const work = [&]() -> asio::awaitable<void> {
        while (!is_back)
            co_await count("");
        co_await count("");
        answered = now();
    };
    run(work, [&] {
        wait_until([&] { return acknowledged > 10; });
        server.kill();
        std::this_thread::sleep_for(1s);
        server.restart();
        back = now();
        is_back = true;
    });
    EXPECT_GE(losses, 3) << "one lost connection, and refused ones";
    std::cout << "killed for a second: " << losses << " lost or refused connections; the next answer "
              << milliseconds(answered - back) << " ms after the server was back\n";
}

TEST_F(boost_redis, that_asks_nothing_notices_a_server_that_hangs) {
    duration paused{}, noticed{};
    auto const work = [&]() -> asio::awaitable<void> {
        co_await count("");
        while (losses == 0)
            co_await wait(5ms);
        noticed = now();
        EXPECT_EQ(last_loss, interruption::attempt_timeout);
        EXPECT_EQ(retries, 0);
        server.go_on();
        co_await count("");
    };
    run(work, [&] {
        wait_until([&] { return acknowledged > 0; });
        paused = now();
        server.pause();
    });
    std::cout << "hangs, and nothing is asked: noticed after " << milliseconds(noticed - paused) << " ms\n";
}

TEST_F(boost_redis, that_asks_notices_it_with_the_time_limit_of_a_command) {
    policy = policy.attempt_timeout(300ms);
    duration paused{}, noticed{};
    auto const work = [&]() -> asio::awaitable<void> {
        while (losses == 0)
            co_await count("");
    };
    run(work, [&] {
        wait_until([&] { return acknowledged > 10; });
        paused = now();
        server.pause();
        wait_until([&] { return losses != 0; });
        noticed = now();
        server.go_on();
    });
    EXPECT_EQ(retries_of_sent, 1) << "the command that the server had, or has";
    std::cout << "hangs, and commands have 300 ms: noticed after " << milliseconds(noticed - paused) << " ms\n";
}

// --- what was sent

/// Both are retried only while they were surely not sent.
TEST_F(boost_redis, commands_that_were_sent_are_told_from_those_that_wait) {
    policy = policy.retry_sent(false);
    int failed = 0, done = 0;
    std::atomic<bool> is_hanging = false, is_gone = false;
    std::atomic<int> asked = 0;
    auto const ask_fifty = [&] {
        for (int i = 0; i != 50; ++i)
            asio::co_spawn(io, count(""), [&](std::exception_ptr e, long long) { ++(e ? failed : done); });
    };
    auto const work = [&]() -> asio::awaitable<void> {
        co_await count("");
        while (!is_hanging)
            co_await wait(1ms);
        ask_fifty();
        co_await wait(100ms); // they are written
        asked = 50;
        while (!is_gone || failed + done < 50)
            co_await wait(1ms);
        EXPECT_EQ(failed, 50);
        EXPECT_EQ(retries, 0);
        ask_fifty();
        asked = 100;
        while (failed + done < 100)
            co_await wait(1ms);
    };
    run(work, [&] {
        wait_until([&] { return acknowledged == 1; });
        server.pause();
        is_hanging = true;
        wait_until([&] { return asked == 50; });
        server.kill();
        is_gone = true;
        wait_until([&] { return asked == 100; });
        std::this_thread::sleep_for(300ms);
        server.restart();
    });
    EXPECT_EQ(failed, 50);
    EXPECT_EQ(done, 50);
    EXPECT_GT(retries, 0);
    EXPECT_EQ(retries_of_sent, 0);
    EXPECT_EQ(value_of(command("GET", "n")), 51);
    std::cout << "50 sent commands failed; 50 others waited for the server, with " << retries << " retries\n";
}

// --- counts

class boost_redis_counts : public boost_redis {
protected:
    /// With a hundred coroutines on one connection, while the server is killed `kills` times.
    void count_through_kills(long long wanted, int kills, bool has_keys) {
        long long next = 0;
        auto const worker = [&]() -> asio::awaitable<void> {
            for (long long i = next++; i < wanted; i = next++) {
                std::string key; // which g++ 12 would destroy twice as a temporary
                if (has_keys)
                    key = "k" + std::to_string(i);
                co_await count(std::move(key));
            }
        };
        int running = 100;
        auto const work = [&]() -> asio::awaitable<void> {
            for (int which = 0; which != 100; ++which)
                asio::co_spawn(io, worker(), [&](std::exception_ptr e) {
                    expect_success(e);
                    --running;
                });
            while (running != 0)
                co_await wait(1ms);
        };
        run(work, [&] {
            for (int i = 1; i <= kills; ++i) {
                wait_until([&] { return acknowledged >= wanted * i / (kills + 1); });
                kill_and_restart();
            }
        });
        std::sort(outages.begin(), outages.end());
    }

    void kill_and_restart() {
        server.kill();
        server.restart();
        auto const back = now();
        long long const before = acknowledged;
        wait_until([&] { return acknowledged != before; });
        outages.push_back(milliseconds(now() - back));
    }

    void show(std::string const& how) {
        std::cout << how << ": " << acknowledged << " acknowledged, " << outages.size() << " kills, " << losses
                  << " lost or refused connections; " << retries << " retries, " << retries_of_sent
                  << " of them after a command was sent; an answer " << outages[outages.size() / 2]
                  << " ms (median), " << outages.back() << " ms (greatest) after the server was back\n";
    }

    std::vector<double> outages;
};

TEST_F(boost_redis_counts, with_a_key_none_of_100000_is_lost_and_none_twice) {
    count_through_kills(100'000, 10, true);
    EXPECT_EQ(acknowledged, 100'000);
    EXPECT_EQ(value_of(command("GET", "n")), 100'000);
    EXPECT_EQ(value_of(command("DBSIZE")), 100'001) << "as many keys";
    EXPECT_GT(retries_of_sent, 0);
    show("with a key");
    std::cout << found << " had been counted by an attempt whose answer was lost\n";
}

TEST_F(boost_redis_counts, without_a_key_some_are_counted_twice) {
    count_through_kills(30'000, 10, false);
    long long const counted = value_of(command("GET", "n"));
    EXPECT_GT(counted, acknowledged);
    show("without a key");
    std::cout << counted - acknowledged << " were counted twice\n";
}

// --- what Boost.Redis does by itself, in the one version for which the client has been written

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&program}, "redis-server");
}
