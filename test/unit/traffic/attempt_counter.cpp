#include <asio_retry/traffic/attempt_counter.hpp>

#include <asio_retry/retry_machine.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"
#include "support/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

std::string counted(attempt_counter const& counter, time_point now) {
    return to_string(counter.recent(now));
}

TEST(attempt_counter, lets_everything_begin_and_counts_it) {
    attempt_counter counter;
    EXPECT_TRUE(counter.measures_time());
    EXPECT_EQ(counted(counter, noon), "0");
    for (std::uint64_t const number : {1u, 1u, 1u, 2u, 3u, 9u, 100u})
        EXPECT_EQ(counter.admit(number, noon).until, noon);
    EXPECT_EQ(counted(counter, noon), "3,1,1,0,0,0,0,2");
    EXPECT_TRUE(counter.acquire(failure_kind::transient, noon));
    counter.give_back(failure_kind::transient);
    counter.on_end(abandoned());
    counter.on_end(failure(failure_kind::timeout, noon));
    EXPECT_EQ(counted(counter, noon), "3,1,1,0,0,0,0,2") << "how they end does not matter";
    counter.on_end(detail::unbegun(9, noon));
    EXPECT_EQ(counted(counter, noon), "3,1,1,0,0,0,0,1") << "unless they did not begin";
}

TEST(attempt_counter, forgets_in_ten_slots) {
    attempt_counter counter(10s);
    (void)counter.admit(1, noon);
    (void)counter.admit(2, noon + 999ms);
    (void)counter.admit(3, noon + 1s);
    EXPECT_EQ(counted(counter, noon + 9999ms), "1,1,1");
    EXPECT_EQ(counted(counter, noon + 10s), "0,0,1");
    EXPECT_EQ(counted(counter, noon + 11s), "0");
    (void)counter.admit(4, noon + 24h);
    EXPECT_EQ(counted(counter, noon + 24h), "0,0,0,1");
}

TEST(attempt_counter, remembers_a_minute_unless_told_otherwise) {
    attempt_counter counter;
    (void)counter.admit(1, noon);
    EXPECT_EQ(counted(counter, noon + 60s - 1ns), "1");
    EXPECT_EQ(counted(counter, noon + 60s), "0");
}

TEST(attempt_counter, time_that_runs_backwards_stands_still) {
    attempt_counter counter(10s);
    (void)counter.admit(1, noon);
    (void)counter.admit(2, noon - 1h);
    EXPECT_EQ(counted(counter, noon - 2h), "1,1");
}

// As a client uses it: the retries of an operation that fails, and nothing of what a breaker refused.
TEST(attempt_counter, counts_what_a_policy_with_other_gates_begins) {
    auto const breaker = std::make_shared<circuit_breaker>();
    auto const counter = std::make_shared<attempt_counter>();
    auto const policy = retry_policy().max_attempts(3).gate(all_gates({breaker, counter}));
    machine_script script(policy);
    retry_action action = script.start();
    while (action.what != retry_action::kind::complete)
        action = action.what == retry_action::kind::attempt ? script.fail() : script.wake();
    EXPECT_EQ(counted(*counter, script.begin), "1,1,1");
    breaker->isolate();
    machine_script refused(policy);
    EXPECT_EQ(refused.start().what, retry_action::kind::complete);
    EXPECT_EQ(counter->recent(script.begin).total(), 3u);
}

TEST(attempt_counter, counts_an_attempt_once_that_another_gate_lets_wait) {
    auto const counter = std::make_shared<attempt_counter>();
    auto const rate = std::make_shared<rate_limit>(1, 100ms);
    auto const policy = retry_policy().max_attempts(3).wait_when_refused().gate(all_gates({rate, counter}));
    machine_script first(policy), second(policy), gone(policy.total_timeout(1s));
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_EQ(second.start().what, retry_action::kind::wait);
    EXPECT_EQ(gone.start().what, retry_action::kind::wait);
    EXPECT_THAT(second.wake(100ms), is_attempt());
    EXPECT_EQ(counted(*counter, first.begin + 100ms), "3");
    gone.machine.cancel();
    EXPECT_EQ(gone.wake(150ms).reason, stop_reason::cancelled);
    EXPECT_EQ(counted(*counter, first.begin + 150ms), "2") << "the third did not begin";
}

// As the window passes, so does an attempt that has waited: it counts from its beginning.
TEST(attempt_counter, counts_from_the_beginning_and_not_from_the_question) {
    auto const counter = std::make_shared<attempt_counter>(1s);
    auto const gates = all_gates({std::make_shared<rate_limit>(1, 900ms), counter});
    (void)gates->admit(1, noon);
    admission const later = gates->admit(2, noon);
    ASSERT_TRUE(later.reserved);
    (void)gates->admit_again(later, 2, noon + 900ms);
    EXPECT_EQ(counted(*counter, noon + 1800ms), "0,1");
    EXPECT_EQ(counted(*counter, noon + 1900ms), "0");
}

TEST(attempt_counter, decision_04_refuses_nonsense) {
    EXPECT_THAT(calling([] { attempt_counter(0s); }),
                refuses_option("attempt_counter.window", "0s", "must be positive"));
    EXPECT_THAT(calling([] { attempt_counter(-1ns); }),
                refuses_option("attempt_counter.window", "-1ns", "must be positive"));
    attempt_counter least(1ns), greatest(duration::max());
    (void)least.admit(1, noon);
    (void)greatest.admit(1, noon);
    EXPECT_EQ(counted(least, noon), "1");
    EXPECT_EQ(counted(greatest, noon), "1");
}

// One that keeps everything and counts anew each time.
TEST(attempt_counter, is_what_a_plain_one_is_over_2000_random_scripts) {
    for (std::uint64_t seed = 1; seed <= 2000 && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 dice(seed);
        auto const window = duration(static_cast<duration::rep>(1 + dice() % 1'000'000));
        duration const slot = std::max(window / 10, duration(1));
        attempt_counter counter(window);
        std::vector<std::pair<time_point, std::uint64_t>> all;
        time_point now(duration(static_cast<duration::rep>(dice() % 1000)) - 500ns);
        for (int step = 0; step < 100; ++step) {
            now += duration(static_cast<duration::rep>(dice() % (dice() % 8 == 0 ? 2'000'000 : 100'000)));
            if (dice() % 3 != 0) {
                all.emplace_back(now, 1 + dice() % 12);
                (void)counter.admit(all.back().second, now);
            }
            auto const slot_of = [&](time_point t) {
                return (t - time_point(-1000 * slot)) / slot; // no time here is before that
            };
            attempt_histogram expected;
            for (auto const& [when, number] : all)
                if (slot_of(when) > slot_of(now) - 10)
                    expected.add(number);
            ASSERT_EQ(to_string(counter.recent(now)), to_string(expected)) << "after step " << step;
        }
    }
}

TEST(attempt_counter, counts_to_the_end_of_time) {
    attempt_counter counter(duration(10)); // of slots of a nanosecond, of which that time is the last
    counter.admit(1, time_point::max());
    attempt_histogram expected;
    expected.add(1);
    EXPECT_EQ(to_string(counter.recent(time_point::max())), to_string(expected));
}

} // namespace
} // namespace asio_retry::test
