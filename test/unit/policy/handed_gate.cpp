// An attempt hands its admission over to the first attempt of the first operation inside it.
#include <asio_retry/retry_gate.hpp>

#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include "support/elements.hpp"
#include "support/named_gate.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace asio_retry::test::handed_over {
namespace {

using recorder = std::shared_ptr<recording_gate>;

retry_policy with(std::shared_ptr<retry_gate> gate) {
    return endless_every_100ms().gate(std::move(gate));
}

/// The attempt that runs, as an operation inside it gets it.
class inside final : detail::health_monitor {
public:
    explicit inside(retry_machine& machine)
        : marks_([&machine] { return machine.marks_of_nested(); }) {}
    inside(hedge_machine& machine, std::uint64_t number)
        : marks_([&machine, number] { return machine.marks_of_nested(number); }) {}

    operator attempt() { return {1, time_point::max(), this}; }

private:
    void on_healthy() noexcept override {}
    detail::shared_value<detail::nested_marks> marks() override { return marks_(); }

    std::function<detail::shared_value<detail::nested_marks>()> marks_;
};

retry_policy nested(retry_policy const& policy, machine_script& outer) {
    inside within(outer.machine);
    return policy.retry_when_nested().nested_in(within);
}

struct handed_gate : testing::Test {
    recorder gate = std::make_shared<recording_gate>();
    machine_script outer{with(gate)};

    void SetUp() override { outer.start(); }
    void TearDown() override { EXPECT_TRUE(gate->is_balanced()); }
};

TEST_F(handed_gate, decision_75_one_request_counts_once) {
    machine_script inner(nested(with(gate), outer));
    inner.start();
    inner.machine.on_success(inner.begin + 2s);
    EXPECT_THAT(gate->told, elements("admit 1", "succeeded 1"));
    outer.fail(3s);
    EXPECT_THAT(gate->told, elements("admit 1", "succeeded 1", "acquire transient"))
        << "its own end is not told, but it asks for a retry";
    outer.machine.cancel();
    outer.wake(4s);
}

TEST_F(handed_gate, decision_75_later_attempts_and_operations_are_requests_of_their_own) {
    auto const policy = nested(with(gate), outer);
    machine_script inner(policy), further(policy), beside(nested(with(gate), outer));
    inner.start();
    further.start();
    inner.fail(1s);
    inner.wake(1100ms);
    beside.start();
    inner.machine.on_success(inner.begin + 2s);
    further.machine.on_success(inner.begin + 2s);
    beside.machine.on_success(inner.begin + 2s);
    outer.machine.on_success(inner.begin + 3s);
    EXPECT_THAT(gate->told, elements("admit 1", "admit 1", "failed 1 transient", "acquire transient", "admit 2",
                                     "admit 1", "succeeded 2", "succeeded 1", "succeeded 1"));
}

TEST_F(handed_gate, decision_75_without_an_inner_attempt_it_tells_its_own_end) {
    auto const refusing = std::make_shared<named_gate>("refusing");
    refusing->refused_from = 1;
    auto const observer = std::make_shared<recording_observer>();
    machine_script refused(nested(with(all_gates({gate, refusing})).observe(observer), outer));
    EXPECT_EQ(refused.start().error, error::circuit_open);
    EXPECT_EQ(observer->events.back().gate, "refusing");
    EXPECT_THAT(gate->told, elements("admit 1")) << "it was taken over, and put back";
    outer.fail(1s);
    EXPECT_THAT(gate->told, elements("admit 1", "failed 1 transient", "acquire transient"));
    outer.wake(1100ms);
    outer.machine.on_success(outer.begin + 2s);
}

TEST_F(handed_gate, decision_75_what_was_put_back_the_next_operation_takes) {
    auto const refusing = std::make_shared<named_gate>();
    refusing->refused_from = 1;
    auto const policy = nested(with(all_gates({gate, refusing})), outer);
    machine_script refused(policy), next(policy);
    refused.start();
    refusing->refused_from = 2;
    next.start();
    next.fail(1s);
    EXPECT_THAT(gate->told, elements("admit 1", "failed 1 transient", "acquire transient"));
    next.wake(1100ms); // refused
    outer.machine.on_success(outer.begin + 2s);
    EXPECT_THAT(gate->told, elements("admit 1", "failed 1 transient", "acquire transient", "admit 2",
                                     "abandoned 2", "give_back transient"));
}

// The operation inside outlasts the attempt, as with deliver_at_once.
TEST_F(handed_gate, decision_75_the_end_is_told_once_though_the_attempt_has_ended_before) {
    auto const refusing = std::make_shared<named_gate>();
    auto const policy = nested(with(gate), outer);
    {
        machine_script inner(policy), late(policy);
        inner.start();
        outer.machine.on_success(outer.begin + 1s);
        EXPECT_THAT(gate->told, elements("admit 1"));
        late.start();
        late.machine.on_success(outer.begin + 1s);
        EXPECT_THAT(gate->told, elements("admit 1", "admit 1", "succeeded 1"));
    }
    EXPECT_THAT(gate->told, elements("admit 1", "admit 1", "succeeded 1", "abandoned 1"));
}

TEST_F(handed_gate, decision_75_a_retry_hands_over_its_lease) {
    outer.fail(1s);
    outer.wake(1100ms);
    machine_script inner(nested(with(gate), outer), outer.begin + 2s);
    inner.start();
    inner.fail(2s);
    attempt_end const& end = gate->ends.at(1);
    EXPECT_EQ(end.number, 2u);
    EXPECT_EQ(end.after, failure_kind::transient);
    EXPECT_EQ(end.took, 2900ms) << "since it was admitted";
    inner.machine.cancel();
    inner.wake(3s);
    outer.machine.on_success(outer.begin + 5s);
    EXPECT_EQ(gate->ends.size(), 2u);
}

TEST_F(handed_gate, decision_75_an_abandoned_request_has_the_time_of_its_admission) {
    {
        machine_script inner(nested(with(gate), outer), outer.begin + 2s);
        inner.start();
        inner.machine.cancel();
        inner.fail(1s, detail::aborted_error());
    }
    EXPECT_EQ(gate->ends.at(0).outcome, attempt_end::how::abandoned);
    EXPECT_EQ(gate->ends[0].now, outer.begin);
    outer.machine.on_success(outer.begin + 3s);
}

TEST_F(handed_gate, decision_75_whenever_the_policy_gets_its_gate_and_its_attempt) {
    inside within(outer.machine);
    auto const before = retry_policy().nested_in(within).gate(gate);
    auto const twice = with(gate).nested_in(within).nested_in(within);
    EXPECT_NE(before.settings().gate, gate);
    for (retry_policy const& policy : {twice, before}) {
        machine_script inner(policy);
        inner.start();
        inner.machine.on_success(outer.begin + 1s);
    }
    outer.machine.on_success(outer.begin + 1s);
    EXPECT_THAT(gate->told, elements("admit 1", "succeeded 1", "admit 1", "succeeded 1"));
    EXPECT_EQ(with(gate).nested_in({1, time_point::max(), nullptr}).settings().gate, gate);
    auto const other = std::make_shared<recording_gate>();
    EXPECT_EQ(with(other).nested_in(within).settings().gate, other) << "it has none in common";
}

TEST_F(handed_gate, decision_75_through_three_layers) {
    auto const own = std::make_shared<recording_gate>();
    machine_script middle(nested(with(all_gates({own, gate})), outer));
    middle.start();
    machine_script inner(nested(with(all_gates({gate, own})), middle));
    inner.start();
    inner.fail(1s);
    inner.machine.cancel();
    inner.wake(1100ms);
    middle.machine.on_success(middle.begin + 2s);
    outer.machine.on_success(outer.begin + 3s);
    for (recorder const& each : {gate, own})
        EXPECT_THAT(each->told,
                    elements("admit 1", "failed 1 transient", "acquire transient", "give_back transient"));
}

TEST_F(handed_gate, decision_75_so_does_an_attempt_of_a_hedge) {
    auto const of_hedge = std::make_shared<recording_gate>();
    hedge_script hedge(hedge_policy(20ms).max_attempts(2).gate(all_gates({of_hedge, gate})));
    hedge.start();
    hedge.go_on(20); // the second attempt has begun
    inside first(hedge.machine, 1), second(hedge.machine, 2);
    for (inside* const within : {&second, &first}) {
        machine_script inner(with(of_hedge).nested_in(*within));
        inner.start();
        inner.machine.on_success(inner.begin + 1s);
    }
    hedge.succeed(2, 30);
    hedge.complete_late(1, 31);
    EXPECT_THAT(of_hedge->told,
                elements("admit 1", "acquire transient", "admit 2", "succeeded 2", "succeeded 1"));
    EXPECT_EQ(of_hedge->ends.at(0).after, failure_kind::transient) << "the lease of the second attempt";
    EXPECT_EQ(gate->running, 1) << "its own gates hear of its own end: only the outer attempt runs";
    outer.machine.on_success(outer.begin + 1s);
}

TEST_F(handed_gate, decision_75_a_hedge_inside_takes_it_over_for_its_first_attempt) {
    inside within(outer.machine);
    hedge_script hedge(hedge_policy(20ms).max_attempts(2).gate(gate).nested_in(within));
    hedge.start();
    hedge.go_on(20);
    hedge.succeed(2, 30);
    hedge.complete_late(1, 31);
    outer.machine.on_success(outer.begin + 1s);
    EXPECT_THAT(gate->told, elements("admit 1", "acquire transient", "admit 2", "succeeded 2", "abandoned 1"));
}

// --- gates that know an admission again

TEST(handed_admission, decision_75_a_probe_of_a_breaker_is_the_same_probe_inside) {
    for (bool const among_others : {false, true}) {
        auto const breaker = std::make_shared<circuit_breaker>(
            circuit_breaker_options{.consecutive = 1, .open_for = 1s, .open_spread = 0, .probes = 1});
        auto const other = std::make_shared<recording_gate>();
        std::shared_ptr<retry_gate> const gate = among_others ? all_gates({other, breaker}) : breaker;
        machine_script outer(with(gate).wait_when_refused());
        outer.start();
        outer.fail(1s);
        ASSERT_EQ(breaker->state(outer.begin + 1s), breaker_state::open);
        outer.wake(3s);
        ASSERT_EQ(breaker->state(outer.begin + 3s), breaker_state::half_open);
        machine_script inner(nested(with(breaker), outer), outer.begin + 3s);
        EXPECT_THAT(inner.start(), is_attempt()) << "it waits for no place of its own";
        inner.machine.on_success(inner.begin + 1s);
        EXPECT_EQ(breaker->state(inner.begin + 1s), breaker_state::closed);
        outer.machine.on_success(outer.begin + 5s);
        EXPECT_EQ(other->running, 0);
        EXPECT_EQ(breaker->state(outer.begin + 5s), breaker_state::closed);
    }
}

TEST(handed_admission, decision_75_a_reserved_time_is_not_reserved_twice) {
    auto const limit = std::make_shared<rate_limit>(1, 1s);
    machine_script first(with(limit)), outer(with(limit).wait_when_refused());
    first.start();
    EXPECT_THAT(outer.start(), is_wait(1s));
    EXPECT_THAT(outer.wake(1s), is_attempt());
    machine_script inner(nested(with(limit).wait_when_refused(), outer), outer.begin + 1s);
    EXPECT_THAT(inner.start(), is_attempt());
    inner.machine.on_success(inner.begin + 1s);
    outer.machine.on_success(outer.begin + 1s);
    first.machine.on_success(outer.begin + 1s);
}

// The nested operation has another gate, too, and waits there.
TEST(handed_admission, decision_75_a_place_is_kept_while_the_operation_waits_at_another_gate) {
    for (bool const is_leaving : {false, true}) {
        auto const shared = std::make_shared<recording_gate>();
        auto const full = std::make_shared<concurrency_limit<aimd>>(
            aimd({.initial = 1, .least = 1, .greatest = 1}), queue_options{.greatest = 1, .longest_wait = 10s});
        machine_script busy(with(full)), outer(with(shared));
        busy.start();
        outer.start();
        std::optional<machine_script> inner;
        inner.emplace(nested(with(all_gates({shared, full})), outer));
        EXPECT_THAT(inner->start(), is_wait(10s));
        if (is_leaving) {
            inner.reset();
            EXPECT_THAT(shared->told, elements("admit 1")) << "it is put back";
            busy.machine.on_success(busy.begin + 1s);
        } else {
            busy.machine.on_success(busy.begin + 1s);
            EXPECT_THAT(inner->wake(1s), is_attempt());
            EXPECT_EQ(full->in_flight(), 1u);
            inner->machine.on_success(inner->begin + 2s);
        }
        outer.machine.on_success(outer.begin + 3s);
        EXPECT_EQ(full->in_flight(), 0u);
        EXPECT_THAT(shared->told, elements("admit 1", "succeeded 1"));
    }
}

TEST(handed_admission, decision_75_a_time_is_kept_while_it_is_reserved_at_another_gate) {
    auto const shared = std::make_shared<recording_gate>();
    auto const limit = std::make_shared<rate_limit>(1, 1s);
    machine_script first(with(limit)), outer(with(shared));
    first.start();
    outer.start();
    machine_script inner(nested(with(all_gates({limit, shared})).wait_when_refused(), outer));
    EXPECT_THAT(inner.start(), is_wait(1s));
    EXPECT_THAT(inner.wake(1s), is_attempt());
    inner.fail(2s);
    inner.machine.cancel();
    inner.wake(3s);
    outer.machine.on_success(outer.begin + 3s);
    first.machine.on_success(outer.begin + 3s);
    EXPECT_THAT(shared->told,
                elements("admit 1", "failed 1 transient", "acquire transient", "give_back transient"));
}

} // namespace
} // namespace asio_retry::test::handed_over
