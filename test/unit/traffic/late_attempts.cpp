#include <asio_retry/traffic/rate_limit.hpp>

#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/cooldown.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/gate_values.hpp"
#include "support/script.hpp"
#include "support/split_mix_64.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

// Operations that are woken later than they were to begin.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Operations that wait at a gate, woken in the order of their times while the program does not stand still.
class late_crowd {
public:
    struct member {
        member(retry_policy const& policy, std::size_t its_number, time_point begins)
            : number(its_number)
            , script(policy, begins) {}
        std::size_t number;
        machine_script script;
        time_point due{};
        bool waits = false;
    };

    struct beginning {
        std::size_t number;
        time_point at;
    };

    member& start(retry_policy const& policy) {
        member& one = all.emplace_back(policy, all.size(), now);
        follow(one, one.script.start());
        return one;
    }
    void start(retry_policy const& policy, int count) {
        while (count-- > 0)
            start(policy);
    }

    /// Time passes, in steps of a millisecond.
    void run(duration length) {
        for (time_point const end = now + length; now < end;) {
            now += 1ms;
            wake();
        }
    }

    /// Nobody is woken meanwhile.
    void stand_still(duration length) {
        now += length;
        wake();
    }

    std::size_t begun_since(time_point when) const {
        return static_cast<std::size_t>(
            std::ranges::count_if(begun, [&](beginning const& one) { return one.at >= when; }));
    }

    /// The times between those that began from `when` on.
    std::vector<duration> gaps_since(time_point when) const {
        std::vector<duration> gaps;
        for (std::size_t i = 1; i < begun.size(); ++i)
            if (begun[i - 1].at >= when)
                gaps.push_back(begun[i].at - begun[i - 1].at);
        return gaps;
    }

    time_point now = noon;
    std::deque<member> all;
    std::vector<beginning> begun;

private:
    void wake() {
        for (;;) {
            member* first = nullptr;
            for (member& one : all)
                if (one.waits && one.due <= now && (!first || one.due < first->due))
                    first = &one;
            if (!first)
                return;
            follow(*first, first->script.wake(now - first->script.begin));
        }
    }

    void follow(member& one, retry_action const& action) {
        one.waits = action.what == retry_action::kind::wait;
        one.due = now + action.delay;
        if (action.what != retry_action::kind::attempt)
            return;
        begun.push_back({one.number, now});
        one.script.machine.on_success(now);
    }
};

retry_policy waiting_policy(std::shared_ptr<retry_gate> gate) {
    return endless_every_100ms().max_attempts(1).gate(std::move(gate)).wait_when_refused();
}

TEST(late_attempts, decision_77_after_a_stop_a_burst_begins_and_then_one_at_a_time) {
    for (std::uint32_t const burst : {1u, 3u})
        for (duration const length : {duration(1s), duration(17h)}) {
            late_crowd people;
            people.start(waiting_policy(std::make_shared<rate_limit>(100, 1s, burst)), 300);
            people.run(995ms);
            people.stand_still(length);
            time_point const woken = people.now;
            EXPECT_EQ(people.begun_since(woken), burst);
            people.run(3s);
            EXPECT_EQ(people.begun.size(), 300u);
            std::vector<duration> gaps = people.gaps_since(woken);
            gaps.erase(gaps.begin(), gaps.begin() + burst - 1);
            EXPECT_THAT(gaps, testing::Each(10ms));
            EXPECT_TRUE(std::ranges::is_sorted(people.begun, {}, &late_crowd::beginning::number))
                << "in their order";
        }
}

TEST(late_attempts, decision_77_whoever_asks_after_a_stop_comes_after_those_that_wait) {
    late_crowd people;
    retry_policy const policy = waiting_policy(std::make_shared<rate_limit>(10, 1s));
    people.start(policy, 20);
    people.run(450ms);
    people.stand_still(1s);
    people.start(policy, 5);
    people.run(1s);
    people.stand_still(500ms);
    people.run(5s);
    EXPECT_EQ(people.begun.size(), 25u);
    EXPECT_TRUE(std::ranges::is_sorted(people.begun, {}, &late_crowd::beginning::number));
}

TEST(late_attempts, decision_77_a_little_late_costs_nobody_anything) {
    auto const limit = std::make_shared<rate_limit>(10, 1s);
    std::deque<machine_script> all;
    for (int i = 0; i != 10; ++i)
        all.emplace_back(waiting_policy(limit), noon).start();
    for (int i = 1; i != 10; ++i)
        EXPECT_THAT(all.at(static_cast<std::size_t>(i)).wake(i * 100ms + (i % 2) * 60ms), is_attempt()) << i;
    EXPECT_EQ(limit->admit(1, noon + 950ms).until, noon + 1s);
}

// They are woken each millisecond.
TEST(late_attempts, decision_77_timers_that_are_a_little_late_cost_no_rate) {
    late_crowd people;
    people.start(waiting_policy(std::make_shared<rate_limit>(10'000, 1s)), 1000);
    people.run(100ms);
    EXPECT_EQ(people.begun.size(), 1000u);
    people.start(waiting_policy(std::make_shared<rate_limit>(10'000, 1s)), 1000);
    people.stand_still(50ms);
    EXPECT_EQ(people.begun.size(), 1002u);
    people.run(101ms);
    EXPECT_EQ(people.begun.size(), 2000u);
}

/// Whether attempts that begin at these times conform, by the definition.
bool keep_the_rate(std::vector<late_crowd::beginning> const& begun, std::uint32_t burst, duration interval) {
    time_point arrival = begun.front().at; // the theoretical one
    for (auto const& one : begun) {
        if (one.at < arrival - (burst - 1) * interval)
            return false;
        arrival = std::max(one.at, arrival) + interval;
    }
    return true;
}

// An attempt that is late by less than an interval counts as on time: so one more than the burst.
TEST(late_attempts, decision_77_no_stop_makes_a_rate_be_exceeded) {
    split_mix_64 random{1};
    for (int round = 0; round != 100; ++round) {
        auto const burst = static_cast<std::uint32_t>(1 + random.up_to(3));
        auto const limit = std::make_shared<rate_limit>(50, 1s, burst);
        late_crowd people;
        for (int step = 0; step != 60; ++step) {
            people.start(waiting_policy(limit), static_cast<int>(random.up_to(5)));
            if (random.up_to(9) == 0)
                people.stand_still(std::chrono::milliseconds(random.up_to(400)));
            else
                people.run(std::chrono::milliseconds(random.up_to(60)));
            if (random.up_to(3) == 0 && !people.all.empty()) {
                auto& one = people.all.at(random.up_to(people.all.size() - 1));
                if (one.waits)
                    one.script.machine.cancel(); // heard when it is woken
            }
        }
        people.run(6s);
        ASSERT_TRUE(std::ranges::none_of(people.all, &late_crowd::member::waits));
        ASSERT_TRUE(keep_the_rate(people.begun, burst + 1, 20ms)) << "burst " << burst << ", round " << round;
    }
}

// A tenant's times come before the server's, and other tenants use up the server's rate.
TEST(late_attempts, decision_77_one_that_is_late_because_of_another_gate_goes_before_later_times) {
    for (bool const server_first : {false, true}) {
        auto const tenant = std::make_shared<rate_limit>(10, 1s),
                   server = std::make_shared<rate_limit>(100, 1s);
        late_crowd people;
        people.start(waiting_policy(server), 100);
        retry_policy const both =
            waiting_policy(server_first ? all_gates({server, tenant}) : all_gates({tenant, server}));
        people.start(both, 20);
        for (int i = 0; i != 300; ++i) {
            people.start(waiting_policy(server));
            people.run(10ms);
        }
        auto const is_tenants = [](late_crowd::beginning const& one) {
            return one.number >= 100 && one.number < 120;
        };
        EXPECT_GE(std::ranges::count_if(people.begun, is_tenants), 17) << "in 3 s, of which it waits for one";
        EXPECT_LE(std::ranges::count_if(people.begun, is_tenants), 21);
        EXPECT_TRUE(keep_the_rate(people.begun, 2, 10ms));
    }
}

// Each of two limits gives late ones another time, and makes them late for that of the other.
TEST(late_attempts, decision_77_two_limits_let_everyone_begin_in_the_end) {
    for (bool const is_short_first : {false, true})
        for (int const count : {20, 50}) {
            auto const even = std::make_shared<rate_limit>(20, 1s),
                       slow = std::make_shared<rate_limit>(10, 1s, 5);
            retry_policy const policy =
                waiting_policy(is_short_first ? all_gates({even, slow}) : all_gates({slow, even}));
            late_crowd people;
            for (int stop = 0; stop != 4; ++stop) {
                people.start(policy, count);
                people.run(130ms);
                people.stand_still(3s);
            }
            people.run(1min);
            EXPECT_EQ(people.begun.size(), people.all.size()) << count;
        }
}

TEST(late_attempts, decision_77_late_ones_that_another_gate_refuses_leave_their_times) {
    for (std::uint32_t const burst : {1u, 3u}) {
        auto const limit = std::make_shared<rate_limit>(10, 1s, burst);
        auto const breaker = std::make_shared<circuit_breaker>();
        retry_policy const policy = waiting_policy(all_gates({limit, breaker}));
        late_crowd people;
        people.start(policy, 50);
        breaker->isolate();
        people.stand_still(1h);
        EXPECT_EQ(people.begun.size(), burst);
        for (auto const& one : people.all)
            EXPECT_TRUE(!one.waits || one.due > people.now + 24h || one.script.machine.was_refused());
        breaker->reset();
        for (std::uint32_t i = 0; i != burst; ++i)
            EXPECT_EQ(limit->admit(1, people.now).until, people.now) << "nobody has begun";
        EXPECT_EQ(limit->admit(1, people.now).until, people.now + 100ms);
    }
}

// They promise no time: whoever is late asks as if for the first time.
TEST(late_attempts, decision_77_breakers_and_cooldowns_are_asked_when_the_time_has_come) {
    for (duration const length : {duration(1s), duration(1h)}) {
        auto const breaker = std::make_shared<circuit_breaker>(
            circuit_breaker_options{.consecutive = 1, .open_for = 500ms, .open_cap = 24h, .probes = 2});
        attempt_end failed;
        failed.outcome = attempt_end::how::failed;
        failed.kind = failure_kind::transient;
        failed.now = noon;
        breaker->on_end(failed);
        std::deque<machine_script> all;
        for (int i = 0; i != 50; ++i)
            all.emplace_back(waiting_policy(breaker), noon).start();
        int begun = 0;
        for (auto& one : all)
            begun += one.wake(length).what == retry_action::kind::attempt;
        EXPECT_EQ(begun, 2) << "as many as there are probes";

        auto const pause = std::make_shared<cooldown>();
        failed.said = pushback::after(500ms);
        pause->on_end(failed);
        machine_script early(waiting_policy(pause), noon), late(waiting_policy(pause), noon);
        EXPECT_THAT(early.start(), is_wait(600ms));
        EXPECT_THAT(late.start().what, retry_action::kind::wait);
        EXPECT_THAT(early.wake(length), is_attempt());
        failed.now = noon + length;
        early.machine.heed(pushback::after(1s));
        early.fail(length);
        EXPECT_THAT(late.wake(length).what, retry_action::kind::wait) << "a pause has begun meanwhile";
    }
}

} // namespace
} // namespace asio_retry::test
