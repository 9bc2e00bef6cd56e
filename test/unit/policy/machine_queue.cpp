#include <asio_retry/retry_machine.hpp>

#include <asio_retry/gate_waiter.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/elements.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/script.hpp"
#include "support/split_mix_64.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

/// A gate that answers at random, grants whom it likes, and notes what is wrong with what it hears.
class fickle_gate final : public retry_gate {
public:
    explicit fickle_gate(split_mix_64& dice)
        : dice_(dice) {}

    admission admit(std::uint64_t, time_point now) noexcept override { return answer(now); }

    admission enqueue(gate_waiter& waiter, std::uint64_t, time_point now) noexcept override {
        if (waiter_)
            fault = "two operations wait, and there is one";
        admission result = answer(now);
        if (result.can_queue) {
            waiter_ = &waiter;
            is_open_ = true;
            result.until = now + std::chrono::milliseconds(1 + dice_.up_to(50));
        }
        return result;
    }

    admission leave(gate_waiter& waiter, std::uint64_t, time_point now) noexcept override {
        if (waiter_ != &waiter)
            fault = "somebody leaves who does not wait";
        waiter_ = nullptr;
        if (!is_open_ && waiter.is_granted())
            return now;
        is_open_ = false;
        return (time_point::max)();
    }

    void on_end(attempt_end const& end) noexcept override {
        if (--running < 0)
            fault = "an attempt ends that was not admitted";
        begun += !end.is_unbegun;
        if (end.is_unbegun)
            earliest = {};
        if (end.is_unbegun && end.outcome != attempt_end::how::abandoned)
            fault = "an attempt that did not begin has a result";
    }

    bool measures_time() const noexcept override { return true; }

    /// Decides on the operation that waits, if there is one.
    void decide() noexcept {
        if (!waiter_ || !is_open_)
            return;
        is_open_ = false;
        if (dice_.up_to(3) == 0) {
            waiter_->expel();
        } else {
            ++running;
            waiter_->grant();
        }
    }

    bool is_left() const noexcept { return !waiter_; }

    std::string fault;
    int running = 0; // attempts that it has admitted
    int begun = 0;
    time_point earliest{}; // the time that it has reserved last

private:
    admission answer(time_point now) noexcept {
        admission result = now;
        switch (dice_.up_to(5)) {
        case 0: // refused
            result.until = (time_point::max)();
            return result;
        case 1:
            result.until = earliest = now + std::chrono::milliseconds(1 + dice_.up_to(20));
            result.reserved = true;
            break;
        case 2:
        case 3:
            result.until = (time_point::max)();
            result.can_queue = true;
            return result;
        }
        ++running;
        return result;
    }

    split_mix_64& dice_;
    gate_waiter* waiter_ = nullptr;
    bool is_open_ = false;
};

retry_policy random_policy(split_mix_64& dice) {
    retry_policy policy = endless_every_100ms().max_attempts(4);
    if (dice.up_to(2) != 0)
        policy = policy.wait_when_refused();
    if (dice.up_to(2) == 0)
        policy = policy.total_timeout(std::chrono::milliseconds(dice.up_to(300)));
    if (dice.up_to(3) == 0)
        policy = policy.max_waited(std::chrono::milliseconds(dice.up_to(300)));
    if (dice.up_to(3) == 0)
        policy = policy.max_elapsed(std::chrono::milliseconds(dice.up_to(300)));
    return policy;
}

/// Plays one operation to its end, or drops it. Returns what is wrong.
std::string fault_of_walk(std::uint64_t seed, std::size_t gates, bool is_observed) {
    split_mix_64 dice{seed};
    std::vector<std::shared_ptr<fickle_gate>> all;
    std::vector<std::shared_ptr<retry_gate>> chain;
    for (std::size_t i = 0; i != gates; ++i)
        chain.push_back(all.emplace_back(std::make_shared<fickle_gate>(dice)));
    auto const observer = std::make_shared<recording_observer>();
    retry_policy policy = random_policy(dice).gate(all_gates(chain));
    if (is_observed)
        policy = policy.observe(observer);
    int attempts = 0;
    {
        machine_script script(policy);
        duration now{};
        retry_action action = script.start();
        for (int steps = 0; steps != 60 && action.what != retry_action::kind::complete; ++steps) {
            if (action.what == retry_action::kind::attempt) {
                ++attempts;
                for (auto const& each : all)
                    if (each->running != 1)
                        return "an attempt runs that a gate has not admitted once";
                now += std::chrono::milliseconds(dice.up_to(20));
                action = dice.up_to(3) == 0 ? script.machine.on_success(script.begin + now) : script.fail(now);
                continue;
            }
            bool woken = false;
            auto const wake = [](void* who) noexcept { *static_cast<bool*>(who) = true; };
            script.machine.listen_to_gate(wake, &woken);
            duration const whole = action.delay;
            bool const is_decided = dice.up_to(1) == 0;
            if (is_decided)
                for (auto const& each : all)
                    each->decide();
            if (dice.up_to(9) == 0)
                script.machine.cancel();
            bool const is_early = woken || dice.up_to(5) == 0; // cut short
            now += is_early ? duration(std::chrono::milliseconds(dice.up_to(2))) : whole;
            action = script.wake(now);
            if (action.what == retry_action::kind::attempt)
                for (auto const& each : all)
                    if (each->earliest > script.begin + now)
                        return "an attempt begins before its time";
            for (auto const& each : all)
                if (action.what == retry_action::kind::attempt)
                    each->earliest = {};
        }
    }
    int begun = -1;
    for (auto const& each : all) {
        if (!each->fault.empty())
            return each->fault;
        if (each->running != 0)
            return "a gate has not heard of an end";
        if (!each->is_left())
            return "the operation has not left a queue";
        if (begun >= 0 && begun != each->begun)
            return "the gates have heard of different attempts";
        begun = each->begun;
    }
    if (begun >= 0 && begun != attempts)
        return "the gates have heard of " + std::to_string(begun) + " attempts of " + std::to_string(attempts);
    return is_observed ? observer->fault : "";
}

TEST(machine_queue, decision_69_no_admission_is_lost_whatever_gates_answer) {
    for (std::size_t gates = 1; gates <= 3; ++gates)
        for (bool const is_observed : {false, true})
            for (std::uint64_t seed = 1; seed != 4'000; ++seed)
                ASSERT_EQ(fault_of_walk(seed, gates, is_observed), "")
                    << gates << " gates, seed " << seed << (is_observed ? ", observed" : "");
}

// A gate of version 0.2 answers with a time, or with a time and an error.
TEST(machine_queue, gates_that_know_no_queue_are_asked_as_before) {
    struct old_gate final : retry_gate {
        admission admit(std::uint64_t number, time_point now) noexcept override {
            if (number > 1)
                return {now + 1s, error::circuit_open};
            return now;
        }
        bool measures_time() const noexcept override { return true; }
    };
    machine_script script(endless_every_100ms().gate(std::make_shared<old_gate>()));
    EXPECT_THAT(script.start(), is_attempt());
    EXPECT_THAT(script.fail(), is_wait(100ms));
    EXPECT_EQ(script.wake(100ms).reason, stop_reason::refused);
}

// A wait that it names would be over, or would never end.
TEST(machine_queue, a_gate_that_measures_no_time_lets_nothing_wait) {
    struct timeless_gate final : retry_gate {
        admission admit(std::uint64_t, time_point now) noexcept override {
            admission answer = now + 1s;
            answer.reserved = reserves;
            answer.can_queue = !reserves;
            return answer;
        }
        admission enqueue(gate_waiter&, std::uint64_t, time_point now) noexcept override {
            ++waiting;
            admission answer = now + 1s;
            answer.can_queue = true;
            return answer;
        }
        void on_end(attempt_end const& end) noexcept override { returned += end.is_unbegun; }
        bool measures_time() const noexcept override { return false; }
        bool reserves = false;
        int waiting = 0, returned = 0;
    };
    for (bool const reserves : {false, true}) {
        auto const gate = std::make_shared<timeless_gate>();
        gate->reserves = reserves;
        machine_script script(endless_every_100ms().gate(gate));
        EXPECT_THAT(script.start(), is_completion(stop_reason::refused, error::attempt_refused));
        EXPECT_EQ(gate->waiting, 0);
        EXPECT_EQ(gate->returned, reserves ? 1 : 0);
    }
}

/// A limit that never changes.
struct one_at_a_time {
    std::uint32_t limit() const noexcept { return 1; }
    void update(duration, std::uint32_t, bool) noexcept {}
};

TEST(machine_queue, max_waited_ends_a_wait_in_the_queue) {
    auto const limit = std::make_shared<concurrency_limit<one_at_a_time>>(
        one_at_a_time(), queue_options{.greatest = 1, .longest_wait = 1h});
    retry_policy const policy = endless_every_100ms().gate(limit);
    machine_script first(policy), second(policy.max_waited(500ms));
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(second.start(), is_wait(500ms));
    EXPECT_THAT(second.wake(200ms), is_wait(300ms));
    EXPECT_THAT(second.wake(500ms), is_completion(stop_reason::elapsed, error::too_many_in_flight));
    EXPECT_EQ(limit->queued(), 0u);
}

/// A limit that rises at the first success.
struct rising_limit {
    std::uint32_t most = 1;
    std::uint32_t limit() const noexcept { return most; }
    void update(duration, std::uint32_t, bool) noexcept { most = 100; }
};

// One turn must not wake thousands; and a newcomer does not pass those that are woken a little later.
TEST(machine_queue, decision_69_a_limit_that_rises_lets_sixteen_begin_at_a_time) {
    concurrency_limit<rising_limit> limit(rising_limit(), {.greatest = 40});
    time_point const now(1h);
    EXPECT_EQ(limit.admit(1, now).until, now);
    std::deque<gate_waiter> waiters;
    for (int i = 0; i != 40; ++i)
        EXPECT_TRUE(limit.enqueue(waiters.emplace_back(request_priority::normal), 1, now).can_queue);
    auto const granted = [&] { return std::ranges::count_if(waiters, &gate_waiter::is_granted); };
    attempt_end end;
    end.now = now;
    limit.on_end(end);
    EXPECT_EQ(granted(), 16);
    EXPECT_TRUE(waiters.at(15).is_granted()) << "the first ones";
    EXPECT_TRUE(limit.admit(1, now).can_queue) << "24 wait, though there are places";
    limit.on_end(end);
    EXPECT_EQ(granted(), 32);
    limit.on_end(end);
    EXPECT_EQ(granted(), 40);
    EXPECT_EQ(limit.admit(1, now).until, now);
    EXPECT_EQ(limit.queued(), 0u);
    EXPECT_EQ(limit.in_flight(), 39u);
}

TEST(machine_queue, a_full_queue_expels_the_last_one_of_the_lowest_priority) {
    concurrency_limit<one_at_a_time> limit(one_at_a_time(), {.greatest = 3});
    time_point const now(1h);
    EXPECT_EQ(limit.admit(1, now).until, now);
    gate_waiter first(request_priority::low), second(request_priority::low), third(request_priority::normal),
        high(request_priority::high);
    for (gate_waiter* each : {&first, &second, &third, &high})
        EXPECT_TRUE(limit.enqueue(*each, 1, now).can_queue);
    EXPECT_TRUE(second.is_decided() && !second.is_granted());
    EXPECT_FALSE(first.is_decided() || third.is_decided() || high.is_decided());
    for (gate_waiter* each : {&first, &second, &third, &high})
        EXPECT_EQ(limit.leave(*each, 1, now).refusal, error::too_many_in_flight);
    EXPECT_EQ(limit.queued(), 0u);
}

TEST(machine_queue, an_observer_hears_in_which_queue_of_all_gates_it_waits) {
    auto const limit =
        std::make_shared<concurrency_limit<one_at_a_time>>(one_at_a_time(), queue_options{.greatest = 1});
    auto const observer = std::make_shared<recording_observer>();
    auto const rate = std::make_shared<rate_limit>(1, 1s);
    EXPECT_EQ(rate->admit(1, time_point(1h)).until, time_point(1h));
    retry_policy const both = endless_every_100ms().gate(all_gates({rate, limit})).wait_when_refused();
    machine_script first(endless_every_100ms().gate(limit)), second(both.observe(observer));
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(second.start(), is_wait(1s));
    auto const held = std::ranges::find(observer->events, observation::kind::held, &observation::what);
    ASSERT_NE(held, observer->events.end());
    EXPECT_EQ(held->gate, "concurrency_limit");
}

// The time of the queue's end is no time of theirs.
TEST(machine_queue, decision_69_gates_before_a_queue_hear_their_time_when_a_later_gate_refuses) {
    struct timed_gate final : retry_gate {
        void on_end(attempt_end const& end) noexcept override { ended = end.now; }
        time_point ended{};
    };
    auto const before = std::make_shared<timed_gate>();
    auto const limit =
        std::make_shared<concurrency_limit<one_at_a_time>>(one_at_a_time(), queue_options{.greatest = 1});
    auto const breaker = std::make_shared<circuit_breaker>();
    machine_script first(endless_every_100ms().gate(limit));
    machine_script second(endless_every_100ms().gate(all_gates({before, limit, breaker})));
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(second.start(), is_wait(1s));
    first.machine.on_success(first.begin + 10ms);
    breaker->isolate();
    EXPECT_THAT(second.wake(10ms), is_completion(stop_reason::refused, error::circuit_open));
    EXPECT_EQ(before->ended, second.begin);
    EXPECT_EQ(limit->in_flight(), 0u);
}

// Another thread must not end a wait that this one is just beginning.
TEST(machine_queue, decision_69_a_gate_wakes_nobody_between_two_waits) {
    auto const limit =
        std::make_shared<concurrency_limit<one_at_a_time>>(one_at_a_time(), queue_options{.greatest = 1});
    machine_script first(endless_every_100ms().gate(limit)), second(endless_every_100ms().gate(limit));
    int woken = 0;
    auto const wake = [](void* who) noexcept { ++*static_cast<int*>(who); };
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(second.start(), is_wait(1s));
    EXPECT_TRUE(second.machine.listen_to_gate(wake, &woken));
    EXPECT_THAT(second.wake(300ms), is_wait(700ms)) << "retry_now";
    first.machine.on_success(first.begin + 300ms);
    EXPECT_EQ(woken, 0);
    EXPECT_FALSE(second.machine.listen_to_gate(wake, &woken)) << "it need not wait any longer";
    EXPECT_THAT(second.wake(300ms), is_attempt());
    second.machine.on_success(second.begin + 310ms);
    EXPECT_EQ(limit->in_flight(), 0u);
}

TEST(machine_queue, chains_in_chains_are_one_chain) {
    auto const limit =
        std::make_shared<concurrency_limit<one_at_a_time>>(one_at_a_time(), queue_options{.greatest = 1});
    auto const before = std::make_shared<recording_gate>(), after = std::make_shared<recording_gate>();
    auto const chain = all_gates({before, all_gates({limit, after})});
    machine_script first(endless_every_100ms().gate(chain)), second(endless_every_100ms().gate(chain));
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(second.start(), is_wait(1s)) << "the longest wait";
    EXPECT_THAT(before->told, elements("admit 1", "admit 1", "abandoned 1", "admit 1"));
    EXPECT_THAT(after->told, elements("admit 1"));
    first.machine.on_success(first.begin + 10ms);
    EXPECT_THAT(second.wake(10ms), is_attempt());
    EXPECT_THAT(after->told, elements("admit 1", "succeeded 1", "admit 1"));
    second.machine.on_success(second.begin + 20ms);
    EXPECT_TRUE(before->is_balanced() && after->is_balanced());
    EXPECT_EQ(limit->in_flight(), 0u);
}

// Otherwise a rate_limit takes the time of the refusal for one that it has reserved, and gives it to two.
TEST(machine_queue, decision_69_gates_before_a_queue_get_back_the_time_at_which_they_admitted) {
    auto const rate = std::make_shared<rate_limit>(10, 1s);
    auto const limit = std::make_shared<concurrency_limit<one_at_a_time>>(
        one_at_a_time(), queue_options{.greatest = 1, .longest_wait = 100ms});
    retry_policy const policy = endless_every_100ms().gate(all_gates({rate, limit}));
    machine_script running(endless_every_100ms().gate(limit)), waiting(policy);
    EXPECT_THAT(running.start(), is_attempt());
    EXPECT_THAT(waiting.start(), is_wait(100ms));
    time_point const then = waiting.begin + 100ms;
    EXPECT_EQ(rate->admit(1, waiting.begin).until, then) << "another operation has that time";
    EXPECT_THAT(waiting.wake(100ms), is_completion(stop_reason::refused, error::too_many_in_flight));
    EXPECT_EQ(rate->admit(1, then).until, then + 100ms) << "and keeps it";
}

} // namespace
} // namespace asio_retry::test
