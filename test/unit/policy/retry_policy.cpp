#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_policy.hpp>

#include <asio_retry/profiles.hpp>

#include "support/elements.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include <concepts>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

static_assert(std::semiregular<retry_policy> && !std::is_aggregate_v<retry_policy>);
static_assert(std::is_nothrow_copy_constructible_v<retry_policy>);
static_assert(std::is_nothrow_move_constructible_v<retry_policy>);

struct open_gate final : retry_gate {
    bool acquire(failure_kind, time_point) noexcept override { return true; }
    void give_back(failure_kind) noexcept override {}
};

TEST(retry_policy, setters_change_their_field) {
    EXPECT_EQ(retry_policy().backoff(constant(7ms)).settings().backoff.ceiling(5), 7ms);
    random source(1);
    EXPECT_EQ(retry_policy().jitter(no_jitter()).settings().jitter.draw({1, 9ms, 9ms, 9ms, 9ms}, source), 9ms);
    EXPECT_EQ(retry_policy().max_attempts(7).settings().max_attempts, 7u);
    EXPECT_EQ(retry_policy().unlimited_attempts().settings().max_attempts, std::nullopt);
    EXPECT_EQ(retry_policy().max_elapsed(1s).settings().max_elapsed, duration(1s));
    EXPECT_EQ(retry_policy().attempt_timeout(2s).settings().attempt_timeout, duration(2s));
    EXPECT_EQ(retry_policy().total_timeout(3s).settings().total_timeout, duration(3s));
    EXPECT_EQ(retry_policy().deadline(time_point(4s)).settings().deadline, time_point(4s));
    EXPECT_TRUE(retry_policy().clamp().settings().clamp);
    EXPECT_TRUE(retry_policy().allow_total_cancellation().settings().allow_total_cancellation);
    EXPECT_TRUE(retry_policy().retry_when_nested().settings().retry_when_nested);
    auto const gate = std::make_shared<open_gate>();
    EXPECT_EQ(retry_policy().gate(gate).settings().gate, gate);
    EXPECT_EQ(retry_policy().gate(gate).gate(nullptr).settings().gate, nullptr);
}

// The jitter that a policy has by default belongs to its backoff, in whatever order the setters come.
TEST(decision_89, constant_and_schedule_have_no_jitter_and_other_backoffs_have_full_jitter) {
    using enum detail::jitter_name;
    auto const name_of = [](retry_policy const& policy) { return policy.settings().jitter.kind().name; };
    retry_policy const exact = retry_policy().backoff(constant(1s));
    EXPECT_EQ(name_of(exact), none);
    EXPECT_EQ(name_of(exact.max_attempts(9).clamp()), none);
    EXPECT_EQ(name_of(retry_policy().backoff(schedule({1s, 5s}))), none);
    EXPECT_EQ(name_of(retry_policy().backoff(constant(1s).cap(2s))), none);
    EXPECT_EQ(name_of(exact.backoff(exponential(1s))), full);
    EXPECT_EQ(name_of(exact.jitter(equal_jitter())), equal);
    EXPECT_EQ(name_of(exact.jitter(full_jitter()).backoff(schedule({1s}))), full);
    EXPECT_EQ(name_of(exact.jitter(no_jitter()).backoff(exponential(1s))), none);
    EXPECT_EQ(name_of(profiles::celery().backoff(constant(1s))), full);
    for (backoff const& shape :
         {linear(1s, 1s), exponential(1s), fibonacci(1s), polynomial(1s, 2), truncated_binary(3, 1s),
          slotted_binary(1s), stepwise_exponential(1s, 2, 9s), first_at_once(constant(1s)),
          chained(constant(1s), 1, schedule({2s})), backoff([](std::uint64_t) { return 1s; })})
        EXPECT_EQ(name_of(retry_policy().backoff(shape)), full);
}

// A reference to the settings of a temporary policy does not dangle.
TEST(retry_policy, settings_of_a_temporary_are_a_copy) {
    static_assert(std::is_same_v<decltype(retry_policy().settings()), retry_settings>);
    static_assert(std::is_same_v<decltype(std::declval<retry_policy const>().settings()), retry_settings>);
    static_assert(
        std::is_same_v<decltype(std::declval<retry_policy const&>().settings()), retry_settings const&>);
    static_assert(std::is_same_v<decltype(std::declval<retry_policy&>().settings()), retry_settings const&>);
    auto const& settings = retry_policy().max_attempts(7).backoff(constant(7ms)).settings();
    auto const& shape = retry_policy().backoff(schedule({1s, 2s})).settings().backoff;
    EXPECT_EQ(settings.max_attempts, 7u);
    EXPECT_EQ(settings.backoff.ceiling(1), 7ms);
    EXPECT_EQ(shape.ceiling(2), 2s);
}

TEST(retry_policy, setters_keep_the_other_fields) {
    retry_policy const policy = retry_policy().max_attempts(7).backoff(constant(7ms)).clamp().max_elapsed(1s);
    EXPECT_EQ(policy.settings().max_attempts, 7u);
    EXPECT_EQ(policy.settings().backoff.ceiling(1), 7ms);
    EXPECT_TRUE(policy.settings().clamp);
    EXPECT_EQ(policy.settings().max_elapsed, duration(1s));
}

TEST(decision_24, a_policy_is_immutable) {
    retry_policy const original = retry_policy().max_attempts(5);
    retry_policy const copy = original;
    retry_policy const changed = original.max_attempts(9);
    EXPECT_EQ(original.settings().max_attempts, 5u);
    EXPECT_EQ(copy.settings().max_attempts, 5u);
    EXPECT_EQ(changed.settings().max_attempts, 9u);
    EXPECT_EQ(&copy.settings(), &original.settings()) << "copies share";
}

TEST(retry_policy, moved_from_is_the_default) {
    retry_policy from = retry_policy().max_attempts(5);
    retry_policy const to = std::move(from);
    EXPECT_EQ(to.settings().max_attempts, 5u);
    EXPECT_EQ(from.settings().max_attempts, 3u);
    from = to;
    EXPECT_EQ(from.settings().max_attempts, 5u);
}

TEST(decision_04, nonsense_is_refused_when_the_policy_is_built) {
    EXPECT_THAT(calling([] { return retry_policy().max_attempts(0); }),
                refuses("max_attempts", "0", "must be at least 1"));
    EXPECT_THAT(calling([] { return retry_policy().max_attempts(-1); }),
                refuses("max_attempts", "-1", "must be at least 1"));
    EXPECT_THAT(calling([] { return retry_policy().max_elapsed(-1ns); }),
                refuses("max_elapsed", "-1ns", "must not be negative"));
    EXPECT_THAT(calling([] { return retry_policy().attempt_timeout(0s); }),
                refuses("attempt_timeout", "0s", "must be positive"));
    EXPECT_THAT(calling([] { return retry_policy().attempt_timeout(-1ns); }),
                refuses("attempt_timeout", "-1ns", "must be positive"));
    EXPECT_THAT(calling([] { return retry_policy().total_timeout(-1ns); }),
                refuses("total_timeout", "-1ns", "must not be negative"));
}

TEST(decision_04, the_edges_of_sense_are_accepted) {
    EXPECT_EQ(retry_policy().max_attempts(1).settings().max_attempts, 1u);
    EXPECT_EQ(retry_policy().max_elapsed(0s).settings().max_elapsed, duration(0s));
    EXPECT_EQ(retry_policy().attempt_timeout(1ns).settings().attempt_timeout, duration(1ns));
    EXPECT_EQ(retry_policy().total_timeout(0s).settings().total_timeout, duration(0s));
}

TEST(retry_policy, the_last_of_max_attempts_and_unlimited_attempts_counts) {
    EXPECT_EQ(retry_policy().unlimited_attempts().max_attempts(2).settings().max_attempts, 2u);
    EXPECT_EQ(retry_policy().max_attempts(2).unlimited_attempts().settings().max_attempts, std::nullopt);
}

TEST(retry_policy, predicates_are_told_apart_by_what_they_take) {
    auto const by_code = retry_policy().retry_if([](error_code ec) { return ec == detail::timed_out_error(); });
    auto const& code_predicate = by_code.settings().retry_if.by_code;
    ASSERT_TRUE(code_predicate);
    EXPECT_TRUE(code_predicate(detail::timed_out_error()));
    EXPECT_FALSE(code_predicate(detail::aborted_error()));

    auto const by_exception = by_code.retry_if([](std::exception_ptr e) { return e == nullptr; });
    auto const& exception_predicate = by_exception.settings().retry_if.by_exception;
    ASSERT_TRUE(exception_predicate);
    EXPECT_FALSE(by_exception.settings().retry_if.by_code) << "the last one counts";
    EXPECT_TRUE(exception_predicate(nullptr));
    EXPECT_FALSE(exception_predicate(std::make_exception_ptr(1)));
}

TEST(retry_policy, hooks_are_given_the_event) {
    std::vector<std::uint64_t> told;
    auto const tell = [&](retry_event const& e) { told.push_back(e.attempt); };
    retry_event event;
    event.attempt = 4;
    retry_policy().on_retry(tell).settings().on_retry(event);
    event.attempt = 5;
    retry_policy().on_give_up(tell).settings().on_give_up(event);
    EXPECT_THAT(told, elements(4u, 5u));
}

TEST(retry_policy, on_give_up_may_take_the_reason_alone) {
    stop_reason told{};
    retry_event event;
    event.reason = stop_reason::budget;
    retry_policy().on_give_up([&](stop_reason reason) { told = reason; }).settings().on_give_up(event);
    EXPECT_EQ(told, stop_reason::budget);
}

TEST(retry_policy, nested_makes_one_attempt_within_the_outer_deadline) {
    retry_policy const nested = retry_policy().max_attempts(5).nested_in({2, time_point(9s)});
    EXPECT_EQ(nested.settings().max_attempts, 1u);
    EXPECT_EQ(nested.settings().deadline, time_point(9s));
    EXPECT_EQ(retry_policy().unlimited_attempts().nested_in({}).settings().max_attempts, 1u);
}

TEST(retry_policy, nested_keeps_its_attempts_where_told_so) {
    EXPECT_EQ(retry_policy().max_attempts(5).retry_when_nested().nested_in({}).settings().max_attempts, 5u);
}

TEST(retry_policy, nested_has_the_earlier_of_both_deadlines) {
    retry_policy const own = retry_policy().deadline(time_point(5s));
    EXPECT_EQ(own.nested_in({1, time_point(4s)}).settings().deadline, time_point(4s));
    EXPECT_EQ(own.nested_in({1, time_point(6s)}).settings().deadline, time_point(5s));
    EXPECT_EQ(own.nested_in({}).settings().deadline, time_point(5s));
    EXPECT_EQ(retry_policy().nested_in({}).settings().deadline, std::nullopt);
}

TEST(decision_24, one_policy_serves_many_threads) {
    retry_policy const policy = retry_policy().backoff(exponential(1s)).jitter(decorrelated_jitter());
    auto const draw = [&] {
        random source(1);
        duration sum{};
        for (std::uint64_t failures = 1; failures <= 20; ++failures) {
            retry_policy const copy = policy;
            sum += copy.settings().jitter.draw({failures, 1s, 1s, 9s, 2s}, source);
        }
        return sum;
    };
    std::future<duration> one = std::async(std::launch::async, draw),
                          other = std::async(std::launch::async, draw);
    duration const expected = draw();
    EXPECT_EQ(one.get(), expected);
    EXPECT_EQ(other.get(), expected);
}

TEST(retry_policy, predicates_may_be_members_of_the_error) {
    auto const policy = retry_policy().retry_if(&error_code::operator bool);
    auto const& predicate = policy.settings().retry_if.by_code;
    EXPECT_TRUE(predicate(make_error_code(boost::system::errc::timed_out)));
    EXPECT_THROW(retry_settings::code_predicate()(error_code()), std::bad_function_call);
}

// Only one of the two kinds is tried on a generic callable, whose body would not compile for the other.
TEST(retry_policy, generic_predicates_and_hooks) {
    retry_policy const policy = retry_policy()
                                    .retry_if([](auto const& code) { return code.value() == 5; })
                                    .on_give_up([](auto const& event) { static_cast<void>(event.attempt); });
    EXPECT_TRUE(policy.settings().on_give_up);
    EXPECT_TRUE(policy.settings().retry_if.by_code);
}

} // namespace
} // namespace asio_retry::test
