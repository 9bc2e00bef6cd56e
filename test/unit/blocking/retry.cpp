#include <asio_retry/retry.hpp>

#include <asio_retry/fail_if.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/with_report.hpp>

#include "support/csv.hpp"
#include "support/elements.hpp"
#include "support/manual_waits.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio/version.hpp>
#include <boost/system/result.hpp>
#include <boost/system/system_error.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

retry_policy four_every_100ms() {
    return retry_policy().backoff(constant(100ms)).jitter(no_jitter()).max_attempts(4);
}

class blocking_retry : public testing::Test {
protected:
    manual_waits waits;
    time_point const begin = waits.now();
    script played = script::failures(2);
    std::vector<stop_reason> reasons;

    duration elapsed() const { return waits.now() - begin; }

    retry_policy noting(retry_policy const& policy) {
        return policy.on_give_up([this](stop_reason r) { reasons.push_back(r); });
    }

    int get() {
        if (error_code const ec = played.next())
            throw boost::system::system_error(ec);
        return static_cast<int>(played.attempts);
    }

    // An attempt that takes so long and comes to the script's next error.
    error_code take(duration long_time) {
        waits.time += long_time;
        return played.next();
    }
};

TEST_F(blocking_retry, waits_exactly_the_delays_of_the_policy) {
    played = script::failures(5);
    auto const policy =
        retry_policy().backoff(exponential(100ms).cap(500ms)).jitter(no_jitter()).max_attempts(6);
    EXPECT_EQ(retry([this] { return get(); }, policy, waits), 6);
    EXPECT_THAT(waits.delays, elements(100ms, 200ms, 400ms, 500ms, 500ms));
    EXPECT_EQ(elapsed(), 1700ms);
}

TEST_F(blocking_retry, a_delay_begins_when_the_attempt_has_ended) {
    EXPECT_FALSE(retry([this] { return take(70ms); }, four_every_100ms(), waits));
    EXPECT_THAT(waits.delays, elements(100ms, 100ms));
    EXPECT_EQ(elapsed(), 3 * 70ms + 200ms);
}

TEST_F(blocking_retry, a_delay_of_zero_is_no_wait) {
    EXPECT_FALSE(retry([this] { return played.next(); }, four_every_100ms().backoff(constant(0s)), waits));
    EXPECT_THAT(waits.delays, testing::IsEmpty());
}

TEST_F(blocking_retry, takes_its_randomness_from_the_waits) {
    auto const policy = retry_policy().backoff(constant(1h)).jitter(full_jitter());
    retry([this] { return played.next(); }, policy, waits);
    random expected(7);
    duration const first = full_jitter().draw({1, 1h, 1h, 1h, 1h}, expected);
    duration const second = full_jitter().draw({2, 1h, 1h, 1h, first}, expected);
    EXPECT_THAT(waits.delays, ElementsAre(first, second));
}

// --- the published loop: base 1 s, cap 10 s, equal jitter

struct trace {
    std::int64_t tries;
    int failures;
    double drawn;
    std::size_t calls;
    std::vector<duration> waits; // after each failure, the last one included
};

std::vector<trace> published_traces() {
    std::vector<trace> traces;
    for (csv_row row : read_csv("java_equal_jitter_traces.csv")) {
        trace t{std::stoll(row["max_retry"]),
                std::stoi(row["fail_first"]),
                std::stod(row["u"]),
                std::stoul(row["calls"]),
                {}};
        std::istringstream waits(row["sleeps_ms"]);
        for (std::int64_t ms; waits >> ms;)
            t.waits.emplace_back(std::chrono::milliseconds(ms));
        traces.push_back(t);
    }
    return traces;
}

TEST_F(blocking_retry, published_equal_jitter_traces_without_the_wait_after_the_last_failure) {
    std::size_t traces = 0, given_up = 0;
    for (trace const& t : published_traces()) {
        manual_waits clock;
        script s = script::failures(static_cast<std::size_t>(t.failures));
        auto const in_milliseconds = [&](backoff_step step, random&) -> duration {
            auto const half = std::chrono::floor<std::chrono::milliseconds>(step.ceiling) / 2;
            return half + std::chrono::milliseconds(static_cast<std::int64_t>(t.drawn * double(half.count())));
        };
        auto const policy =
            retry_policy().backoff(exponential(1s).cap(10s)).jitter(in_milliseconds).max_attempts(t.tries);
        error_code const ec = retry([&] { return s.next(); }, policy, clock);

        bool const fails = t.failures >= t.tries;
        EXPECT_EQ(ec, fails ? refused() : error_code()) << "the error comes out";
        EXPECT_EQ(s.attempts, t.calls);
        auto expected = t.waits;
        if (fails)
            expected.pop_back(); // the sample waits once more, and then swallows the error
        EXPECT_EQ(clock.delays, expected) << t.tries << " tries, " << t.failures << " failures, " << t.drawn;
        ++traces;
        given_up += fails;
    }
    EXPECT_GT(traces, given_up);
    EXPECT_GT(given_up, 0u);
}

TEST_F(blocking_retry, equal_jitter_stays_between_the_published_extremes) {
    auto const policy = retry_policy().backoff(exponential(1s).cap(10s)).jitter(equal_jitter()).max_attempts(3);
    for (int run = 0; run < 100; ++run) {
        manual_waits clock;
        clock.seed = static_cast<std::uint64_t>(run);
        EXPECT_EQ(retry([] { return refused(); }, policy, clock), refused());
        ASSERT_EQ(clock.delays.size(), 2u);
        EXPECT_THAT(clock.delays[0], testing::AllOf(testing::Ge(500ms), testing::Le(1000ms)));
        EXPECT_THAT(clock.delays[1], testing::AllOf(testing::Ge(1000ms), testing::Le(2000ms)));
    }
}

// --- forms

TEST_F(blocking_retry, operation_that_returns_a_value) {
    EXPECT_EQ(retry([this] { return get(); }, four_every_100ms(), waits), 3);
}

TEST_F(blocking_retry, operation_that_returns_nothing) {
    static_assert(std::is_void_v<decltype(retry([] {}, four_every_100ms(), waits))>);
    retry([this] { get(); }, four_every_100ms(), waits);
    EXPECT_EQ(played.attempts, 3u);
}

TEST_F(blocking_retry, operation_that_returns_an_error_code) {
    EXPECT_EQ(retry([this] { return played.next(); }, four_every_100ms(), waits), error_code());
    played = script::failures(9);
    EXPECT_EQ(retry([this] { return played.next(); }, four_every_100ms(), waits), refused());
    EXPECT_EQ(played.attempts, 4u);
}

TEST_F(blocking_retry, operation_that_returns_a_result) {
    auto operation = [this]() -> boost::system::result<std::string> {
        if (error_code const ec = played.next())
            return ec;
        return "page";
    };
    EXPECT_EQ(retry(operation, four_every_100ms(), waits).value(), "page");
    played = script::failures(9);
    EXPECT_EQ(retry(operation, four_every_100ms(), waits).error(), refused());
    EXPECT_EQ(played.attempts, 4u);
}

#if BOOST_ASIO_VERSION >= 103002 && !defined(ASIO_RETRY_STANDALONE) // where a result may refer
TEST_F(blocking_retry, returns_a_copy_of_what_a_result_refers_to) {
    std::string there = "there";
    auto operation = [&]() -> boost::system::result<std::string&> {
        if (error_code const ec = played.next())
            return ec;
        return there;
    };
    boost::system::result<std::string> const got = retry(operation, four_every_100ms(), waits);
    EXPECT_EQ(got.value(), "there");
    EXPECT_EQ(played.attempts, 3u);
}
#endif

TEST_F(blocking_retry, operation_that_returns_a_result_without_a_value) {
    auto operation = [this]() -> boost::system::result<void> {
        if (error_code const ec = played.next())
            return ec;
        return {};
    };
    EXPECT_TRUE(retry(operation, four_every_100ms(), waits).has_value());
    played = script::failures(9);
    EXPECT_EQ(retry(operation, four_every_100ms(), waits).error(), refused());
}

int failing_function() {
    throw std::out_of_range("function");
}

TEST_F(blocking_retry, operation_that_is_a_function_or_returns_a_reference_or_can_only_be_moved) {
    EXPECT_THROW(retry(failing_function, four_every_100ms(), waits), std::out_of_range);
    std::string const kept = "kept";
    auto got = retry([&]() -> std::string const& { return kept; }, four_every_100ms(), waits);
    static_assert(std::is_same_v<decltype(got), std::string>);
    EXPECT_EQ(got, kept);
    auto const moved =
        retry([p = std::make_unique<int>(7)]() mutable { return std::move(p); }, four_every_100ms(), waits);
    EXPECT_EQ(*moved, 7);
}

TEST_F(blocking_retry, attempts_are_numbered_and_know_the_deadline) {
    std::vector<std::uint64_t> numbers;
    std::vector<time_point> deadlines;
    auto operation = [&](attempt a) {
        numbers.push_back(a.number);
        deadlines.push_back(a.deadline);
        return played.next();
    };
    EXPECT_FALSE(retry(operation, four_every_100ms().total_timeout(1h), waits));
    EXPECT_THAT(numbers, elements(1u, 2u, 3u));
    EXPECT_THAT(deadlines, testing::Each(begin + 1h));
}

TEST_F(blocking_retry, an_attempt_marks_its_health) {
    played = script::failures(20);
    auto operation = [&](attempt a) {
        bool const lasted = a.number == 2;
        if (lasted)
            a.mark_healthy();
        return take(lasted ? 10s : 1s);
    };
    EXPECT_EQ(retry(operation, noting(four_every_100ms().max_attempts(3).reset_after(5s)), waits), refused());
    EXPECT_EQ(played.attempts, 4u) << "the second failure counts as the first";
}

// --- failures

TEST_F(blocking_retry, the_last_exception_comes_out_unchanged) {
    int calls = 0;
    void const* thrown = nullptr;
    auto operation = [&]() -> int {
        try {
            throw std::runtime_error("call " + std::to_string(++calls));
        } catch (std::runtime_error const& e) {
            thrown = &e;
            throw;
        }
    };
    try {
        retry(operation, four_every_100ms(), waits);
        ADD_FAILURE() << "nothing was thrown";
    } catch (std::runtime_error const& e) {
        EXPECT_EQ(&e, thrown) << "the very object";
        EXPECT_STREQ(e.what(), "call 4");
    }
    EXPECT_EQ(waits.delays.size(), 3u);
}

TEST_F(blocking_retry, an_exception_where_errors_are_returned_is_its_code) {
    auto throws_code = []() -> error_code { throw boost::system::system_error(refused()); };
    EXPECT_EQ(retry(throws_code, four_every_100ms(), waits), refused());
    auto throws_anything = []() -> boost::system::result<int> { throw 42; };
    EXPECT_EQ(retry(throws_anything, four_every_100ms(), waits).error(), error::operation_threw);
}

TEST_F(blocking_retry, a_permanent_error_ends_it_at_once_and_comes_out_bare) {
    auto throws = [this] {
        played.next();
        throw permanent(std::logic_error("no such user"));
    };
    EXPECT_THROW(retry(throws, noting(four_every_100ms()), waits), std::logic_error);
    EXPECT_EQ(played.attempts, 1u);
    auto returns = [this]() -> error_code {
        played.next();
        return permanent(timed_out());
    };
    EXPECT_EQ(retry(returns, noting(four_every_100ms()), waits), timed_out());
    EXPECT_EQ(played.attempts, 2u);
    EXPECT_THAT(reasons, ElementsAre(stop_reason::not_retryable, stop_reason::not_retryable));
    EXPECT_TRUE(waits.delays.empty());
}

TEST_F(blocking_retry, decision_88_what_a_callable_of_the_policy_throws_comes_out) {
    auto const policy =
        four_every_100ms().on_retry([](retry_event const&) { throw std::domain_error("hook"); });
    try {
        retry([this] { get(); }, policy, waits);
        ADD_FAILURE();
    } catch (std::domain_error const& e) {
        EXPECT_STREQ(e.what(), "hook");
    }
    EXPECT_EQ(retry([this] { return played.next(); }, policy, waits), error::hook_threw);
    EXPECT_EQ(played.attempts, 2u);
}

TEST_F(blocking_retry, rejected_results_are_retried_and_the_last_one_is_delivered) {
    int calls = 0;
    auto const is_small = [](int n) { return n < 10; };
    EXPECT_EQ(retry(fail_if([&] { return ++calls; }, is_small), noting(four_every_100ms()), waits), 4);
    EXPECT_THAT(reasons, ElementsAre(stop_reason::attempts));
    auto const last = retry(fail_if([&](attempt) -> boost::system::result<int> { return ++calls; }, is_small),
                            four_every_100ms(), waits);
    EXPECT_EQ(last.value(), 8);
    EXPECT_EQ(retry(fail_if([&] { return ++calls; }, is_small), four_every_100ms(), waits), 10);
}

TEST_F(blocking_retry, what_the_predicate_of_fail_if_throws_comes_out) {
    auto const throws = [](int) -> bool { throw std::domain_error("predicate"); };
    EXPECT_THROW(retry(fail_if([] { return 1; }, throws), four_every_100ms(), waits), std::domain_error);
    auto const returned =
        retry(fail_if([]() -> boost::system::result<int> { return 1; }, throws), four_every_100ms(), waits);
    EXPECT_EQ(returned.error(), error::predicate_threw);
}

TEST_F(blocking_retry, decision_20_the_result_of_a_failed_attempt_is_gone_during_the_wait) {
    std::weak_ptr<int> last;
    waits.on_wait = [&] { EXPECT_TRUE(last.expired()); };
    auto operation = [&] {
        auto const made = std::make_shared<int>(1);
        last = made;
        return made;
    };
    auto const all = [](std::shared_ptr<int> const&) { return true; };
    EXPECT_TRUE(retry(fail_if(operation, all), four_every_100ms(), waits));
    EXPECT_EQ(waits.delays.size(), 3u);
}

TEST_F(blocking_retry, fills_in_a_report) {
    retry_report report;
    auto const get_page = [this] { return take(50ms); };
    EXPECT_FALSE(retry(with_report(get_page, report), four_every_100ms(), waits));
    EXPECT_EQ(report.reason, stop_reason::succeeded);
    EXPECT_EQ(report.attempts, 3u);
    EXPECT_EQ(report.elapsed, 350ms);
    EXPECT_EQ(report.waited, 200ms);
    EXPECT_EQ(report.history.size(), 2u);
}

// --- time limits

TEST_F(blocking_retry, an_attempt_that_fails_after_its_timeout_has_timed_out) {
    retry_report report;
    auto const slow = with_report([this] { return take(3s); }, report);
    EXPECT_FALSE(retry(slow, four_every_100ms().attempt_timeout(2s), waits));
    ASSERT_EQ(report.history.size(), 2u);
    EXPECT_EQ(report.history[0].error, timed_out());
    EXPECT_EQ(report.history[0].stopped, interruption::attempt_timeout);
    EXPECT_EQ(report.attempts, 3u) << "a success counts, however late";

    for (duration const too_long : {3s, 2s}) {
        played = script::failures(9);
        EXPECT_EQ(retry([&] { return take(too_long); }, four_every_100ms().attempt_timeout(2s), waits),
                  timed_out());
    }
    played = script::failures(9);
    EXPECT_EQ(retry([this] { return take(1s); }, four_every_100ms().attempt_timeout(2s), waits), refused());
}

TEST_F(blocking_retry, a_failure_after_the_total_timeout_ends_it) {
    played = script::failures(9);
    EXPECT_EQ(retry([this] { return take(3s); }, noting(four_every_100ms().total_timeout(5s)), waits),
              timed_out());
    EXPECT_EQ(played.attempts, 2u);
    EXPECT_THAT(reasons, ElementsAre(stop_reason::deadline));
}

TEST_F(blocking_retry, no_wait_begins_that_would_end_after_the_deadline) {
    played = script::failures(9);
    EXPECT_EQ(
        retry([this] { return played.next(); }, noting(four_every_100ms().deadline(begin + 250ms)), waits),
        refused());
    EXPECT_EQ(played.attempts, 3u);
    EXPECT_THAT(waits.delays, elements(100ms, 100ms));
    EXPECT_THAT(reasons, ElementsAre(stop_reason::deadline));
}

TEST_F(blocking_retry, no_attempt_is_made_after_the_deadline) {
    try {
        retry([this] { get(); }, noting(four_every_100ms().deadline(begin)), waits);
        ADD_FAILURE() << "nothing was thrown";
    } catch (boost::system::system_error const& e) {
        EXPECT_EQ(e.code(), timed_out());
    }
    EXPECT_EQ(played.attempts, 0u);
}

// --- stopping

TEST_F(blocking_retry, stopped_before_it_starts_it_makes_no_attempt) {
    waits.stop = true;
    EXPECT_EQ(retry([this] { return played.next(); }, noting(four_every_100ms()), waits), aborted());
    EXPECT_EQ(played.attempts, 0u);
    EXPECT_THAT(reasons, ElementsAre(stop_reason::cancelled));
}

TEST_F(blocking_retry, stopped_during_a_wait_it_makes_no_further_attempt) {
    waits.on_wait = [this] { waits.stop = true; };
    auto operation = [this]() -> boost::system::result<int> { return played.next(); };
    EXPECT_EQ(retry(operation, noting(four_every_100ms()), waits).error(), aborted());
    EXPECT_EQ(played.attempts, 1u);
    EXPECT_THAT(reasons, ElementsAre(stop_reason::cancelled));
}

TEST_F(blocking_retry, stopped_during_an_attempt_that_fails_it_is_aborted) {
    auto operation = [this] {
        waits.stop = true;
        get();
    };
    try {
        retry(operation, noting(four_every_100ms()), waits);
        ADD_FAILURE() << "nothing was thrown";
    } catch (boost::system::system_error const& e) {
        EXPECT_EQ(e.code(), aborted());
    }
    EXPECT_EQ(played.attempts, 1u);
    EXPECT_TRUE(waits.delays.empty());
}

TEST_F(blocking_retry, decision_12_a_success_wins_over_a_stop) {
    played = {};
    auto operation = [this] {
        waits.stop = true;
        return get();
    };
    EXPECT_EQ(retry(operation, four_every_100ms(), waits), 1);
}

TEST_F(blocking_retry, stopped_by_a_hook_it_does_not_wait) {
    auto const policy = four_every_100ms().on_retry([this](retry_event const&) { waits.stop = true; });
    EXPECT_EQ(retry([this] { return played.next(); }, policy, waits), aborted());
    EXPECT_TRUE(waits.delays.empty());
}

// --- waits that return too early, as sleeping does on some systems

/// Wakes up when half of the time has passed, again and again.
struct early_waits : manual_waits {
    void wait_until(time_point when) {
        duration const half = (when - time) / 2;
        manual_waits::wait_until(half > 10ms ? time + half : when);
    }
};

TEST(blocking_retry_that_wakes_up_early, decision_43_asks_the_clock_again) {
    early_waits waits;
    std::vector<time_point> attempts;
    auto operation = [&] {
        attempts.push_back(waits.now());
        return error_code(asio::error::connection_refused);
    };
    time_point const begin = waits.now();
    EXPECT_EQ(retry(operation, four_every_100ms(), waits), refused());
    EXPECT_THAT(attempts, ElementsAre(begin, begin + 100ms, begin + 200ms, begin + 300ms));
    EXPECT_GT(waits.delays.size(), 3u);
}

TEST(blocking_retry_that_wakes_up_early, decision_43_makes_no_attempt_too_soon_within_its_limits) {
    early_waits waits;
    time_point const begin = waits.now();
    auto operation = [] { return error_code(asio::error::connection_refused); };
    EXPECT_EQ(retry(operation, four_every_100ms().unlimited_attempts().max_elapsed(1s), waits), refused());
    EXPECT_EQ(waits.now() - begin, 1s);
}

TEST(blocking_retry_that_wakes_up_early, decision_43_a_stop_is_not_asked_again) {
    early_waits waits;
    waits.on_wait = [&] { waits.stop = waits.delays.size() == 2; };
    auto operation = [] { return error_code(asio::error::connection_refused); };
    EXPECT_EQ(retry(operation, four_every_100ms(), waits), aborted());
    EXPECT_EQ(waits.delays.size(), 2u);
}

// --- the thread's own clock

TEST(blocking_retry_on_a_thread, needs_nothing_but_operation_and_policy) {
    script played = script::failures(2);
    auto const policy = retry_policy().backoff(constant(1us));
    EXPECT_FALSE(retry([&] { return played.next(); }, policy));
    EXPECT_EQ(played.attempts, 3u);
}

TEST(blocking_retry_on_a_thread, never_waits_less_than_the_delay) {
    script played = script::failures(1);
    auto const begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(
        retry([&] { return played.next(); }, retry_policy().backoff(constant(2ms)).jitter(no_jitter())));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 2ms);
}

TEST(blocking_retry_on_a_thread, separate_retries_draw_separate_delays) {
    auto const drawn_delay = [] {
        duration drawn{};
        auto const policy = retry_policy()
                                .jitter([&](backoff_step, random& source) {
                                    drawn = source.uniform(duration::zero(), duration::max());
                                    return duration::zero();
                                })
                                .max_attempts(2);
        EXPECT_EQ(retry([] { return refused(); }, policy), refused());
        return drawn;
    };
    EXPECT_NE(drawn_delay(), drawn_delay());
}

// Decision 5: nothing grows with the number of attempts, and nothing is waited.
TEST(blocking_retry_on_a_thread, decision_05_many_failures_without_a_delay) {
    constexpr std::uint64_t attempts = 20'000; // each gives others their turn
    auto const policy = retry_policy().backoff(constant(0s)).jitter(no_jitter()).max_attempts(attempts);
    std::uint64_t calls = 0;
    EXPECT_EQ(retry([&] { return ++calls, refused(); }, policy), refused());
    EXPECT_EQ(calls, attempts);
}

#ifdef __cpp_lib_jthread
TEST(blocking_retry_on_a_thread, stopped_before_it_starts) {
    std::stop_source source;
    source.request_stop();
    int calls = 0;
    EXPECT_THROW(retry([&] { ++calls; }, retry_policy(), source.get_token()), boost::system::system_error);
    EXPECT_EQ(calls, 0);
}

// The wait would take an hour, as it did if the stop did not end it: the test would not end.
TEST(blocking_retry_on_a_thread, a_stop_ends_a_wait_of_an_hour_from_another_thread) {
    std::promise<void> decided;
    std::stop_source source;
    std::thread stopper([&] {
        decided.get_future().wait();
        source.request_stop();
    });
    auto const policy =
        retry_policy().backoff(constant(1h)).jitter(no_jitter()).on_retry([&](retry_event const&) {
            decided.set_value();
        });
    int calls = 0;
    auto operation = [&] {
        ++calls;
        return refused();
    };
    EXPECT_EQ(retry(operation, policy, source.get_token()), aborted());
    EXPECT_EQ(calls, 1);
    stopper.join();
}

TEST(blocking_retry_on_a_thread, a_stop_token_that_nobody_stops_changes_nothing) {
    script played = script::failures(2);
    auto const policy = retry_policy().backoff(constant(1us));
    EXPECT_FALSE(retry([&] { return played.next(); }, policy, std::stop_token()));
    EXPECT_EQ(played.attempts, 3u);
}
#endif

} // namespace
} // namespace asio_retry::test
