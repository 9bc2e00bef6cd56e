// Failures are told apart by their kind: `retry_if`, `when` and `max_attempts_when`.
#include <asio_retry/hedge_policy.hpp>
#include <asio_retry/profiles.hpp>
#include <asio_retry/retry_machine.hpp>

#include "support/refuses.hpp"
#include "support/script.hpp"

#include <boost/system/errc.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace asio_retry::test {
namespace {

error_code denied() {
    return boost::system::errc::make_error_code(boost::system::errc::permission_denied);
}

verdict judged(failure_kind kind) {
    return verdict::rejected({true, {kind, effect::none}, {}});
}

/// Whether the policy retries it.
bool retries(retry_policy const& policy, verdict const& failure) {
    machine_script script(policy);
    EXPECT_THAT(script.start(), is_attempt());
    return script.fail({}, failure).what == retry_action::kind::wait;
}

TEST(rules_by_kind, decision_50_retry_if_takes_the_kinds_that_are_retried) {
    retry_policy const base = endless_every_100ms();
    verdict const transient = verdict::failure(unreachable()),
                  timeout = verdict::failure(detail::timed_out_error());
    EXPECT_TRUE(retries(base.retry_if(failure_kind::transient), transient));
    EXPECT_FALSE(retries(base.retry_if(failure_kind::transient), timeout));
    EXPECT_TRUE(retries(base.retry_if(failure_kind::timeout), timeout));
    EXPECT_FALSE(retries(base.retry_if(failure_kind::timeout), transient));
    retry_policy const both = base.retry_if(failure_kind::timeout, failure_kind::transient);
    EXPECT_TRUE(retries(both, transient) && retries(both, timeout));
    EXPECT_FALSE(retries(both, verdict::failure(denied())));
    EXPECT_FALSE(retries(both, verdict::failure(permanent(unreachable()))));
    std::vector<failure_kind> const listed{failure_kind::throttled, failure_kind::timeout};
    EXPECT_TRUE(retries(base.retry_if(listed), timeout));
    EXPECT_FALSE(retries(base.retry_if(listed), transient));
}

TEST(rules_by_kind, decision_50_a_judgement_names_the_kind) {
    retry_policy const policy = endless_every_100ms().retry_if(failure_kind::throttled);
    EXPECT_TRUE(retries(policy, judged(failure_kind::throttled)));
    EXPECT_FALSE(retries(policy, judged(failure_kind::overloaded)));
    EXPECT_FALSE(retries(policy, judged(failure_kind::permanent)));
    EXPECT_TRUE(retries(policy.retry_sent(false), judged(failure_kind::throttled)));
}

TEST(rules_by_kind, decision_50_a_time_limit_says_timeout_whatever_the_policy_says) {
    auto const all_throttled = [](error_code const&) {
        return failure_class{failure_kind::throttled, effect::none};
    };
    retry_policy const policy = endless_every_100ms()
                                    .attempt_timeout(1s)
                                    .classify(all_throttled)
                                    .when(failure_kind::throttled, constant(2s))
                                    .when(failure_kind::timeout, constant(3s));
    machine_script script(policy);
    script.start();
    EXPECT_THAT(script.expire({}, 1s), is_wait(3s));
    EXPECT_THAT(script.wake(4s), is_attempt());
    EXPECT_THAT(script.fail(4s), is_wait(2s)) << "the policy's own function says so";
    machine_script only(policy.retry_if(failure_kind::timeout));
    only.start();
    EXPECT_THAT(only.expire({}, 1s), is_wait(3s));
}

TEST(rules_by_kind, decision_50_each_kind_has_its_delays_and_its_limit) {
    retry_policy const policy = endless_every_100ms()
                                    .when(failure_kind::throttled, exponential(1s))
                                    .max_attempts_when(failure_kind::overloaded, 2);
    machine_script script(policy);
    script.start();
    EXPECT_THAT(script.fail({}, judged(failure_kind::throttled)), is_wait(1s));
    script.wake();
    EXPECT_THAT(script.fail(), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail({}, judged(failure_kind::throttled)), is_wait(2s));
    script.wake();
    EXPECT_THAT(script.fail({}, judged(failure_kind::overloaded)), is_wait(100ms));
    script.wake();
    EXPECT_THAT(script.fail({}, judged(failure_kind::overloaded)),
                is_completion(stop_reason::attempts, no_replacement));
}

TEST(rules_by_kind, decision_50_what_is_never_retried_is_refused) {
    retry_policy const policy;
    EXPECT_THAT(calling([&] { return policy.retry_if(failure_kind::permanent); }),
                refuses("retry_if", "permanent", "is never retried"));
    EXPECT_THAT(calling([&] { return policy.when(failure_kind::permanent, constant(1s)); }),
                refuses("when", "permanent", "is never retried"));
    EXPECT_THAT(calling([&] { return policy.max_attempts_when(failure_kind::none, 2); }),
                refuses("max_attempts_when", "none", "must be a kind of failure"));
    EXPECT_THAT(calling([&] { return policy.retry_if(std::vector<failure_kind>()); }),
                refuses("retry_if", "{}", "must have at least one kind of failure"));
    EXPECT_THAT(calling([&] { return hedge_policy(1s).retry_if(failure_kind::permanent); }),
                refuses("retry_if", "permanent", "is never retried"));
}

TEST(rules_by_kind, aws_2026_waits_longer_where_it_is_throttled) {
    machine_script script(profiles::aws_2026().jitter(no_jitter()));
    script.start();
    EXPECT_THAT(script.fail({}, judged(failure_kind::throttled)), is_wait(1s));
    script.wake();
    EXPECT_THAT(script.fail(), is_wait(50ms));
    script.wake();
    EXPECT_THAT(script.fail(), is_completion(stop_reason::attempts, no_replacement));
}

} // namespace
} // namespace asio_retry::test
