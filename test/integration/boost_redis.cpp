// Needs Boost 1.88, and a redis-server, whose path the command line names.
#include "boost_redis/counter.hpp"
#include "fleet/redis_process.hpp"
#include "integration/run_with_programs.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/retry_event.hpp>

#include <boost/version.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
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

std::string example; // the program of the guide
std::string program; // redis-server

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

redis::request count_with_key(std::string const& key) {
    return command("EVAL", count_once, 2, "n", key);
}

/// Gives up with the test, which says so.
template <class Condition>
void wait_until(Condition const& condition) {
    for (auto const end = now() + 60s; !condition() && now() < end;)
        std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(condition());
}

class boost_redis : public testing::Test {
protected:
    boost_redis() { client.server.addr.port = std::to_string(server.port()); }

    asio::awaitable<void> ask_to_count(std::string key) {
        redis::request const request = key.empty() ? command("INCR", "n") : count_with_key(key);
        long long const reply = co_await count(client, request, policy);
        ++acknowledged;
        found += !key.empty() && reply == 0;
    }

    /// Keeps the connection while `work` runs, on a thread of its own, and `trouble` runs on this one.
    void run(std::function<asio::awaitable<void>()> const& work, std::function<void()> const& trouble = [] {}) {
        auto const live = [this](attempt a) { return client.live(a); };
        auto const connected = [&]() -> asio::awaitable<void> { co_await async_retry(live, lasting); };
        asio::cancellation_signal enough;
        asio::co_spawn(io, connected, asio::bind_cancellation_slot(enough.slot(), asio::detached));
        asio::co_spawn(io, work, [&](std::exception_ptr e) {
            expect_success(e);
            enough.emit(asio::cancellation_type::terminal);
        });
        io.restart();
        std::thread clients([&] { io.run(); });
        trouble();
        clients.join();
    }

    /// So that what is due comes in the same turn.
    void kill_while_the_clients_stand_still(duration time) {
        std::atomic<bool> is_killed = false;
        asio::post(io, [&] {
            server.kill();
            std::this_thread::sleep_for(time);
            is_killed = true;
        });
        wait_until([&] { return is_killed.load(); });
    }

    long long value_of(redis::request const& request) {
        long long result = -1;
        run([&]() -> asio::awaitable<void> { result = co_await count(client, request, policy); });
        return result;
    }

    asio::awaitable<void> wait(duration time) {
        asio::steady_timer timer(io, time);
        co_await timer.async_wait(asio::use_awaitable);
    }

    fleet::redis_process server{program, fleet::on_the_disk};
    asio::io_context io{1};
    redis_client client{io.get_executor(), {}};
    retry_policy lasting = reconnecting.on_retry([this](retry_event const& e) {
        last_loss = e.stopped;
        ++losses;
    });
    retry_policy policy = asking.on_retry([this](retry_event const& e) {
        ++retries;
        retries_of_sent += e.sent == effect::possible;
        refused += e.kind == failure_kind::overloaded;
    });
    std::atomic<long long> losses = 0, acknowledged = 0;
    long long retries = 0, retries_of_sent = 0, refused = 0, found = 0;
    interruption last_loss{};
};

/// A Redis with so much that it loads for two seconds, half a millisecond for each key. At first it has ended.
class redis_that_loads {
public:
    redis_that_loads() {
        say("EVAL \"for i = 1, 4000 do redis.call('SET', i, string.rep('x', 100)) end\" 0");
        say("SAVE");
        server.kill();
    }

    fleet::redis_process server{program,
                                {"--save", "", "--rdbcompression", "no", "--key-load-delay", "500",
                                 "--loading-process-events-interval-bytes", "1024"}};

private:
    void say(std::string const& line) {
        asio::io_context io;
        asio::ip::tcp::socket socket(io);
        socket.connect({asio::ip::address_v4::loopback(), server.port()});
        asio::write(socket, asio::buffer(line + "\r\n"));
        std::string answer;
        asio::read_until(socket, asio::dynamic_buffer(answer), "\r\n");
    }
};

// --- reconnection

TEST_F(boost_redis, is_connected_again_after_the_server_was_killed_for_a_second) {
    std::atomic<bool> is_back = false;
    duration back{}, answered{};
    auto const work = [&]() -> asio::awaitable<void> {
        while (!is_back)
            co_await ask_to_count("");
        co_await ask_to_count("");
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

TEST_F(boost_redis, is_connected_again_though_a_ping_was_due) {
    std::atomic<bool> is_back = false;
    auto const work = [&]() -> asio::awaitable<void> {
        co_await ask_to_count("");
        while (!is_back)
            co_await wait(1ms);
        co_await ask_to_count("");
    };
    run(work, [&] {
        wait_until([&] { return acknowledged == 1; });
        kill_while_the_clients_stand_still(1100ms);
        server.restart();
        is_back = true;
    });
    EXPECT_EQ(acknowledged, 2);
    EXPECT_GT(losses, 0);
}

TEST_F(boost_redis, is_connected_again_when_the_server_has_loaded) {
    redis_that_loads other;
    client.server.addr.port = std::to_string(other.server.port());
    auto const work = [&]() -> asio::awaitable<void> { co_await ask_to_count(""); };
    run(work, [&] { other.server.restart(); });
    EXPECT_EQ(acknowledged, 1);
    EXPECT_GT(refused, 0) << "LOADING";
}

TEST_F(boost_redis, that_asks_nothing_notices_a_server_that_hangs) {
    duration paused{}, noticed{};
    auto const work = [&]() -> asio::awaitable<void> {
        co_await ask_to_count("");
        while (losses == 0)
            co_await wait(5ms);
        noticed = now();
        EXPECT_EQ(last_loss, interruption::attempt_timeout);
        EXPECT_EQ(retries, 0);
        server.go_on();
        co_await ask_to_count("");
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
            co_await ask_to_count("");
    };
    run(work, [&] {
        wait_until([&] { return acknowledged > 10; });
        paused = now();
        server.pause();
        wait_until([&] { return losses != 0; });
        noticed = now();
        server.go_on();
    });
    EXPECT_GE(retries_of_sent, 1) << "the command that the server had, or has";
    std::cout << "hangs, and commands have 300 ms: noticed after " << milliseconds(noticed - paused) << " ms\n";
}

TEST_F(boost_redis, as_the_guide_shows_it_counts_visits) {
    std::string const visit = example + ' ' + std::to_string(server.port());
    EXPECT_EQ(std::system(visit.c_str()), 0);
    EXPECT_EQ(std::system(visit.c_str()), 0);
    EXPECT_EQ(value_of(command("GET", "visits")), 2);
}

TEST_F(boost_redis, as_the_guide_shows_it_ends_if_it_cannot_count) {
    EXPECT_EQ(value_of(command("LPUSH", "visits", "a list")), 1);
    std::string const visit = example + ' ' + std::to_string(server.port());
    EXPECT_NE(std::system(visit.c_str()), 0);
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
            asio::co_spawn(io, ask_to_count(""), [&](std::exception_ptr e) { ++(e ? failed : done); });
    };
    auto const work = [&]() -> asio::awaitable<void> {
        co_await ask_to_count("");
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
    /// With a hundred coroutines on one connection, while the server is killed so often. Without keys it stands
    /// still instead: then it surely carries out commands whose answer nobody waits for any more.
    void count_through(int troubles, long long wanted, bool has_keys) {
        long long next = 0;
        auto const worker = [&]() -> asio::awaitable<void> {
            for (long long i = next++; i < wanted; i = next++) {
                std::string key; // which g++ 12 would destroy twice as a temporary
                if (has_keys)
                    key = "k" + std::to_string(i);
                co_await ask_to_count(std::move(key));
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
            for (int i = 1; i <= troubles; ++i) {
                wait_until([&] { return acknowledged >= wanted * i / (troubles + 1); });
                has_keys ? kill_and_restart() : stand_still();
            }
        });
        std::sort(outages.begin(), outages.end());
    }

    void kill_and_restart() {
        server.kill();
        server.restart();
        note_return();
    }

    void stand_still() {
        auto const before = retries_of_sent;
        server.pause();
        wait_until([&] { return retries_of_sent != before; });
        server.go_on();
        note_return();
    }

    void note_return() {
        auto const back = now();
        long long const before = acknowledged;
        wait_until([&] { return acknowledged != before; });
        outages.push_back(milliseconds(now() - back));
    }

    void show(std::string const& how) {
        std::cout << how << ": " << acknowledged << " acknowledged, " << outages.size() << " outages, "
                  << losses << " lost or refused connections; " << retries << " retries, " << retries_of_sent
                  << " of them after a command was sent; an answer " << outages[outages.size() / 2]
                  << " ms (median), " << outages.back() << " ms (greatest) after the server was back\n";
    }

    std::vector<double> outages;
};

TEST_F(boost_redis_counts, with_a_key_none_of_100000_is_lost_and_none_twice) {
    count_through(10, 100'000, true);
    EXPECT_EQ(acknowledged, 100'000);
    EXPECT_EQ(value_of(command("GET", "n")), 100'000);
    EXPECT_EQ(value_of(command("DBSIZE")), 100'001) << "as many keys";
    EXPECT_GT(retries_of_sent, 0);
    show("with a key");
    std::cout << found << " had been counted by an attempt whose answer was lost\n";
}

TEST_F(boost_redis_counts, without_a_key_some_are_counted_twice) {
    policy = policy.attempt_timeout(1s);
    count_through(5, 10'000, false);
    long long const counted = value_of(command("GET", "n"));
    EXPECT_GT(counted, acknowledged);
    show("without a key");
    std::cout << counted - acknowledged << " were counted twice\n";
}

// --- what Boost.Redis does by itself, in the version for which the client has been written

/// One connection for all.
class boost_redis_alone : public boost_redis {
protected:
    void SetUp() override {
        if (BOOST_VERSION / 100 != 1088)
            GTEST_SKIP() << "tells of Boost 1.88 alone";
        config.addr.port = std::to_string(server.port());
        config.health_check_interval = 0s;
    }

    asio::awaitable<void> async_run_again_and_again() {
        while (!is_enough) {
            co_await connection.async_run(config, quiet, asio::as_tuple(asio::use_awaitable));
            ++ends;
            co_await wait(20ms);
        }
    }

    void set_going() {
        clients = std::thread([this] { io.run(); });
    }

    /// Whether a command is answered within half a second.
    bool answers() {
        auto const has_come = std::make_shared<std::atomic<bool>>(false);
        asio::post(io, [&, has_come] {
            connection.async_exec(ping, redis::ignore,
                                  [has_come](boost::system::error_code e, std::size_t) { *has_come = !e; });
        });
        for (int i = 0; i != 500 && !*has_come; ++i)
            std::this_thread::sleep_for(1ms);
        return *has_come;
    }

    void stop() {
        is_enough = true;
        asio::post(io, [this] { connection.cancel(); });
        clients.join();
    }

    /// Milliseconds that this process computes for in a fifth of a second.
    static double computed() {
        std::clock_t const begin = std::clock();
        std::this_thread::sleep_for(200ms);
        return 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    }

    redis::logger const quiet{redis::logger::level::emerg};
    redis::config config;
    redis::connection connection{io};
    redis::request const ping = command("PING");
    std::atomic<bool> is_enough = false;
    std::atomic<int> ends = 0;
    std::thread clients;
};

TEST_F(boost_redis_alone, gives_up_after_a_refused_connection) {
    config.reconnect_wait_interval = 100ms;
    boost::system::error_code ended;
    connection.async_run(config, quiet, [&](boost::system::error_code e) {
        ended = e;
        ++ends;
    });
    auto const work = asio::make_work_guard(io);
    set_going();
    wait_until([&] { return answers(); });
    server.kill();
    wait_until([&] { return ends == 1; });
    EXPECT_EQ(ended, asio::error::connection_refused);
    server.restart();
    EXPECT_FALSE(answers());
    asio::post(io, [&] { io.stop(); });
    stop();
}

TEST_F(boost_redis_alone, computes_without_an_end_after_it_has_connected_again) {
    config.reconnect_wait_interval = 1s;
    connection.async_run(config, quiet, [&](boost::system::error_code) { ++ends; });
    set_going();
    wait_until([&] { return answers(); });
    double const before = computed();
    server.kill();
    server.restart();
    wait_until([&] { return answers(); });
    double const after = computed();
    EXPECT_GT(after, 10 * before);
    std::cout << "idle, it computes for " << before << " ms in 200 ms, and for " << after
              << " ms after it has connected again\n";
    stop();
}

TEST_F(boost_redis_alone, in_a_loop_loses_every_connection_after_one_failed_health_check) {
    config.reconnect_wait_interval = 0s;
    config.health_check_interval = 200ms;
    asio::co_spawn(io, async_run_again_and_again(), expect_success);
    set_going();
    wait_until([&] { return answers(); });
    server.pause();
    wait_until([&] { return ends >= 1; });
    server.go_on();
    wait_until([&] { return ends >= 6; });
    stop();
}

// The connection is lost in the turn in which a health check is due, which then waits on a closed connection.
TEST_F(boost_redis_alone, in_a_loop_may_wait_for_a_lost_connection_for_ever) {
    config.reconnect_wait_interval = 0s;
    config.health_check_interval = 200ms;
    asio::co_spawn(io, async_run_again_and_again(), expect_success);
    set_going();
    wait_until([&] { return answers(); });
    kill_while_the_clients_stand_still(2 * config.health_check_interval);
    std::this_thread::sleep_for(1s);
    EXPECT_EQ(ends, 0);
    server.restart();
    EXPECT_FALSE(answers());
    EXPECT_EQ(ends, 0);
    stop();
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&example, &program}, "redis-server");
}
