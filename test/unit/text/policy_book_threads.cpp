// A book that one thread reloads while others read it.
#include <asio_retry/policy_book.hpp>

#include "text/published.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

std::string version(std::uint64_t number) {
    std::string text;
    for (char const* const name : {"a", "b", "c"})
        text.append(name).append(" = max_attempts(").append(std::to_string(number)).append(")\n");
    return text;
}

std::uint64_t version_of(retry_policy const& policy) {
    return policy.settings().max_attempts.value_or(0);
}

/// Reads until it is told to stop. Looks whether versions are whole, and none comes back.
void keep_reading(policy_book const& book, std::stop_token const& stop, std::atomic<std::size_t>& rounds) {
    for (std::uint64_t latest = 0; !stop.stop_requested(); ++rounds) {
        for (char const* const name : {"a", "b", "c"}) {
            std::uint64_t const seen = version_of(book[name]);
            ASSERT_GE(seen, latest);
            latest = seen;
        }
        std::vector<std::uint64_t> all;
        book.for_each(
            [&](std::string const&, retry_policy const& policy) { all.push_back(version_of(policy)); });
        ASSERT_EQ(all, std::vector<std::uint64_t>(3, all.front()));
        ASSERT_GE(all.front(), latest);
        std::this_thread::yield();
    }
}

TEST(policy_book_threads, decision_70_readers_see_the_old_policies_or_the_new_ones) {
    policy_book book(version(1));
    std::array<std::atomic<std::size_t>, 4> rounds{};
    std::vector<std::jthread> readers;
    for (std::atomic<std::size_t>& each : rounds)
        readers.emplace_back([&](std::stop_token const& stop) { keep_reading(book, stop, each); });
    for (std::uint64_t number = 2; number != 60; ++number) {
        std::size_t const before = rounds[number % 4];
        if (number % 3 == 0)
            EXPECT_THROW(book.reload(version(number).substr(0, 30)), policy_syntax_error);
        else
            book.reload(version(number));
        while (rounds[number % 4] == before && !testing::Test::HasFatalFailure())
            std::this_thread::yield();
    }
}

TEST(policy_book_threads, decision_86_readers_find_one_rate_limit) {
    auto const text = [](int number) {
        std::string const n = std::to_string(number);
        return "a = rate_limit(" + n + ", 1s) max_attempts(" + n + ')';
    };
    policy_book book(text(1));
    auto const limit = book["a"].settings().gate;
    std::atomic<int> latest = 1; // of the policies in force
    std::jthread const writer([&] {
        for (int number = 2; number != 300; ++number) {
            book.reload(text(number));
            latest = number;
        }
    });
    for (int seen = 0; seen != 299; seen = latest) {
        retry_policy const policy = book["a"];
        ASSERT_EQ(policy.settings().gate, limit);
        (void)limit->admit(1, time_point());
        ASSERT_NE(to_string(policy), "");
    }
    EXPECT_EQ(to_string(book["a"]), to_string(parse_policies(text(299)).front().policy.name("a")));
}

TEST(policy_book_threads, may_reload_at_the_same_time) {
    policy_book book(version(1));
    std::vector<std::jthread> writers;
    for (std::uint64_t number = 2; number != 6; ++number)
        writers.emplace_back([&book, number] {
            for (int i = 0; i != 50; ++i)
                book.reload(version(number));
        });
    writers.clear();
    EXPECT_GT(version_of(book["a"]), 1u);
    EXPECT_EQ(version_of(book["a"]), version_of(book["c"]));
}

// Whichever comes first, the other text lacks a name that the book then has.
TEST(policy_book_threads, decision_70_of_two_reloads_with_other_names_one_is_refused) {
    constexpr int writers = 4, rounds = 200;
    for (int round = 0; round != rounds; ++round) {
        policy_book book("a = max_attempts(1)");
        std::barrier together(writers);
        std::atomic<int> refused = 0;
        std::vector<std::jthread> threads;
        for (int number = 0; number != writers; ++number)
            threads.emplace_back([&, number] {
                std::string const own = "own" + std::to_string(number);
                std::string const text = "a = max_attempts(2)\n" + own + " = max_attempts(3)";
                together.arrive_and_wait();
                try {
                    book.reload(text);
                    EXPECT_TRUE(book.find(own)) << "a name that was found once is always found";
                } catch (policy_syntax_error const&) {
                    ++refused;
                }
            });
        threads.clear();
        ASSERT_EQ(refused, writers - 1);
    }
}

/// A number that says when it dies.
struct mortal {
    explicit mortal(int n, std::atomic<bool>* d = nullptr)
        : number(n)
        , is_dead(d) {}
    ~mortal() {
        if (is_dead)
            *is_dead = true;
    }
    mortal(mortal const&) = delete;
    mortal& operator=(mortal const&) = delete;

    int number;
    std::atomic<bool>* is_dead;
};

void wait_for(std::function<bool()> const& condition) {
    while (!condition())
        std::this_thread::yield();
}

int number_in(detail::published<mortal> const& value) {
    return value.read([](mortal const& m) { return m.number; });
}

TEST(published, decision_70_a_reader_that_takes_long_keeps_its_value_and_no_other_reader_waits) {
    std::atomic<bool> is_dead = false, has_begun = false, may_end = false, was_dead = true;
    detail::published<mortal> value(std::make_unique<mortal const>(1, &is_dead));
    std::jthread slow([&] {
        was_dead = value.read([&](mortal const&) {
            has_begun = true;
            wait_for([&] { return may_end.load(); });
            return is_dead.load();
        });
    });
    wait_for([&] { return has_begun.load(); });
    std::jthread writer([&] { value.replace(std::make_unique<mortal const>(2)); });
    wait_for([&] { return number_in(value) == 2; });
    for (int i = 0; i != 10'000; ++i)
        EXPECT_EQ(number_in(value), 2);
    may_end = true;
    slow.join();
    writer.join();
    EXPECT_FALSE(was_dead);
    EXPECT_TRUE(is_dead);
}

// Each begins before the other ends, so there is always one.
TEST(published, decision_70_readers_that_never_end_all_at_once_do_not_keep_a_writer_waiting) {
    detail::published<mortal> value(std::make_unique<mortal const>(1));
    std::array<std::atomic<std::size_t>, 2> begun{};
    std::atomic<bool> is_done = false;
    auto const overlap = [&](std::size_t self) {
        for (std::size_t round = 1; !is_done; ++round)
            value.read([&](mortal const& m) {
                ++begun[self];
                wait_for([&] { return begun[1 - self] >= round + self || is_done; });
                return m.number;
            });
    };
    std::jthread one(overlap, 0), other(overlap, 1);
    wait_for([&] { return begun[0] > 3 && begun[1] > 3; });
    for (int number = 2; number != 20; ++number)
        value.replace(std::make_unique<mortal const>(number));
    is_done = true;
    EXPECT_EQ(number_in(value), 19);
}

} // namespace
} // namespace asio_retry::test
