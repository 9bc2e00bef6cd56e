// The script of a fleet's budget on a real Redis, and processes that share a budget there while it is killed.
#include "fleet/redis_driver.hpp"
#include "fleet/redis_process.hpp"
#include "integration/redis_client.hpp"
#include "integration/run_with_programs.hpp"

#include <asio_retry/failure_class.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_gate.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace asio_retry::test {
namespace {

using fleet::redis_reply;
using namespace std::chrono_literals;

std::string program; // redis-server

constexpr std::size_t process_count = 4;

/// Of the script of a fleet's budget.
class blocking_redis : public redis_client {
public:
    using redis_client::redis_client;

    /// What the script grants.
    std::uint32_t ask(fleet_budget const& budget, fleet_request const& request) {
        std::vector<std::string> words{"EVAL", std::string(fleet_budget::script()), "1", "bucket"};
        for (std::string& argument : budget.arguments(request))
            words.push_back(std::move(argument));
        redis_reply const reply = command(std::move(words));
        EXPECT_EQ(reply->type, REDIS_REPLY_INTEGER);
        return static_cast<std::uint32_t>(reply->integer);
    }

    double left() { return std::stod(command({"HGET", "bucket", "tokens"})->str); }

    void set(std::string const& field, std::string const& value) {
        (void)command({"HSET", "bucket", field, value});
    }

    double time() {
        redis_reply const reply = command({"TIME"});
        return std::stod(reply->element[0]->str) + std::stod(reply->element[1]->str) / 1e6;
    }
};

// --- the script

class redis_script : public testing::Test {
protected:
    fleet::redis_process server{program};
    blocking_redis redis{server.port()};
    fleet_budget const hundred{{.capacity = 100}};
};

TEST_F(redis_script, begins_full_and_grants_what_there_is) {
    EXPECT_EQ(redis.ask(hundred, {0, 70}), 70u);
    EXPECT_EQ(redis.ask(hundred, {0, 70}), 30u);
    EXPECT_EQ(redis.ask(hundred, {0, 70}), 0u);
    EXPECT_EQ(redis.left(), 0);
}

TEST_F(redis_script, adds_what_was_earned_and_grants_whole_tokens) {
    EXPECT_EQ(redis.ask(hundred, {0, 1000}), 100u);
    EXPECT_EQ(redis.ask(hundred, {0.75, 5}), 0u);
    EXPECT_EQ(redis.ask(hundred, {2.5, 5}), 3u);
    EXPECT_EQ(redis.left(), 0.25);
    EXPECT_EQ(redis.ask(hundred, {1e-9, 1}), 0u);
    EXPECT_EQ(redis.ask(hundred, {1.0 / 3, 1}), 0u);
    EXPECT_EQ(redis.left(), 0.25 + 1e-9 + 1.0 / 3) << "every digit of it";
}

TEST_F(redis_script, has_no_more_than_the_capacity) {
    EXPECT_EQ(redis.ask(hundred, {1e6, 0}), 0u);
    EXPECT_EQ(redis.left(), 100);
    EXPECT_EQ(redis.ask(fleet_budget({.capacity = 10.5}), {0, 1000}), 10u) << "that of who asks";
    EXPECT_EQ(redis.left(), 0.5);
}

TEST_F(redis_script, adds_so_many_per_second_of_the_servers_time) {
    fleet_budget const thousand_per_second({.capacity = 1e6, .per_second = 1000});
    double const begin = redis.time();
    EXPECT_EQ(redis.ask(thousand_per_second, {0, 1'000'000}), 1'000'000u);
    std::uint32_t granted = 0;
    while (granted < 100)
        granted += redis.ask(thousand_per_second, {0, 1000});
    double const left = redis.left();
    EXPECT_LE(granted + left, 1000 * (redis.time() - begin) + 1e-3);
    EXPECT_EQ(redis.ask(hundred, {0, 0}), 0u);
    EXPECT_EQ(redis.left(), std::min(100.0, left)) << "who says none per second gets none";
}

TEST_F(redis_script, is_full_again_after_an_hour) {
    EXPECT_EQ(redis.ask(hundred, {0, 100}), 100u);
    long long const milliseconds = redis.command({"PTTL", "bucket"})->integer;
    EXPECT_GT(milliseconds, 3'000'000);
    EXPECT_LE(milliseconds, 3'600'000);
    (void)redis.command({"PEXPIRE", "bucket", "0"}); // which is how it ends
    EXPECT_EQ(redis.ask(hundred, {0, 1}), 1u);
    EXPECT_EQ(redis.left(), 99);
}

TEST_F(redis_script, is_full_where_others_have_written_nonsense) {
    for (std::string const nonsense : {"", "x", "nan", "-nan"})
        for (std::string const field : {"tokens", "at"}) {
            (void)redis.command({"DEL", "bucket"});
            EXPECT_EQ(redis.ask(hundred, {0, 1000}), 100u);
            redis.set(field, nonsense);
            EXPECT_EQ(redis.ask(hundred, {0, 1}), 1u) << field << " = " << nonsense;
            EXPECT_EQ(redis.left(), 99);
        }
    redis.set("tokens", "inf");
    EXPECT_EQ(redis.ask(hundred, {0, 1000}), 100u);
}

TEST_F(redis_script, grants_nothing_for_a_clock_that_was_set_back) {
    fleet_budget const one_per_second({.capacity = 10, .per_second = 1});
    EXPECT_EQ(redis.ask(one_per_second, {0, 10}), 10u);
    redis.set("at", std::to_string(redis.time() + 3600));
    redis.set("tokens", "5.5");
    EXPECT_EQ(redis.ask(one_per_second, {0, 0}), 0u);
    EXPECT_EQ(redis.left(), 5.5);
    redis.set("at", std::to_string(redis.time() - 3600));
    EXPECT_EQ(redis.ask(one_per_second, {0, 100}), 10u) << "and it goes on";
}

TEST_F(redis_script, says_so_where_the_key_is_of_something_else) {
    (void)redis.command({"SET", "bucket", "mine"});
    EXPECT_THAT([&] { (void)redis.ask(hundred, {0, 1}); },
                testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("WRONGTYPE")));
    (void)redis.command({"DEL", "bucket"});
    EXPECT_EQ(redis.ask(hundred, {0, 1}), 1u) << "the connection goes on";
}

// --- what its errors mean

class redis_words : public testing::Test {
protected:
    /// The error that a command is answered with, or nothing.
    std::string error_of(std::vector<std::string> words) {
        try {
            (void)redis.command(std::move(words));
            return "";
        } catch (fleet::redis_error const& e) {
            return e.reply();
        }
    }

    void limit_memory(std::string const& bytes) { (void)other.command({"CONFIG", "SET", "maxmemory", bytes}); }

    long long count_of(std::string const& key) { return other.command({"EXISTS", key})->integer; }

    static void expect(std::string const& reply, std::string const& begin, failure_class what) {
        EXPECT_THAT(reply, testing::StartsWith(begin));
        EXPECT_EQ(classify_redis(reply).kind, what.kind) << reply;
        EXPECT_EQ(classify_redis(reply).effect, what.effect) << reply;
    }

    fleet::redis_process server{program};
    redis_client redis{server.port()}, other{server.port()};
};

constexpr failure_class memory_is_full{failure_kind::overloaded, effect::none};

TEST_F(redis_words, EXECABORT_says_why_EXEC_was_refused_and_nothing_is_done) {
    struct trouble {
        std::vector<std::string> begin, end;
        std::string word;
        failure_class what;
    };
    for (trouble const& each : std::vector<trouble>{
             {{"CONFIG", "SET", "maxmemory", "1"}, {"CONFIG", "SET", "maxmemory", "0"}, "OOM", memory_is_full},
             {{"CONFIG", "SET", "min-replicas-to-write", "1"},
              {"CONFIG", "SET", "min-replicas-to-write", "0"},
              "NOREPLICAS",
              {failure_kind::transient, effect::none}},
             {{"REPLICAOF", "127.0.0.1", "1"},
              {"REPLICAOF", "NO", "ONE"},
              "READONLY",
              {failure_kind::transient, effect::none}}}) {
        (void)redis.command({"MULTI"});
        (void)redis.command({"INCR", "n"});
        (void)other.command(each.begin);
        expect(error_of({"EXEC"}), "EXECABORT Transaction discarded because of: " + each.word, each.what);
        (void)other.command(each.end);
        EXPECT_EQ(count_of("n"), 0);
        EXPECT_EQ(error_of({"INCR", "n"}), "") << "the connection goes on";
        (void)redis.command({"DEL", "n"});
    }
}

TEST_F(redis_words, EXECABORT_because_of_previous_errors_is_explained_by_the_first_error) {
    limit_memory("1");
    std::vector<std::string> errors;
    for (std::vector<std::string> const& words : {std::vector<std::string>{"MULTI"}, {"INCR", "n"}, {"EXEC"}})
        errors.push_back(error_of(words));
    limit_memory("0");
    EXPECT_EQ(errors[0], "");
    expect(errors[1], "OOM ", memory_is_full);
    expect(errors[2], "EXECABORT Transaction discarded because of previous errors",
           {failure_kind::permanent, effect::possible});
    EXPECT_EQ(count_of("n"), 0);
}

TEST_F(redis_words, an_error_of_a_script_in_EXEC_comes_after_the_other_commands_were_done) {
    (void)redis.command({"SET", "first", "1"});
    (void)redis.command({"MULTI"});
    (void)redis.command({"DEL", "first"});
    (void)redis.command({"EVAL", "redis.call('SET', 'second', 1)", "0"});
    limit_memory("1");
    redis_reply const replies = redis.command({"EXEC"});
    limit_memory("0");
    ASSERT_EQ(replies->elements, 2u);
    ASSERT_EQ(replies->element[1]->type, REDIS_REPLY_ERROR);
    expect(replies->element[1]->str, "OOM ", {failure_kind::overloaded, effect::possible});
    EXPECT_EQ(count_of("first"), 0) << "which is deleted";
    EXPECT_EQ(count_of("second"), 0);
}

TEST_F(redis_words, an_error_that_a_script_returns_names_no_script_and_comes_after_a_part_of_its_work) {
    redis_client listening{server.port()};
    (void)listening.command({"SUBSCRIBE", "news"});
    limit_memory("1");
    std::string const full =
        error_of({"EVAL", "redis.call('PUBLISH', 'news', 'x') return redis.pcall('SET', 'k', 'v')", "0"});
    limit_memory("0");
    EXPECT_EQ(full.find("script: "), std::string::npos) << full;
    expect(full, "OOM ", memory_is_full); // what the text alone says
    redis_reply const heard = listening.command({"PING"});
    ASSERT_EQ(heard->elements, 3u) << "which is published";
    EXPECT_STREQ(heard->element[2]->str, "x");
    EXPECT_EQ(count_of("k"), 0);

    std::string const own =
        error_of({"EVAL", "redis.call('SET', 'k', 'v') return redis.error_reply('TRYAGAIN later')", "0"});
    EXPECT_EQ(own, "TRYAGAIN later");
    expect(own, "TRYAGAIN ", {failure_kind::transient, effect::none});
    EXPECT_EQ(count_of("k"), 1);
}

// --- processes

/// Four processes that do the same, and an object for each in memory that they share with this one.
template <typename Shared>
class processes {
public:
    explicit processes(std::function<void(std::size_t, Shared&)> const& work) {
        void* const memory = ::mmap(nullptr, sizeof(Shared) * process_count, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            throw std::bad_alloc();
        shared_ = static_cast<Shared*>(memory);
        for (std::size_t i = 0; i != process_count; ++i)
            new (shared_ + i) Shared();
        for (std::size_t i = 0; i != process_count; ++i)
            ids_[i] = start([&] { work(i, shared_[i]); });
    }
    processes(processes const&) = delete;
    processes& operator=(processes const&) = delete;

    ~processes() {
        for (pid_t const id : ids_)
            if (id > 0) {
                ::kill(id, SIGKILL);
                ::waitpid(id, nullptr, 0);
            }
        ::munmap(shared_, sizeof(Shared) * process_count);
    }

    Shared& operator[](std::size_t i) { return shared_[i]; }

    /// Until each has ended by itself; whether all of them have ended well.
    bool join() {
        bool well = true;
        for (pid_t& id : ids_) {
            int status = -1;
            ::waitpid(std::exchange(id, -1), &status, 0);
            well = well && status == 0;
        }
        return well;
    }

private:
    static pid_t start(std::function<void()> const& work) {
        pid_t const parent = ::getpid();
        pid_t const id = ::fork();
        if (id != 0)
            return id;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        try {
            if (::getppid() == parent) {
                work();
                std::_Exit(testing::Test::HasFailure() ? 1 : 0);
            }
        } catch (std::exception const& e) {
            std::cerr << "a process of the fleet: " << e.what() << std::endl;
        }
        std::_Exit(1);
    }

    Shared* shared_ = nullptr;
    std::array<pid_t, process_count> ids_{};
};

struct balance {
    double earned = 0;
    std::uint64_t granted = 0;
};

// Eighths add up exactly.
TEST(redis_fleet, four_processes_are_granted_what_there_was_and_what_they_earned_exactly) {
    constexpr int questions = 8000 / process_count;
    constexpr std::uint32_t capacity = 5000;
    fleet::redis_process server(program);
    fleet_budget const budget({.capacity = capacity});
    EXPECT_EQ(blocking_redis(server.port()).ask(budget, {0, 4000}), 4000u) << "so that nothing flows over";
    processes<balance> all([&](std::size_t which, balance& mine) {
        blocking_redis redis(server.port());
        random dice(which + 1);
        for (int i = 0; i != questions; ++i) {
            fleet_request const request{static_cast<double>(dice.uniform(0, 24)) / 8,
                                        static_cast<std::uint32_t>(dice.uniform(0, 6))};
            mine.earned += request.earned;
            mine.granted += redis.ask(budget, request);
        }
    });
    ASSERT_TRUE(all.join());
    double earned = 0, granted = 4000;
    for (std::size_t i = 0; i != process_count; ++i) {
        earned += all[i].earned;
        granted += static_cast<double>(all[i].granted);
        EXPECT_GT(all[i].granted, 0u);
    }
    EXPECT_EQ(granted + blocking_redis(server.port()).left(), capacity + earned);
    EXPECT_GT(earned, 8000);
}

/// What a process that makes requests says of itself.
struct story {
    std::atomic<std::uint64_t> ended = 0, successes = 0,
                               retries = 0;                 // of requests, and attempts after the first
    std::atomic<std::uint64_t> grants = 0, unavailable = 0; // answers
    std::atomic<std::uint64_t> held = 0;
    std::atomic<std::uint64_t> ended_unanswered = 0; // requests that failed once, began and ended while one
                                                     // and the same question was under way
    std::atomic<bool> stop = false;
};

/// 300 requests a second, of two attempts each.
class requesting_process {
public:
    requesting_process(double failing, unsigned short redis, story& told)
        : failing_(failing)
        , told_(told)
        , driver_(std::make_shared<fleet::redis_driver>(
              io_.get_executor(), on_loopback(redis), "bucket",
              fleet_budget_options{
                  .interval = 100ms, .greatest_interval = 1s, .lease = 1s, .window = 1min, .capacity = 50}))
        , policy_(retry_policy()
                      .backoff(exponential(40ms))
                      .max_attempts(2)
                      .gate(all_gates({driver_->budget(), driver_}))) {}

    void run() {
        asio::co_spawn(io_, driver_->run(), asio::detached);
        asio::co_spawn(io_, begin_requests(), [this](std::exception_ptr) { io_.stop(); });
        io_.run();
    }

private:
    asio::awaitable<void> begin_requests() {
        asio::steady_timer next(io_);
        while (!told_.stop) {
            next.expires_after(3300us);
            co_await next.async_wait(asio::use_awaitable);
            begin_request();
            told_.held = driver_->budget()->held();
            told_.grants = driver_->grants();
            told_.unavailable = driver_->unavailable(); // whoever sees this sees what is held then
        }
    }

    void begin_request() {
        std::uint64_t const question = driver_->questions();
        auto const failed_once = std::make_shared<bool>(false);
        async_retry(
            io_,
            [this, failed_once](attempt a) -> error_code {
                told_.retries += a.number > 1;
                if (static_cast<double>(dice_.uniform(0, 999)) >= 1000 * failing_)
                    return {};
                *failed_once = true;
                return asio::error::connection_reset;
            },
            policy_,
            [this, question, failed_once](error_code ec) {
                told_.successes += !ec;
                told_.ended_unanswered +=
                    *failed_once && driver_->questions() == question && driver_->answers() != question;
                ++told_.ended;
            });
    }

    double const failing_;
    story& told_;
    asio::io_context io_{1};
    std::shared_ptr<fleet::redis_driver> driver_;
    retry_policy policy_;
    random dice_{static_cast<std::uint64_t>(::getpid())};
};

/// Waits for what takes a moment; a watchdog that barks after a minute.
template <typename Condition>
[[nodiscard]] bool comes_true(Condition const& condition, duration patience = 1min) {
    auto const end = std::chrono::steady_clock::now() + patience;
    while (!condition())
        if (std::chrono::steady_clock::now() > end)
            return false;
        else
            std::this_thread::sleep_for(5ms);
    return true;
}

/// What has been told since.
class since_now {
public:
    explicit since_now(story const& of)
        : of_(of)
        , ended_(of.ended)
        , successes_(of.successes)
        , retries_(of.retries)
        , grants_(of.grants)
        , unavailable_(of.unavailable)
        , held_(of.held)
        , ended_unanswered_(of.ended_unanswered) {}

    std::uint64_t ended() const { return of_.ended - ended_; }
    std::uint64_t successes() const { return of_.successes - successes_; }
    std::uint64_t retries() const { return of_.retries - retries_; }
    std::uint64_t grants() const { return of_.grants - grants_; }
    std::uint64_t unavailable() const { return of_.unavailable - unavailable_; }
    std::uint64_t ended_unanswered() const { return of_.ended_unanswered - ended_unanswered_; }

    /// The most that it can have retried with what it had and has earned itself. What has been told of it may
    /// be some requests old.
    double own() const { return 0.1 * static_cast<double>(successes()) + static_cast<double>(held_) + 20; }

private:
    story const& of_;
    std::uint64_t ended_, successes_, retries_, grants_, unavailable_, held_, ended_unanswered_;
};

template <typename Condition>
bool each(std::vector<since_now> const& since, Condition const& condition) {
    return std::all_of(since.begin(), since.end(), condition);
}

std::vector<since_now> now_of(processes<story>& all) {
    std::vector<since_now> result;
    for (std::size_t i = 0; i != process_count; ++i)
        result.emplace_back(all[i]);
    return result;
}

// The first process fails half of the time and needs what the others earn.
TEST(redis_fleet, when_the_server_is_killed_each_process_lives_on_its_own_tenth_until_it_is_back) {
    fleet::redis_process server(program);
    processes<story> all([&](std::size_t which, story& mine) {
        requesting_process(which == 0 ? 0.5 : 0.03, server.port(), mine).run();
    });
    auto const retries_of_others = [](since_now const& first) {
        return static_cast<double>(first.retries()) > 2 * first.own();
    };

    std::vector<since_now> since = now_of(all);
    ASSERT_TRUE(comes_true([&] { return retries_of_others(since[0]); })) << "the bucket is shared";
    ASSERT_TRUE(comes_true([&] { return each(since, [](auto const& s) { return s.grants() > 2; }); }));

    // It hangs: requests that fail end all the same, while one question waits for its answer.
    since = now_of(all);
    server.pause();
    ASSERT_TRUE(comes_true([&] { return since[0].ended_unanswered() > 50; })) << "no operation waits for it";
    ASSERT_TRUE(comes_true([&] { return each(since, [](auto const& s) { return s.unavailable() > 2; }); }));
    since = now_of(all);
    server.go_on();
    ASSERT_TRUE(comes_true([&] { return each(since, [](auto const& s) { return s.grants() > 0; }); }));

    server.kill();
    since = now_of(all);
    ASSERT_TRUE(comes_true([&] { return each(since, [](auto const& s) { return s.unavailable() > 0; }); }));
    since = now_of(all); // from here on nobody is granted anything
    ASSERT_TRUE(comes_true(
        [&] { return each(since, [](auto const& s) { return s.successes() > 700 && s.unavailable() > 3; }); }));
    for (std::size_t i = 0; i != process_count; ++i) {
        auto const retries = static_cast<double>(since[i].retries()); // before what it may only be less than
        EXPECT_LE(retries, since[i].own()) << i;
        EXPECT_EQ(since[i].grants(), 0u) << i;
    }
    EXPECT_GT(static_cast<double>(since[0].retries()), 0.05 * static_cast<double>(since[0].successes()))
        << "retries go on";

    server.restart();
    since = now_of(all);
    EXPECT_TRUE(comes_true(
        [&] {
            return retries_of_others(since[0]) && each(since, [](auto const& s) { return s.grants() > 0; });
        },
        20s))
        << "the bucket is shared again";

    for (std::size_t i = 0; i != process_count; ++i)
        all[i].stop = true;
    EXPECT_TRUE(all.join());
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&program}, "redis-server");
}
