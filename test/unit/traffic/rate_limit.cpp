#include <asio_retry/traffic/rate_limit.hpp>

#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/attempt_ends.hpp"
#include "support/csv.hpp"
#include "support/gate_values.hpp"
#include "support/script.hpp"
#include "support/split_mix_64.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// How much later than `now` the attempt begins.
duration wait_at(rate_limit& limit, time_point now) {
    admission const answer = limit.admit(1, now);
    EXPECT_EQ(answer.reserved, answer.until > now);
    EXPECT_TRUE(!answer.reserved || answer.refusal == error::rate_limited);
    return answer.until - now;
}

TEST(rate_limit, decision_69_gives_each_attempt_a_time_of_its_own) {
    rate_limit limit(10, 1s);
    for (int i = 0; i != 5; ++i)
        EXPECT_EQ(wait_at(limit, noon), i * 100ms);
    EXPECT_EQ(wait_at(limit, noon + 450ms), 50ms);
    EXPECT_EQ(wait_at(limit, noon + 10s), 0ms);
    EXPECT_EQ(wait_at(limit, noon + 10s), 100ms) << "an idle time is not made up for";
}

// A policy that polls gives the time of a refused attempt back at once, as an operation does that ends.
TEST(golden, decision_69_rate_limit_is_the_virtual_scheduling_of_i_371) {
    std::vector<csv_row> const rows = read_csv("gcra.csv");
    ASSERT_EQ(rows.size(), 2400u);
    std::optional<rate_limit> limit;
    std::string script;
    for (csv_row const& row : rows) {
        std::string const its = row.at("way") + ' ' + row.at("n") + ' ' + row.at("per") + ' ' + row.at("burst");
        if (its != script)
            limit.emplace(static_cast<std::uint32_t>(std::stoul(row.at("n"))),
                          duration(std::stoll(row.at("per"))),
                          static_cast<std::uint32_t>(std::stoul(row.at("burst"))));
        script = its;
        time_point const asked = noon + duration(std::stoll(row.at("asked")));
        time_point const begins = noon + duration(std::stoll(row.at("begins")));
        ASSERT_EQ(asked + wait_at(*limit, asked), begins) << script << ", asked " << row.at("asked");
        if (begins > asked && (row.at("way") == "polls" || row.at("left") == "1"))
            limit->on_end(detail::unbegun(1, begins));
    }
}

TEST(rate_limit, lets_a_burst_begin_at_once) {
    rate_limit limit(10, 1s, 3);
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    EXPECT_EQ(wait_at(limit, noon), 100ms);
    EXPECT_EQ(wait_at(limit, noon), 200ms);
    EXPECT_EQ(wait_at(limit, noon + 500ms), 0ms);
    EXPECT_EQ(wait_at(limit, noon + 500ms), 0ms);
    EXPECT_EQ(wait_at(limit, noon + 500ms), 0ms) << "the bucket is empty again";
    EXPECT_EQ(wait_at(limit, noon + 500ms), 100ms);
}

TEST(rate_limit, decision_69_gives_a_returned_time_to_the_next_that_asks) {
    rate_limit limit(10, 1s);
    for (int i = 0; i != 5; ++i)
        wait_at(limit, noon);
    limit.on_end(detail::unbegun(1, noon + 200ms));
    limit.on_end(detail::unbegun(1, noon + 100ms));
    EXPECT_EQ(wait_at(limit, noon), 100ms);
    EXPECT_EQ(wait_at(limit, noon), 200ms);
    EXPECT_EQ(wait_at(limit, noon), 500ms);
    limit.on_end(detail::unbegun(1, noon + 300ms));
    EXPECT_EQ(wait_at(limit, noon + 301ms), 299ms) << "that time has passed";
    limit.on_end(failure(failure_kind::transient, noon + 400ms, 0ms));
    EXPECT_EQ(wait_at(limit, noon + 400ms), 300ms) << "an attempt that began keeps its time";
}

TEST(rate_limit, refuses_what_makes_no_sense) {
    auto const refusal = [](auto... options) -> std::string {
        try {
            rate_limit const limit(options...);
        } catch (std::invalid_argument const& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_THAT(refusal(0u, 1s), testing::HasSubstr("rate_limit.n"));
    EXPECT_THAT(refusal(1u, 0s), testing::HasSubstr("rate_limit.per"));
    EXPECT_THAT(refusal(1u, 1s, 0u), testing::HasSubstr("rate_limit.burst"));
    EXPECT_THAT(refusal(2'000'000'000u, 1s), testing::HasSubstr("rate_limit.n"));
    EXPECT_EQ(refusal(1u, saturating_duration::max(), std::numeric_limits<std::uint32_t>::max()), "");
}

/// Whether attempts that begin at these times conform, by the definition.
bool conform(std::vector<time_point> begun, std::uint32_t burst) {
    std::ranges::sort(begun);
    time_point arrival = begun.front(); // the theoretical one
    for (time_point const at : begun) {
        if (at < arrival - (burst - 1) * 100ms)
            return false;
        arrival = std::max(at, arrival) + 100ms;
    }
    return true;
}

// Over any time, no more begin than the rate and the burst allow, whatever is given back.
TEST(rate_limit, decision_69_is_never_exceeded) {
    split_mix_64 random{1};
    for (int round = 0; round != 300; ++round) {
        auto const burst = static_cast<std::uint32_t>(1 + random.up_to(4));
        rate_limit limit(10, 1s, burst);
        std::vector<time_point> begun, held;
        time_point now = noon;
        std::uint64_t const load = 50 + random.up_to(200);
        for (int i = 0; i != 300; ++i) {
            now += std::chrono::milliseconds(random.up_to(load));
            std::erase_if(held, [&](time_point at) {
                if (at > now)
                    return false;
                begun.push_back(at);
                return true;
            });
            if (!held.empty() && random.up_to(2) == 0) {
                std::size_t const which = random.up_to(held.size() - 1);
                limit.on_end(detail::unbegun(1, held[which]));
                held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
                continue;
            }
            admission const answer = limit.admit(1, now);
            if (answer.reserved)
                held.push_back(answer.until);
            else if (random.up_to(5) == 0)
                limit.on_end(detail::unbegun(1, now));
            else
                begun.push_back(now);
        }
        ASSERT_TRUE(conform(begun, burst)) << "burst " << burst << ", round " << round;
    }
}

TEST(rate_limit, decision_69_times_that_are_given_back_in_any_order_are_as_if_never_asked_for) {
    split_mix_64 random{1};
    for (std::uint32_t const burst : {1u, 3u}) {
        for (int order = 0; order != 3; ++order) {
            rate_limit limit(10, 1s, burst);
            std::vector<time_point> held;
            for (std::uint32_t i = 0; i != 10'000 + burst; ++i)
                if (admission const answer = limit.admit(1, noon); answer.reserved)
                    held.push_back(answer.until);
            if (order == 1)
                std::ranges::reverse(held);
            for (std::size_t i = held.size(); order == 2 && i > 1; --i)
                std::swap(held[i - 1], held[random.up_to(i - 1)]);
            for (time_point const at : held)
                limit.on_end(detail::unbegun(1, at));
            EXPECT_EQ(wait_at(limit, noon + 50ms), 50ms) << "burst " << burst << ", order " << order;
            EXPECT_EQ(wait_at(limit, noon + 5050ms), 0ms) << "burst " << burst << ", order " << order;
        }
    }
}

TEST(rate_limit, decision_69_an_attempt_that_does_not_begin_at_once_after_all_leaves_its_time) {
    rate_limit limit(10, 1s);
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    limit.on_end(detail::unbegun(1, noon));
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    EXPECT_EQ(wait_at(limit, noon), 100ms);
    limit.on_end(detail::unbegun(1, noon));
    EXPECT_EQ(wait_at(limit, noon + 1ms), 199ms) << "another has been planned for after it";
}

TEST(rate_limit, decision_69_the_last_of_a_burst_that_does_not_begin_leaves_its_time) {
    rate_limit limit(10, 1s, 3);
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    limit.on_end(detail::unbegun(1, noon));
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    EXPECT_EQ(wait_at(limit, noon), 0ms) << "the third that begins";
    EXPECT_EQ(wait_at(limit, noon), 100ms);
}

TEST(rate_limit, decision_69_several_that_do_not_begin_at_one_time_leave_all_their_times) {
    rate_limit limit(10, 1s, 3);
    for (int i = 0; i != 3; ++i)
        EXPECT_EQ(wait_at(limit, noon), 0ms);
    limit.on_end(detail::unbegun(1, noon));
    limit.on_end(detail::unbegun(1, noon));
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    EXPECT_EQ(wait_at(limit, noon), 0ms);
    EXPECT_EQ(wait_at(limit, noon), 100ms);
}

TEST(rate_limit, decision_69_a_returned_time_that_is_used_at_once_can_be_returned_again) {
    rate_limit limit(10, 1s);
    for (int i = 0; i != 5; ++i)
        wait_at(limit, noon);
    limit.on_end(detail::unbegun(1, noon + 200ms));
    for (int i = 0; i != 3; ++i) {
        EXPECT_EQ(wait_at(limit, noon + 200ms), 0ms);
        limit.on_end(detail::unbegun(1, noon + 200ms));
    }
    EXPECT_EQ(wait_at(limit, noon + 200ms), 0ms);
    EXPECT_EQ(wait_at(limit, noon + 200ms), 300ms);
}

TEST(rate_limit, a_returned_time_is_taken_at_its_last_moment) {
    rate_limit limit(10, 1s);
    for (int i = 0; i != 5; ++i)
        wait_at(limit, noon);
    limit.on_end(detail::unbegun(1, noon + 200ms));
    EXPECT_EQ(wait_at(limit, noon + 200ms), 0ms);
    EXPECT_EQ(wait_at(limit, noon + 200ms), 300ms);
}

// Such a client may find no time for ever, if a refused attempt kept its own.
TEST(rate_limit, decision_69_who_polls_gets_the_rate) {
    auto const limit = std::make_shared<rate_limit>(10, 1s);
    int begun = 0;
    for (int i = 0; i != 1000; ++i) {
        machine_script script(retry_policy().max_attempts(1).gate(limit), noon + i * 7ms);
        begun += script.start().what == retry_action::kind::attempt;
    }
    EXPECT_EQ(begun, 67) << "one each 105 ms";
}

TEST(rate_limit, operations_wait_for_their_times) {
    auto const limit = std::make_shared<rate_limit>(10, 1s);
    retry_policy const policy = endless_every_100ms().gate(limit).wait_when_refused();
    machine_script first(policy), second(policy), third(policy);
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(second.start(), is_wait(100ms));
    EXPECT_THAT(third.start(), is_wait(200ms));
    EXPECT_THAT(second.wake(40ms), is_wait(60ms)) << "retry_now does not break the rate";
    EXPECT_THAT(second.wake(100ms), is_attempt());
    third.machine.cancel();
    EXPECT_THAT(third.wake(150ms), is_completion(stop_reason::cancelled, detail::aborted_error()));
    machine_script fourth(policy);
    EXPECT_THAT(fourth.start(), is_wait(200ms)) << "the time of the third";
    machine_script hasty(policy.total_timeout(250ms));
    EXPECT_THAT(hasty.start(), is_completion(stop_reason::deadline, detail::timed_out_error()));
    machine_script refused(endless_every_100ms().gate(limit));
    EXPECT_THAT(refused.start(), is_completion(stop_reason::refused, error::rate_limited));
    machine_script fifth(policy);
    EXPECT_THAT(fifth.start(), is_wait(300ms)) << "neither of them keeps a time";
}

TEST(rate_limit, an_operation_that_has_no_time_to_wait_ends_with_its_error) {
    auto const limit = std::make_shared<rate_limit>(1, 1s);
    EXPECT_EQ(wait_at(*limit, time_point(1h)), 0ms);
    retry_policy const policy = endless_every_100ms().wait_when_refused();
    for (auto const& gate :
         {std::shared_ptr<retry_gate>(limit), all_gates({limit, std::make_shared<retry_gate>()})})
        for (auto const& limited : {policy.max_elapsed(900ms), policy.max_waited(900ms)}) {
            machine_script script(limited.gate(gate));
            EXPECT_THAT(script.start(), is_completion(stop_reason::elapsed, error::rate_limited));
            EXPECT_EQ(script.give_ups.at(0).error, error::rate_limited);
        }
    machine_script script(policy.total_timeout(900ms).gate(limit));
    EXPECT_THAT(script.start(), is_completion(stop_reason::deadline, detail::timed_out_error()));
    EXPECT_EQ(script.give_ups.at(0).message(), "operation timed out after 900 ms");
}

TEST(rate_limit, max_waited_is_the_sum_of_all_waits) {
    retry_policy const policy = endless_every_100ms().wait_when_refused().max_waited(1250ms);
    machine_script script(policy.gate(std::make_shared<rate_limit>(2, 1s)));
    EXPECT_THAT(script.start(), is_attempt());
    EXPECT_THAT(script.fail(0ms), is_wait(100ms));
    EXPECT_THAT(script.wake(100ms), is_wait(400ms));
    EXPECT_THAT(script.wake(500ms), is_attempt());
    EXPECT_THAT(script.fail(500ms), is_wait(100ms));
    EXPECT_THAT(script.wake(600ms), is_wait(400ms));
    EXPECT_THAT(script.wake(1s), is_attempt());
    EXPECT_THAT(script.fail(1s), is_wait(100ms));
    EXPECT_THAT(script.wake(1100ms), is_completion(stop_reason::elapsed, unreachable())) << "150 ms are left";
}

/// Refuses the first attempt, as a set of endpoints does that are all dead.
struct refusing_chooser final : detail::machine_observer {
    void on_start(time_point) noexcept override {}
    void on_attempt(std::uint64_t, time_point) noexcept override {}
    void on_failure(verdict const&, interruption, time_point) noexcept override {}
    void on_wait(duration, time_point) noexcept override {}
    void on_wait_over(time_point) noexcept override {}
    void on_end(stop_reason, time_point) noexcept override {}
    admission admit(std::uint64_t, time_point now) noexcept override {
        return std::exchange(has_refused, true) ? now : now + 1s;
    }
    bool has_refused = false;
};

/// A rate_limit that notes which times are given back.
struct returned_times final : retry_gate {
    admission admit(std::uint64_t number, time_point now) noexcept override { return limit.admit(number, now); }
    void on_end(attempt_end const& end) noexcept override {
        if (end.is_unbegun)
            returned.push_back(end.now);
        limit.on_end(end);
    }
    bool measures_time() const noexcept override { return true; }
    rate_limit limit{10, 1s};
    std::vector<time_point> returned;
};

TEST(rate_limit, decision_69_a_time_is_given_back_as_it_was_reserved) {
    auto const gate = std::make_shared<returned_times>();
    refusing_chooser chooser;
    machine_script script(endless_every_100ms().gate(gate).wait_when_refused(), noon);
    script.machine.choose_with(chooser);
    EXPECT_EQ(wait_at(gate->limit, noon), 0ms);
    EXPECT_THAT(script.start(), is_wait(100ms));
    EXPECT_EQ(script.wake(103ms).what, retry_action::kind::wait) << "the timer is late, and the set refuses";
    EXPECT_THAT(gate->returned, testing::ElementsAre(noon + 100ms));
    EXPECT_EQ(wait_at(gate->limit, noon + 104ms), 0ms) << "nobody has begun since noon";
    EXPECT_THAT(script.wake(1203ms), is_attempt());
    EXPECT_EQ(wait_at(gate->limit, noon + 1204ms), 99ms);
}

TEST(rate_limit, decision_69_all_gates_give_a_reserved_time_back_when_a_later_one_refuses) {
    auto const gate = std::make_shared<returned_times>();
    auto const breaker = std::make_shared<circuit_breaker>();
    auto const both = all_gates({gate, breaker});
    EXPECT_TRUE(!both->admit(1, noon).reserved);
    breaker->isolate();
    EXPECT_EQ(both->admit(1, noon).refusal, error::circuit_open);
    EXPECT_THAT(gate->returned, testing::ElementsAre(noon + 100ms));
    EXPECT_EQ(wait_at(gate->limit, noon), 100ms);
}

// Such a time is of another gate.
TEST(rate_limit, decision_69_keeps_no_time_that_it_has_not_reserved) {
    rate_limit limit(10, 1s);
    for (int i = 0; i != 5; ++i)
        wait_at(limit, noon);
    limit.on_end(detail::unbegun(1, noon + 150ms));
    limit.on_end(detail::unbegun(1, noon + 900ms));
    EXPECT_EQ(wait_at(limit, noon), 500ms);
}

// --- another rate

TEST(rate_limit, decision_86_keeps_what_is_left_of_the_burst) {
    rate_limit limit(10, 1s, 4);
    EXPECT_EQ(limit.admit(1, noon).until, noon);
    EXPECT_EQ(limit.admit(1, noon).until, noon);
    limit.update(1, 1s, 3); // two are left
    EXPECT_EQ(limit.admit(1, noon).until, noon);
    EXPECT_EQ(limit.admit(1, noon).until, noon);
    EXPECT_EQ(limit.admit(1, noon).until, noon + 1s);

    rate_limit idle(10, 1s);
    EXPECT_EQ(idle.admit(1, noon).until, noon);
    idle.update(10, 1s, 3);
    for (int i = 0; i != 3; ++i)
        EXPECT_EQ(idle.admit(1, noon + 1h).until, noon + 1h);
    EXPECT_GT(idle.admit(1, noon + 1h).until, noon + 1h);
}

// An operation that ends gives its time back in the new rate.
TEST(rate_limit, decision_86_a_time_of_the_old_rate_can_be_given_back) {
    rate_limit limit(1, 1s);
    EXPECT_EQ(limit.admit(1, noon).until, noon);
    admission const second = limit.admit(1, noon), third = limit.admit(1, noon);
    limit.update(10, 1s);
    EXPECT_EQ(limit.admit_again(third, 1, noon + 500ms).until, noon + 600ms);
    limit.on_end(detail::unbegun(1, second));
    EXPECT_EQ(limit.admit(1, noon + 500ms).until, noon + 500ms);
    EXPECT_EQ(limit.admit(1, noon + 500ms).until, noon + 700ms);
}

TEST(rate_limit, decision_86_says_its_numbers) {
    rate_limit limit(3, 10ms, 4);
    EXPECT_EQ(limit.numbers(), (rate_limit_numbers{3, 10ms, 4}));
    limit.update(7, 1min);
    EXPECT_EQ(limit.numbers(), (rate_limit_numbers{7, 1min, 1}));
}

TEST(rate_limit, decision_86_nonsense_changes_nothing) {
    rate_limit limit(1, 1s);
    EXPECT_THROW(limit.update(0, 1s), std::invalid_argument);
    EXPECT_THROW(limit.update(1, 0s), std::invalid_argument);
    EXPECT_THROW(limit.update(1, 1s, 0), std::invalid_argument);
    EXPECT_EQ(limit.numbers(), (rate_limit_numbers{1, 1s}));
    EXPECT_EQ(limit.admit(1, noon).until, noon);
    EXPECT_EQ(limit.admit(1, noon).until, noon + 1s);
}

} // namespace
} // namespace asio_retry::test
