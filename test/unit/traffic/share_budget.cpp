#include <asio_retry/traffic/share_budget.hpp>

#include <asio_retry/retry_machine.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"
#include "support/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr auto transient = failure_kind::transient;

struct refusing_gate final : retry_gate {
    admission admit(std::uint64_t, time_point) noexcept override { return time_point::max(); }
};

void begin_first_attempts(share_budget& budget, int count) {
    for (int i = 0; i < count; ++i)
        EXPECT_EQ(budget.admit(1, noon).until, noon);
}

int retries_granted(share_budget& budget) {
    int granted = 0;
    while (granted < 1000 && budget.acquire(transient, noon))
        ++granted;
    return granted;
}

// Envoy's numbers: the greater of three and a fifth of what is in flight.
TEST(decision_28, share_budget_allows_three_retries_or_a_fifth_of_what_is_in_flight) {
    share_budget few, many;
    EXPECT_EQ(retries_granted(few), 3);
    begin_first_attempts(many, 100);
    // A retry that waits is in flight itself: granted while n < trunc(0.2 (100 + n)).
    EXPECT_EQ(retries_granted(many), 24);
    EXPECT_EQ(many.retries(), 24u);
    EXPECT_EQ(many.in_flight(), 124u);
}

TEST(share_budget, a_decimal_share_is_exact) {
    for (std::uint64_t hundredths = 1; hundredths != 100; ++hundredths) {
        share_budget budget({.share = static_cast<double>(hundredths) / 100, .min_retries = 0});
        for (int i = 0; i != 1000; ++i) {
            begin_first_attempts(budget, 1);
            bool const is_granted = budget.retries() < budget.in_flight() * hundredths / 100;
            ASSERT_EQ(budget.acquire(transient, noon), is_granted) << hundredths << ", " << budget.in_flight();
        }
    }
}

TEST(share_budget, a_retry_counts_from_its_decision_to_its_end) {
    share_budget budget({.share = 0.2, .min_retries = 1});
    EXPECT_TRUE(budget.acquire(transient, noon));
    EXPECT_FALSE(budget.acquire(transient, noon)) << "while it waits";
    EXPECT_EQ(budget.admit(2, noon).until, noon);
    EXPECT_EQ(budget.retries(), 1u);
    EXPECT_EQ(budget.in_flight(), 1u);
    EXPECT_FALSE(budget.acquire(transient, noon)) << "while it runs";
    budget.on_end(success_of_retry(2, transient));
    EXPECT_EQ(budget.retries(), 0u);
    EXPECT_EQ(budget.in_flight(), 0u);
    EXPECT_TRUE(budget.acquire(transient, noon));
    budget.give_back(transient);
    EXPECT_EQ(budget.retries(), 0u);
    EXPECT_EQ(budget.in_flight(), 0u);
}

TEST(share_budget, every_end_of_an_attempt_ends_it) {
    share_budget budget;
    begin_first_attempts(budget, 3);
    budget.on_end(success());
    budget.on_end(failure(failure_kind::permanent));
    budget.on_end(abandoned());
    EXPECT_EQ(budget.in_flight(), 0u);
    EXPECT_TRUE(budget.acquire(transient, noon));
    (void)budget.admit(2, noon);
    budget.on_end(abandoned(2, transient));
    EXPECT_EQ(budget.in_flight(), 0u);
    EXPECT_FALSE(budget.measures_time());
}

// Where a later gate refuses the attempt of a retry it goes on holding its lease.
TEST(share_budget, a_retry_that_a_later_gate_does_not_let_begin_counts_once) {
    auto const budget = std::make_shared<share_budget>();
    auto const gates = all_gates({budget, std::make_shared<refusing_gate>()});
    EXPECT_TRUE(gates->acquire(transient, noon));
    for (int i = 0; i < 3; ++i) {
        EXPECT_GT(gates->admit(2, noon).until, noon);
        EXPECT_EQ(budget->retries(), 1u);
    }
    gates->give_back(transient);
    EXPECT_EQ(budget->retries(), 0u);
    EXPECT_GT(gates->admit(1, noon).until, noon);
    EXPECT_EQ(budget->in_flight(), 0u);
}

TEST(share_budget, decision_04_refuses_nonsense) {
    EXPECT_THAT(calling([] { share_budget({.share = 0}); }),
                refuses_option("share_budget.share", "0", "must be in (0, 1]"));
    EXPECT_THAT(calling([] { share_budget({.share = 1.01}); }),
                refuses_option("share_budget.share", "1.01", "must be in (0, 1]"));
    EXPECT_THAT(calling([] { share_budget({.share = std::numeric_limits<double>::quiet_NaN()}); }),
                refuses_option("share_budget.share", "nan", "must be in (0, 1]"));
    share_budget none({.share = 1, .min_retries = 0});
    EXPECT_FALSE(none.acquire(transient, noon));
}

// Cancelled when it has been let in and has not begun, as by another gate or an observer.
TEST(decision_26, share_budget_gets_back_once_what_a_retry_that_did_not_begin_cost) {
    struct cancelling final : retry_gate {
        admission admit(std::uint64_t number, time_point now) noexcept override {
            if (number == at)
                machine->cancel();
            return now;
        }
        std::uint64_t at = 1;
        retry_machine* machine = nullptr;
    };
    for (std::uint64_t const at : {1u, 2u, 3u}) {
        auto const budget = std::make_shared<share_budget>();
        auto const gate = std::make_shared<cancelling>();
        gate->at = at;
        machine_script script(endless_every_100ms().gate(all_gates({budget, gate})));
        gate->machine = &script.machine;
        retry_action action = script.start();
        while (action.what != retry_action::kind::complete)
            action = action.what == retry_action::kind::attempt ? script.fail() : script.wake();
        EXPECT_EQ(action.reason, stop_reason::cancelled);
        EXPECT_EQ(budget->retries(), 0u) << at;
        EXPECT_EQ(budget->in_flight(), 0u) << at;
    }
}

} // namespace
} // namespace asio_retry::test
