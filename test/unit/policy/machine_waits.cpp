#include <asio_retry/retry_machine.hpp>

#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/gate_values.hpp"
#include "support/recording_gate.hpp"
#include "support/script.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

// An attempt that has waited at one gate is asked for again at the others.

namespace asio_retry::test {
namespace {

/// The limit never changes.
struct one_place {
    std::uint32_t limit() const noexcept { return 1; }
    void update(duration, std::uint32_t, bool) noexcept {}
};

std::shared_ptr<concurrency_limit<one_place>> queue_for_one() {
    return std::make_shared<concurrency_limit<one_place>>(one_place(),
                                                          queue_options{.greatest = 100, .longest_wait = 1h});
}

/// Opens at the first failure, for 5 s.
std::shared_ptr<circuit_breaker> touchy_breaker() {
    return std::make_shared<circuit_breaker>(
        circuit_breaker_options{.consecutive = 1, .open_for = 5s, .open_spread = 0, .probes = 1});
}

retry_policy waiting_at(std::shared_ptr<retry_gate> gate) {
    return endless_every_100ms().max_attempts(1).gate(std::move(gate)).wait_when_refused();
}

class machine_waits : public testing::Test {
protected:
    machine_script& operation(retry_policy const& policy, time_point begins = noon) {
        return operations.emplace_back(policy, begins);
    }
    std::deque<machine_script> operations;
};

TEST_F(machine_waits, decision_69_a_reserved_time_is_no_permission_of_other_gates) {
    for (bool const breaker_first : {false, true}) {
        auto const breaker = touchy_breaker();
        auto const rate = std::make_shared<rate_limit>(10, 1s);
        retry_policy const policy =
            waiting_at(breaker_first ? all_gates({breaker, rate}) : all_gates({rate, breaker}));
        auto &first = operation(policy), &second = operation(policy), &third = operation(policy);
        EXPECT_THAT(first.start(), is_attempt());
        EXPECT_THAT(second.start(), is_wait(100ms));
        EXPECT_THAT(third.start(), is_wait(200ms));
        first.fail(50ms);
        EXPECT_THAT(second.wake(100ms), is_wait(4950ms + 100ms))
            << "until the breaker is half-open, and its backoff";
        EXPECT_EQ(rate->admit(1, noon + 100ms).until, noon + 100ms) << "nobody has this time any more";
        EXPECT_THAT(third.wake(200ms).what, retry_action::kind::wait);
        EXPECT_EQ(rate->admit(1, noon + 200ms).until, noon + 200ms);
        EXPECT_THAT(second.wake(5150ms), is_attempt()) << "the probe";
        EXPECT_EQ(breaker->state(noon + 5150ms), breaker_state::half_open);
    }
}

TEST_F(machine_waits, decision_69_one_that_was_let_in_by_a_closed_breaker_frees_no_probes_place) {
    for (bool const breaker_first : {false, true}) {
        auto const breaker = touchy_breaker();
        auto const rate = std::make_shared<rate_limit>(1, 10s);
        retry_policy const policy =
            waiting_at(breaker_first ? all_gates({breaker, rate}) : all_gates({rate, breaker}));
        auto &first = operation(policy), &second = operation(policy);
        EXPECT_THAT(first.start(), is_attempt());
        EXPECT_THAT(second.start(), is_wait(10s));
        first.fail(0ms);
        admission const probe = breaker->admit(1, noon + 6s);
        EXPECT_EQ(probe.until, noon + 6s);
        second.machine.cancel();
        EXPECT_THAT(second.wake(7s), is_completion(stop_reason::cancelled, detail::aborted_error()));
        EXPECT_EQ(breaker->admit(1, noon + 8s).refusal, error::circuit_open) << "the probe runs";
        breaker->on_end(detail::unbegun(1, probe));
        EXPECT_EQ(breaker->admit(1, noon + 9s).until, noon + 9s);
    }
}

TEST_F(machine_waits, a_probe_that_waits_for_its_time_stays_the_same_probe) {
    for (bool const ends_well : {false, true}) {
        auto const breaker = touchy_breaker();
        auto const rate = std::make_shared<rate_limit>(1, 1s);
        retry_policy const policy = waiting_at(all_gates({breaker, rate}));
        auto &first = operation(policy), &second = operation(policy, noon + 5s);
        EXPECT_THAT(first.start(), is_attempt());
        first.fail(0ms);
        EXPECT_EQ(rate->admit(1, noon + 5s).until, noon + 5s);
        EXPECT_THAT(second.start(), is_wait(1s));
        EXPECT_EQ(breaker->admit(1, noon + 5s).refusal, error::circuit_open);
        EXPECT_THAT(second.wake(1s), is_attempt());
        EXPECT_EQ(breaker->admit(1, noon + 6s).refusal, error::circuit_open) << "it has one place";
        if (ends_well)
            second.machine.on_success(noon + 7s);
        else
            second.fail(2s);
        EXPECT_EQ(breaker->state(noon + 7s), ends_well ? breaker_state::closed : breaker_state::open);
    }
}

// Whoever waited at the first used to be refused at the second.
TEST_F(machine_waits, decision_69_one_that_waited_in_a_queue_waits_in_the_next_queue_too) {
    auto const first = queue_for_one(), second = queue_for_one();
    auto &at_first = operation(waiting_at(first)), &at_second = operation(waiting_at(second));
    auto &both = operation(waiting_at(all_gates({first, second}))), &later = operation(waiting_at(second));
    EXPECT_THAT(at_first.start(), is_attempt());
    EXPECT_THAT(at_second.start(), is_attempt());
    EXPECT_THAT(both.start(), is_wait(1h));
    at_first.machine.on_success(noon + 10ms);
    EXPECT_THAT(both.wake(10ms), is_wait(1h));
    EXPECT_THAT(later.start(), is_wait(1h));
    EXPECT_EQ(first->in_flight(), 1u) << "it keeps the place";
    EXPECT_EQ(second->queued(), 2u);
    at_second.machine.on_success(noon + 20ms);
    EXPECT_THAT(both.wake(20ms), is_attempt());
    EXPECT_THAT(later.wake(20ms).what, retry_action::kind::wait);
    both.machine.on_success(noon + 30ms);
    EXPECT_THAT(later.wake(30ms), is_attempt());
    EXPECT_EQ(first->in_flight(), 0u);
}

/// Reserves a time 100 ms ahead, and counts who asks about it again.
struct hundred_ms_ahead final : retry_gate {
    admission admit(std::uint64_t, time_point now) noexcept override {
        admission later{now + 100ms};
        later.reserved = true;
        return later;
    }
    admission admit_again(admission const& before, std::uint64_t, time_point) noexcept override {
        ++asked_again;
        return before;
    }
    int asked_again = 0;
};

// A `retry_now` does so.
TEST_F(machine_waits, decision_69_one_that_is_woken_before_its_time_asks_nobody) {
    auto const gate = std::make_shared<hundred_ms_ahead>();
    auto& early = operation(waiting_at(gate));
    EXPECT_THAT(early.start(), is_wait(100ms));
    EXPECT_THAT(early.wake(40ms), is_wait(60ms));
    EXPECT_EQ(gate->asked_again, 0);
    EXPECT_THAT(early.wake(100ms), is_attempt());
    EXPECT_EQ(gate->asked_again, 1);
}

/// Full when it is asked, and not a moment later.
struct freed_meanwhile final : retry_gate {
    admission admit(std::uint64_t, time_point) noexcept override {
        admission full{time_point::max(), error::too_many_in_flight};
        full.can_queue = true;
        return full;
    }
    admission enqueue(gate_waiter& waiter, std::uint64_t, time_point now) noexcept override {
        waiter.grant();
        return now;
    }
    admission admit_again(admission const&, std::uint64_t, time_point now) noexcept override { return now; }
};

// The next queue used to take it for its own grant: it gave no place, and kept a waiter that was destroyed.
TEST_F(machine_waits, decision_69_a_place_that_one_queue_gives_at_once_is_none_at_the_next) {
    auto const queue = queue_for_one();
    retry_policy const both = waiting_at(all_gates({std::make_shared<freed_meanwhile>(), queue}));
    auto &first = operation(waiting_at(queue)), &second = operation(both), &third = operation(both);
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(second.start(), is_wait(1h));
    EXPECT_THAT(third.start(), is_wait(1h));
    EXPECT_EQ(queue->queued(), 2u);
    first.machine.on_success(noon + 10ms);
    EXPECT_THAT(second.wake(10ms), is_attempt());
    third.machine.cancel();
    EXPECT_THAT(third.wake(20ms), is_completion(stop_reason::cancelled, detail::aborted_error()));
    second.machine.on_success(noon + 30ms);
    EXPECT_EQ(queue->in_flight() + queue->queued(), 0u);
}

TEST_F(machine_waits, decision_69_one_that_ends_in_the_second_queue_leaves_both_gates) {
    for (bool const is_granted : {false, true}) {
        auto const first = queue_for_one(), second = queue_for_one();
        auto const probe = std::make_shared<recording_gate>();
        auto &at_first = operation(waiting_at(first)), &at_second = operation(waiting_at(second));
        auto& both = operation(waiting_at(all_gates({first, second, probe})));
        EXPECT_THAT(at_first.start(), is_attempt());
        EXPECT_THAT(at_second.start(), is_attempt());
        EXPECT_THAT(both.start(), is_wait(1h));
        at_first.machine.on_success(noon + 10ms);
        EXPECT_THAT(both.wake(10ms), is_wait(1h));
        if (is_granted)
            at_second.machine.on_success(noon + 20ms);
        both.machine.cancel();
        EXPECT_THAT(both.wake(20ms), is_completion(stop_reason::cancelled, detail::aborted_error()));
        EXPECT_EQ(first->in_flight() + first->queued() + second->queued(), 0u);
        EXPECT_EQ(second->in_flight(), is_granted ? 0u : 1u);
        EXPECT_TRUE(probe->told.empty()) << "an operation that ends asks no other gate";
    }
}

TEST_F(machine_waits, decision_69_a_breaker_before_a_queue_lets_nobody_begin_while_it_is_open) {
    for (bool const breaker_first : {false, true}) {
        auto const breaker = touchy_breaker();
        auto const limit = queue_for_one();
        retry_policy const policy = endless_every_100ms().max_attempts(1).gate(
            breaker_first ? all_gates({breaker, limit}) : all_gates({limit, breaker}));
        auto& first = operation(policy);
        EXPECT_THAT(first.start(), is_attempt());
        std::vector<machine_script*> waiting;
        for (int i = 0; i != 10; ++i)
            EXPECT_THAT(waiting.emplace_back(&operation(policy))->start(), is_wait(1h));
        first.fail(10ms);
        for (auto* each : waiting)
            EXPECT_THAT(each->wake(10ms), is_completion(stop_reason::refused, error::circuit_open));
        EXPECT_EQ(limit->in_flight() + limit->queued(), 0u);
    }
}

/// The times at which operations begin that start at noon. Each attempt takes 10 ms.
std::vector<duration> beginnings(std::shared_ptr<retry_gate> const& gate, int count) {
    struct request {
        explicit request(retry_policy const& policy)
            : script(policy, noon) {}
        machine_script script;
        retry_action last;
        duration due{};
    };
    std::deque<request> all;
    std::vector<duration> begun;
    auto const follow = [&](request& one, retry_action const& action, duration now) {
        one.last = action;
        one.due = now + (action.what == retry_action::kind::wait ? action.delay : 10ms);
        if (action.what == retry_action::kind::attempt)
            begun.push_back(now);
    };
    for (int i = 0; i != count; ++i) {
        auto& one = all.emplace_back(waiting_at(gate));
        follow(one, one.script.start(), 0ms);
    }
    for (duration now{}; now < 5s; now += 1ms)
        for (int turn = 0; turn != 2;
             ++turn) // the second for an operation that is granted a place in the first
            for (auto& one : all) {
                auto const ignore = [](void*) noexcept {};
                if (one.last.what == retry_action::kind::attempt && one.due <= now)
                    follow(one, one.script.machine.on_success(noon + now), now);
                else if (one.last.what == retry_action::kind::wait &&
                         (one.due <= now || !one.script.machine.listen_to_gate(ignore, nullptr)))
                    follow(one, one.script.wake(now), now);
            }
    return begun;
}

TEST_F(machine_waits, decision_69_two_rates_hold_in_both_orders) {
    auto const rate = [](std::uint32_t n, std::uint32_t burst) {
        return std::make_shared<rate_limit>(n, 1s, burst);
    };
    auto const every_200ms = testing::ElementsAre(0ms, 200ms, 400ms, 600ms, 800ms);
    EXPECT_THAT(beginnings(all_gates({rate(10, 1), rate(5, 1)}), 5), every_200ms);
    EXPECT_THAT(beginnings(all_gates({rate(5, 1), rate(10, 1)}), 5), every_200ms);
    EXPECT_THAT(beginnings(all_gates({rate(5, 1), rate(10, 3)}), 5), every_200ms);
}

TEST_F(machine_waits, decision_69_two_rates_get_their_own_times_back) {
    for (bool const fast_first : {false, true}) {
        auto const fast = std::make_shared<rate_limit>(10, 1s), slow = std::make_shared<rate_limit>(5, 1s);
        auto const both = fast_first ? all_gates({fast, slow}) : all_gates({slow, fast});
        EXPECT_THAT(operation(waiting_at(both)).start(), is_attempt());
        for (int i = 0; i != 3; ++i) {
            auto& one = operation(waiting_at(both));
            EXPECT_THAT(one.start(), is_wait(200ms));
            one.machine.cancel();
            EXPECT_THAT(one.wake(50ms), is_completion(stop_reason::cancelled, detail::aborted_error()));
        }
        EXPECT_EQ(fast->admit(1, noon + 50ms).until, noon + 100ms);
        EXPECT_EQ(slow->admit(1, noon + 50ms).until, noon + 200ms);
    }
}

TEST_F(machine_waits, decision_69_a_queue_and_a_rate_hold_in_both_orders) {
    auto const every_100ms = testing::ElementsAre(0ms, 100ms, 200ms, 300ms, 400ms);
    EXPECT_THAT(beginnings(all_gates({queue_for_one(), std::make_shared<rate_limit>(10, 1s)}), 5), every_100ms);
    EXPECT_THAT(beginnings(all_gates({std::make_shared<rate_limit>(10, 1s), queue_for_one()}), 5), every_100ms);
    auto const every_10ms = testing::ElementsAre(0ms, 10ms, 20ms, 30ms, 40ms);
    EXPECT_THAT(beginnings(all_gates({queue_for_one(), std::make_shared<rate_limit>(1000, 1s)}), 5),
                every_10ms);
    EXPECT_THAT(beginnings(all_gates({std::make_shared<rate_limit>(1000, 1s), queue_for_one()}), 5),
                every_10ms);
}

// In one turn, before any of them has ended.
TEST_F(machine_waits, decision_78_who_cannot_wait_for_a_time_does_not_hold_it) {
    auto const impatient = {
        +[](retry_policy const& p) { return p.total_timeout(50ms); },
        +[](retry_policy const& p) { return p.deadline(noon + 50ms); },
        +[](retry_policy const& p) { return p.max_elapsed(50ms); },
        +[](retry_policy const& p) { return p.max_waited(50ms); },
    };
    for (auto const& limited : impatient)
        for (int gates = 0; gates != 3; ++gates) {
            auto const rate = std::make_shared<rate_limit>(10, 1s);
            auto const other = std::make_shared<recording_gate>();
            retry_policy const policy = waiting_at(gates == 0   ? rate
                                                   : gates == 1 ? all_gates({rate, other})
                                                                : all_gates({other, rate}));
            operations.clear();
            EXPECT_TRUE(operation(policy).machine.may_start(noon));
            for (int i = 0; i != 200; ++i)
                EXPECT_FALSE(operation(limited(policy)).machine.may_start(noon));
            EXPECT_EQ(other->running, gates == 0 ? 0 : 1);
            for (int i = 0; i != 5; ++i)
                EXPECT_FALSE(operation(policy.total_timeout(2s)).machine.may_start(noon));
            for (std::size_t i = 1; i != 201; ++i)
                EXPECT_EQ(operations.at(i).start().what, retry_action::kind::complete);
            for (int i = 1; i != 6; ++i)
                EXPECT_THAT(operations.at(static_cast<std::size_t>(200 + i)).start(), is_wait(i * 100ms));
            operations.clear();
            EXPECT_TRUE(other->is_balanced());
        }
}

TEST_F(machine_waits, decision_78_who_has_no_time_takes_no_place_in_a_queue) {
    auto const limit = std::make_shared<concurrency_limit<one_place>>(
        one_place(), queue_options{.greatest = 1, .longest_wait = 1h});
    retry_policy const policy = endless_every_100ms().gate(limit);
    auto &first = operation(policy), &low = operation(policy.priority(request_priority::low));
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(low.start(), is_wait(1h));
    auto& hasty = operation(policy.priority(request_priority::high).max_waited(0ms));
    EXPECT_THAT(hasty.start(), is_completion(stop_reason::elapsed, error::too_many_in_flight));
    EXPECT_EQ(limit->queued(), 1u);
    first.machine.on_success(noon + 10ms);
    EXPECT_THAT(low.wake(10ms), is_attempt());
}

// Before the queue stands a rate: its time would come too late.
TEST_F(machine_waits, decision_78_who_cannot_wait_for_its_time_waits_in_no_queue) {
    auto const limit = queue_for_one();
    auto const rate = std::make_shared<rate_limit>(10, 1s);
    retry_policy const policy = waiting_at(all_gates({rate, limit}));
    EXPECT_THAT(operation(policy).start(), is_attempt());
    EXPECT_THAT(operation(policy.total_timeout(150ms)).start(), is_wait(150ms));
    for (int i = 0; i != 3; ++i)
        EXPECT_FALSE(operation(policy.total_timeout(150ms)).machine.may_start(noon));
    EXPECT_EQ(limit->queued(), 1u);
    EXPECT_EQ(rate->admit(1, noon).until, noon + 200ms);
}

TEST_F(machine_waits, decision_78_a_time_that_moves_beyond_the_limits_is_given_back) {
    auto const rate = std::make_shared<rate_limit>(10, 1s);
    retry_policy const policy = waiting_at(rate);
    auto &first = operation(policy), &second = operation(policy),
         &third = operation(policy.total_timeout(250ms));
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(second.start(), is_wait(100ms));
    EXPECT_THAT(third.start(), is_wait(200ms));
    EXPECT_THAT(second.wake(240ms), is_attempt()) << "the program stood still";
    EXPECT_THAT(third.wake(240ms), is_completion(stop_reason::deadline, detail::timed_out_error()));
    EXPECT_EQ(rate->admit(1, noon + 240ms).until, noon + 340ms);
}

// A gate that somebody wrote is asked, too: what it had admitted ends, and is asked for anew.
TEST_F(machine_waits, a_gate_that_knows_no_second_question_is_asked_anew) {
    auto const own = std::make_shared<recording_gate>();
    auto const limit = queue_for_one();
    retry_policy const policy = endless_every_100ms().max_attempts(1).gate(all_gates({own, limit}));
    auto &first = operation(waiting_at(limit)), &second = operation(policy), &third = operation(policy);
    EXPECT_THAT(first.start(), is_attempt());
    EXPECT_THAT(second.start(), is_wait(1h));
    EXPECT_THAT(third.start(), is_wait(1h));
    own->told.clear();
    first.machine.on_success(noon + 10ms);
    EXPECT_THAT(second.wake(10ms), is_attempt());
    EXPECT_THAT(own->told, testing::ElementsAre("abandoned 1", "admit 1"));
    own->refusals.push_back(no_idea);
    second.machine.on_success(noon + 20ms);
    EXPECT_EQ(third.wake(20ms).reason, stop_reason::refused);
    EXPECT_EQ(limit->in_flight(), 0u);
    EXPECT_TRUE(own->is_balanced());
}

} // namespace
} // namespace asio_retry::test
