// Counters before a real Redis that hangs, is killed and is started again, and what its errors mean.
#include "fleet/redis_process.hpp"
#include "integration/redis_client.hpp"
#include "integration/redis_outage.hpp"
#include "integration/run_with_programs.hpp"
#include "redis/counter.hpp"

#include <asio_retry/failure_class.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_event.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using counting::receipt;
using fleet::redis_error;
using namespace std::chrono_literals;

std::string program; // redis-server

constexpr std::uint64_t seed = 19;

duration now() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

void rethrow(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

void expect_success(std::exception_ptr e) {
    EXPECT_NO_THROW(rethrow(e));
}

// --- what real replies mean

constexpr failure_class too_busy{failure_kind::overloaded, effect::none};
constexpr failure_class not_now{failure_kind::transient, effect::none};
constexpr failure_class never{failure_kind::permanent, effect::possible};

/// The error that it answers with, or nothing.
std::string error_of(redis_client& redis, std::vector<std::string> words) {
    try {
        (void)redis.command(std::move(words));
    } catch (redis_error const& e) {
        return e.reply();
    }
    return {};
}

void expect(std::string const& reply, std::string_view word, failure_class meaning) {
    EXPECT_THAT(reply, testing::StartsWith(std::string(word) + ' '));
    EXPECT_EQ(classify_redis(reply), meaning) << reply;
}

class redis_errors : public testing::Test {
protected:
    fleet::redis_process server{program};
    redis_client redis{server.port()};
};

TEST_F(redis_errors, of_a_replica_are_those_of_one_that_may_be_asked_later) {
    (void)redis.command({"REPLICAOF", "127.0.0.1", "1"});
    expect(error_of(redis, {"INCR", "n"}), "READONLY", not_now);
    expect(error_of(redis, {"EVAL", "return redis.call('INCR', KEYS[1])", "1", "n"}), "READONLY",
           {failure_kind::transient, effect::possible}); // a script may have done a part before
    (void)redis.command({"CONFIG", "SET", "replica-serve-stale-data", "no"});
    expect(error_of(redis, {"GET", "n"}), "MASTERDOWN", not_now);
}

TEST_F(redis_errors, without_enough_replicas_are_those_of_one_that_may_be_asked_later) {
    (void)redis.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
    expect(error_of(redis, {"INCR", "n"}), "NOREPLICAS", not_now);
}

TEST_F(redis_errors, of_a_full_memory_are_those_of_too_much_to_do) {
    (void)redis.command({"CONFIG", "SET", "maxmemory", "1"});
    expect(error_of(redis, {"INCR", "n"}), "OOM", too_busy);
}

TEST_F(redis_errors, while_a_script_runs_are_those_of_too_much_to_do) {
    (void)redis.command({"CONFIG", "SET", "lua-time-limit", "1"});
    asio::io_context io;
    tcp::socket other(io);
    other.connect(on_loopback(server.port()));
    std::string const endless = "EVAL 'while true do end' 0\r\n";
    asio::write(other, asio::buffer(endless));
    std::string reply;
    while (reply.empty())
        reply = error_of(redis, {"GET", "n"});
    expect(reply, "BUSY", too_busy);
    (void)redis.command({"SCRIPT", "KILL"});
}

TEST_F(redis_errors, of_what_is_wrong_are_permanent) {
    (void)redis.command({"SET", "text", "a"});
    expect(error_of(redis, {"INCR", "text"}), "ERR", never);
    expect(error_of(redis, {"LPUSH", "text", "b"}), "WRONGTYPE", never);
    expect(error_of(redis, {"EVALSHA", std::string(40, '0'), "0"}), "NOSCRIPT", never);
    expect(error_of(redis, {"NONSENSE"}), "ERR", never);
}

// Half a millisecond for each key.
TEST(redis_that_loads, is_too_busy_and_counts_when_it_has_loaded) {
    fleet::redis_process server(program, {"--save", "", "--rdbcompression", "no", "--key-load-delay", "500",
                                          "--loading-process-events-interval-bytes", "1024"});
    std::string const fill = "for i = 1, 4000 do redis.call('SET', i, string.rep('x', 100)) end";
    redis_client before(server.port());
    (void)before.command({"EVAL", fill, "0"});
    (void)before.command({"SAVE"});
    server.kill();

    std::vector<std::string> failures;
    auto const policy = counting::patient().backoff(constant(10ms)).on_retry([&](retry_event const& event) {
        try {
            rethrow(event.exception);
        } catch (redis_error const& e) {
            failures.push_back(e.reply());
        } catch (std::exception const&) { // refused
        }
    });
    std::thread client([&] {
        asio::io_context io;
        counting::counter counter(on_loopback(server.port()), "n", policy);
        asio::co_spawn(io, counter.count("a"), [](std::exception_ptr e, receipt) { EXPECT_EQ(e, nullptr); });
        io.run();
    });
    server.restart();
    client.join();
    ASSERT_FALSE(failures.empty());
    for (std::string const& failure : failures)
        expect(failure, "LOADING", too_busy);
}

TEST(redis_of_another_mind, is_not_asked_again) {
    fleet::redis_process server(program);
    redis_client redis(server.port());
    (void)redis.command({"SET", "{n}", "a"});
    int retries = 0;
    asio::io_context io;
    counting::counter counter(on_loopback(server.port()), "n",
                              counting::patient().on_retry([&](retry_event const&) { ++retries; }));
    std::string said;
    asio::co_spawn(io, counter.count_without_key(), [&](std::exception_ptr e) {
        try {
            rethrow(e);
        } catch (redis_error const& error) {
            said = error.reply();
        }
    });
    io.run();
    expect(said, "ERR", never);
    EXPECT_EQ(retries, 0);
}

// --- counts

class counts : public testing::Test {
protected:
    long long number(std::vector<std::string> words) {
        fleet::redis_reply const reply = redis_client(server.port()).command(std::move(words));
        return reply->type == REDIS_REPLY_STRING ? std::stoll(reply->str) : reply->integer;
    }

    long long counted() { return number({"GET", "{n}"}); }

    retry_policy policy() { return counting::patient().attempt_timeout(400ms); }

    /// A server that hangs while it has a command, until an attempt has been given up.
    void count_once(std::function<asio::awaitable<void>(counting::counter&)> const& count) {
        (void)number({"SET", "{n}", "0"});
        asio::io_context io;
        auto const go_on = [&](retry_event const&) { server.go_on(); };
        counting::counter counter(on_loopback(server.port()), "n", policy().on_retry(go_on));
        server.pause();
        asio::co_spawn(io, count(counter), expect_success);
        io.run();
    }

    struct outcome {
        std::atomic<long long> acknowledged = 0, found = 0, failures = 0;
    };

    using work = std::function<asio::awaitable<bool>(counting::counter&, std::string key)>;

    /// A hundred on two threads, while the server is killed and started again, or hangs.
    void count_through_outages(int outages, outcome& total, work const& count) {
        asio::io_context io;
        std::atomic<bool> is_enough = false;
        auto const counting_policy = policy().on_retry([&](retry_event const&) { ++total.failures; });
        auto const worker = [&](int which) -> asio::awaitable<void> {
            counting::counter counter(on_loopback(server.port()), "n", counting_policy);
            for (int i = 0; !is_enough; ++i) {
                std::string key = std::to_string(which) + '-' + std::to_string(i);
                bool const found = co_await count(counter, std::move(key));
                ++total.acknowledged;
                total.found += found;
            }
        };
        for (int which = 0; which != 100; ++which)
            asio::co_spawn(asio::make_strand(io), worker(which), expect_success);
        std::array<std::thread, 2> threads;
        for (std::thread& thread : threads)
            thread = std::thread([&] { io.run(); });
        random dice(seed);
        for (int i = 0; i != outages; ++i) {
            std::this_thread::sleep_for(dice.uniform(duration(100ms), duration(500ms)));
            hang_or_restart(server, dice, i == 1, 600ms, 1s);
        }
        is_enough = true;
        for (std::thread& thread : threads)
            thread.join();
    }

    fleet::redis_process server{program, fleet::on_the_disk};
};

asio::awaitable<bool> with_a_key(counting::counter& counter, std::string key) {
    receipt const got = co_await counter.count(std::move(key));
    co_return got == receipt::found;
}

asio::awaitable<bool> without_a_key(counting::counter& counter, std::string) {
    co_await counter.count_without_key();
    co_return false;
}

TEST_F(counts, with_a_key_are_made_once_where_the_answer_came_too_late) {
    count_once([](counting::counter& counter) -> asio::awaitable<void> { co_await counter.count("a"); });
    EXPECT_EQ(counted(), 1);
    EXPECT_EQ(number({"DBSIZE"}), 2);
}

TEST_F(counts, without_a_key_are_made_twice_where_the_answer_came_too_late) {
    count_once([](counting::counter& counter) { return counter.count_without_key(); });
    auto const end = now() + 30s; // the command that was given up may be the later one
    while (counted() == 1 && now() < end)
        std::this_thread::sleep_for(5ms);
    EXPECT_EQ(counted(), 2);
}

TEST_F(counts, with_a_key_are_as_many_as_were_acknowledged_through_all_outages) {
    outcome total;
    count_through_outages(10, total, with_a_key);
    EXPECT_EQ(counted(), total.acknowledged);
    EXPECT_EQ(number({"DBSIZE"}), total.acknowledged + 1) << "as many keys";
    EXPECT_GT(total.failures, 0);
    std::cout << total.acknowledged << " counts, " << total.failures << " failed attempts, " << total.found
              << " found counted\n";
}

TEST_F(counts, without_a_key_are_more_than_were_acknowledged) {
    outcome total;
    count_through_outages(4, total, without_a_key);
    EXPECT_GT(counted(), total.acknowledged);
    std::cout << total.acknowledged << " counts, " << counted() - total.acknowledged << " of them twice\n";
}

// --- against a fixed second

/// At most a hundred times in a second, so that what gets through says how long the server was there for each
/// way, and not how fast it is.
asio::awaitable<void> wait_for_the_next(asio::steady_timer& timer) {
    timer.expires_after(10ms);
    co_await timer.async_wait(asio::use_awaitable);
}

/// As Boost.Redis does, which waits for a second before it connects again.
asio::awaitable<void> count_and_wait_for_a_second(tcp::endpoint server, long long& done,
                                                  bool const& is_enough) {
    auto const executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    std::vector<std::string> const words{"INCR", "second"};
    std::optional<fleet::redis_connection> connection;
    while (!is_enough) {
        bool failed = false;
        try {
            if (!connection) {
                tcp::socket socket(executor);
                co_await socket.async_connect(server, asio::use_awaitable);
                connection.emplace(std::move(socket));
            }
            (void)co_await connection->command(words);
            ++done;
            co_await wait_for_the_next(timer);
        } catch (std::exception const&) {
            failed = true;
        }
        if (failed) {
            connection.reset();
            timer.expires_after(1s);
            co_await timer.async_wait(asio::use_awaitable);
        }
    }
}

asio::awaitable<void> count_and_retry(tcp::endpoint server, long long& done, bool const& is_enough) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    counting::counter counter(server, "n");
    while (!is_enough) {
        co_await counter.count_without_key();
        ++done;
        co_await wait_for_the_next(timer);
    }
}

TEST(reconnection, by_a_policy_and_after_a_fixed_second_get_through_in_the_same_15_seconds) {
    fleet::redis_process server(program, fleet::on_the_disk);
    auto const address = on_loopback(server.port());
    asio::io_context io(1);
    bool is_enough = false;
    long long retried = 0, waited = 0;
    asio::steady_timer end(io, 15s);
    end.async_wait([&](error_code) { is_enough = true; });
    for (int i = 0; i != 10; ++i) {
        asio::co_spawn(io, count_and_retry(address, retried, is_enough), expect_success);
        asio::co_spawn(io, count_and_wait_for_a_second(address, waited, is_enough), expect_success);
    }
    std::thread clients([&] { io.run(); });
    random dice(seed);
    int outages = 0;
    for (auto const last = now() + 14s; now() < last; ++outages) {
        std::this_thread::sleep_for(dice.uniform(duration(500ms), duration(2s)));
        server.kill();
        std::this_thread::sleep_for(dice.uniform(duration(50ms), duration(500ms)));
        server.restart();
    }
    clients.join();
    EXPECT_GT(retried, waited);
    EXPECT_GT(waited, 0);
    std::cout << "in 15 s with " << outages << " outages " << retried << " operations of async_retry, "
              << waited << " after a fixed second\n";
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&program}, "redis-server");
}
