#include <asio_retry/detail/traffic/endpoint_choice.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>

#include "stress/on_four_threads.hpp"
#include "stress/sanitized.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

// Four threads assign the endpoints of one set, choose among them, and end attempts at them.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr time_point first_time(12h);
constexpr int operations_of_a_thread = ASIO_RETRY_TEST_SANITIZED ? 20'000 : 100'000;

attempt_end end_of(std::uint64_t attempt, time_point began, time_point now, attempt_end::how outcome) {
    attempt_end end;
    end.number = attempt;
    end.outcome = outcome;
    end.kind = outcome == attempt_end::how::failed ? failure_kind::transient : failure_kind::none;
    end.now = outcome == attempt_end::how::abandoned ? began : now;
    end.took = now - began;
    return end;
}

std::vector<int> ten_from(int first) {
    std::vector<int> all;
    for (int i = 0; i < 10; ++i)
        all.push_back(first + i);
    return all;
}

class endpoints_of_four_threads : public testing::Test {
protected:
    /// Operations of up to four attempts. The endpoints fail, and are slow, for a while each.
    void operate(random& dice, std::function<void(random&)> const& between) {
        for (int i = 0; i < operations_of_a_thread; ++i) {
            detail::endpoint_choice one(detail::endpoint_access::table(set));
            one.draw_from(dice);
            auto const count = 1 + dice() % 4;
            for (std::uint64_t attempt = 1; attempt <= count; ++attempt) {
                time_point const began = first_time + step++ * 10us;
                if (one.choose(attempt, began).until > began) {
                    ++refused;
                    continue;
                }
                ++chosen;
                auto const at =
                    static_cast<std::uint64_t>(detail::endpoint_access::value<int>(*one.at(attempt)));
                if (dice() % 8 == 0)
                    continue; // abandoned with the operation
                auto const phase = static_cast<std::uint64_t>(step) / 5'000;
                bool const fails = (at + phase) % 4 == 0 || phase % 16 == 15; // then all do
                bool const is_slow = (at + phase) % 4 == 1;
                time_point const now = began + (is_slow ? 100us : 10us);
                one.on_end(end_of(attempt, began, now,
                                  dice() % 16 == 0 ? attempt_end::how::abandoned
                                  : fails          ? attempt_end::how::failed
                                                   : attempt_end::how::succeeded));
            }
            between(dice);
        }
    }

    /// Whatever the threads have done: nothing runs, and every endpoint can be asked.
    void expect_at_rest() {
        time_point now = first_time + 24h;
        random dice(1);
        for (int i = 0; i < 200; ++i, now += 1s) {
            detail::endpoint_choice one(detail::endpoint_access::table(set));
            one.draw_from(dice);
            for (std::uint64_t attempt = 1; attempt <= 10; ++attempt) // otherwise nobody asks the slowest
                if (one.choose(attempt, now).until <= now)
                    one.on_end(end_of(attempt, now, now, attempt_end::how::succeeded));
        }
        set.for_each(
            [](int endpoint, endpoint_status const& status) {
                EXPECT_EQ(status.in_flight, 0u) << endpoint;
                EXPECT_EQ(status.state, breaker_state::closed) << endpoint;
                EXPECT_EQ(status.ejected_until, time_point::min()) << endpoint;
            },
            now);
        EXPECT_GT(chosen, operations_of_a_thread);
        EXPECT_GT(refused, 0);
    }

    std::function<void(int endpoint, breaker_state from, breaker_state to)> on_change;
    endpoint_set<int> set{ten_from(0),
                          {.breaker = {.consecutive = 5, .open_for = 10ms, .open_cap = 1s}, .slow_least = 5},
                          [this](int endpoint, breaker_state from, breaker_state to, time_point) {
                              if (on_change)
                                  on_change(endpoint, from, to);
                          }};
    std::atomic<std::int64_t> step = 0;
    std::atomic<int> chosen = 0;
    std::atomic<int> refused = 0;
};

TEST_F(endpoints_of_four_threads, choose_and_end) {
    on_four_threads([&](int, random& dice) { operate(dice, [](random&) {}); });
    expect_at_rest();
}

TEST_F(endpoints_of_four_threads, assign_and_choose_and_end) {
    std::atomic<std::uint32_t> seen = 0, ejected = 0;
    on_four_threads([&](int, random& own) {
        operate(own, [&](random& dice) {
            if (dice() % 64 == 0)
                set.assign(ten_from(static_cast<int>(dice() % 4)));
            if (dice() % 64 == 0)
                set.for_each(
                    [&](int, endpoint_status const& status) {
                        seen += status.in_flight;
                        ejected += status.state == breaker_state::closed && status.ejected_until > first_time;
                    },
                    first_time);
        });
    });
    EXPECT_GT(seen, 0u);
    EXPECT_GT(ejected, 0u);
    expect_at_rest();
    set.assign(ten_from(5));
    expect_at_rest();
}

// The set has one of the lists then, and what it knew of the endpoint that stays.
TEST_F(endpoints_of_four_threads, decision_64_assign_lists_that_differ) {
    for (int i = 0; i != 5; ++i) {
        detail::endpoint_choice one(detail::endpoint_access::table(set));
        random dice(static_cast<std::uint64_t>(i));
        one.draw_from(dice);
        while (one.choose(1, first_time).until <= first_time &&
               detail::endpoint_access::value<int>(*one.at(1)) != 0)
            one.on_end(end_of(1, first_time, first_time, attempt_end::how::succeeded));
        one.on_end(end_of(1, first_time, first_time, attempt_end::how::failed));
    }
    on_four_threads([&](int number, random&) {
        for (int i = 0; i != 1000; ++i)
            set.assign({0, 10 * (number + 1), 10 * (number + 1) + 1 + i % 2});
    });
    std::vector<int> all;
    set.for_each(
        [&](int endpoint, endpoint_status const& status) {
            all.push_back(endpoint);
            EXPECT_EQ(status.state == breaker_state::open, endpoint == 0) << endpoint;
        },
        first_time);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0], 0);
    EXPECT_EQ(all[1] % 10, 0);
    EXPECT_EQ(all[2], all[1] + 2) << "the last list of its thread";
}

// In whatever order they are told: what an endpoint was told to become, it has left again, but for the last.
TEST_F(endpoints_of_four_threads, decision_67_hear_each_change) {
    std::array<std::array<std::atomic<int>, 4>, 10> balance{};
    std::atomic<int> told = 0;
    on_change = [&](int endpoint, breaker_state from, breaker_state to) {
        auto& of_one = balance[static_cast<std::size_t>(endpoint)];
        --of_one[static_cast<std::size_t>(from)];
        ++of_one[static_cast<std::size_t>(to)];
        ++told;
    };
    on_four_threads([&](int, random& dice) { operate(dice, [](random&) {}); });
    expect_at_rest();
    for (auto const& of_one : balance)
        for (auto const& of_state : of_one)
            EXPECT_EQ(of_state, 0) << "it was closed at first, and is";
    EXPECT_GT(told, 100);
}

TEST_F(endpoints_of_four_threads, decision_67_use_the_set_as_they_hear_of_changes) {
    std::atomic<int> told = 0;
    on_change = [&](int, breaker_state, breaker_state) {
        std::size_t count = 0;
        set.for_each([&](int, endpoint_status const&) { ++count; }, first_time);
        EXPECT_EQ(count, 10u);
        if (int const number = ++told; number % 4 == 0)
            set.assign(ten_from(number % 3));
    };
    on_four_threads([&](int, random& dice) { operate(dice, [](random&) {}); });
    expect_at_rest();
    EXPECT_GT(told, 100);
}

} // namespace
} // namespace asio_retry::test
