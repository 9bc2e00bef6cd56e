#include <asio_retry/retry.hpp>

#include <asio_retry/fail_if.hpp>

#include "support/elements.hpp"
#include "support/manual_waits.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/scripted_operation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class blocking_retry_gate : public testing::Test {
protected:
    manual_waits waits;
    script played = script::failures(1);
    std::shared_ptr<recording_gate> gate = std::make_shared<recording_gate>();
    std::shared_ptr<recording_observer> observer = std::make_shared<recording_observer>();
    std::vector<stop_reason> reasons;

    retry_policy every_100ms() {
        return retry_policy()
            .backoff(constant(100ms))
            .jitter(no_jitter())
            .gate(gate)
            .observe(observer)
            .on_give_up([this](stop_reason r) { reasons.push_back(r); });
    }
    error_code play(retry_policy const& policy) {
        return retry([this] { return played.next(); }, policy, waits);
    }
    void TearDown() override {
        EXPECT_TRUE(gate->is_balanced());
        EXPECT_EQ(observer->fault, "");
        EXPECT_TRUE(observer->is_complete());
    }
};

TEST_F(blocking_retry_gate, decision_26_is_told_of_every_attempt_and_asked_for_every_retry) {
    EXPECT_FALSE(play(every_100ms()));
    EXPECT_THAT(gate->told,
                elements("admit 1", "failed 1 transient", "acquire transient", "admit 2", "succeeded 2"));
}

TEST_F(blocking_retry_gate, refuses_a_first_attempt) {
    gate->refusals = {no_idea};
    EXPECT_EQ(play(every_100ms()), error::circuit_open);
    EXPECT_THAT(reasons, ElementsAre(stop_reason::refused));
    EXPECT_THAT(waits.delays, testing::IsEmpty());
}

TEST_F(blocking_retry_gate, refuses_a_retry_and_the_last_error_is_delivered) {
    gate->refusals = {let_in, no_idea};
    EXPECT_EQ(play(every_100ms()), refused());
    EXPECT_THAT(reasons, ElementsAre(stop_reason::refused));
}

TEST_F(blocking_retry_gate, is_waited_for) {
    gate->refusals = {5s, no_idea, let_in, 1s};
    EXPECT_FALSE(play(every_100ms().wait_when_refused()));
    EXPECT_THAT(waits.delays, elements(5100ms, 100ms, 100ms, 1100ms));
}

TEST_F(blocking_retry_gate, a_wait_for_it_can_be_stopped) {
    gate->refusals = {5s};
    waits.on_wait = [this] { waits.stop = true; };
    EXPECT_EQ(play(every_100ms().wait_when_refused()), aborted());
    EXPECT_THAT(reasons, ElementsAre(stop_reason::cancelled));
}

// Where errors are thrown, so is the refusal; where an exception was last, that.
TEST_F(blocking_retry_gate, what_it_refuses_is_thrown) {
    gate->refusals = {no_idea};
    auto const throwing = [] { throw 7; };
    try {
        retry(throwing, every_100ms(), waits);
        ADD_FAILURE();
    } catch (boost::system::system_error const& e) {
        EXPECT_EQ(e.code(), condition::refused);
    }
    gate->refusals = {let_in, no_idea};
    EXPECT_THROW(retry(throwing, every_100ms(), waits), int);
}

TEST_F(blocking_retry_gate, a_predicate_that_throws_makes_a_permanent_failure) {
    auto const judged = fail_if([] { return 1; }, [](int) -> bool { throw 7; });
    EXPECT_THROW(retry(judged, every_100ms(), waits), int);
    EXPECT_THAT(gate->told, elements("admit 1", "failed 1 permanent"));
}

} // namespace
} // namespace asio_retry::test
