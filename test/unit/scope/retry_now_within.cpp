#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/refuses.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

// retry_scope::retry_now with a time over which the attempts are spread.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

enum class form { callback, awaited };

class retry_now_within : public testing::Test {
protected:
    static retry_policy every(duration delay) {
        return retry_policy().backoff(constant(delay)).jitter(no_jitter()).max_attempts(3);
    }

    auto note_spawned() {
        return [this](std::exception_ptr, error_code ec) {
            ++ended;
            aborted_ones += ec == aborted();
        };
    }

    /// Fails, but for its third attempt; notes when the second and the third one begin.
    void start(retry_scope& in, duration delay, form how = form::callback) {
        auto const note = [this](error_code ec) {
            ++ended;
            aborted_ones += ec == aborted();
        };
        auto const attempt = [this, n = 0]() mutable {
            if (n++ != 0)
                began.push_back(time.now() - begin);
            return n < 3 ? refused() : error_code();
        };
        switch (how) {
        case form::callback:
            return async_retry(in, attempt, every(delay), note);
        case form::awaited:
            return asio::co_spawn(io, await(in, attempt, every(delay)), note_spawned());
        }
    }
    template <typename Attempt>
    static asio::awaitable<error_code> await(retry_scope& in, Attempt attempt, retry_policy policy) {
        auto const [ec] = co_await async_retry(
            in, [&]() -> asio::awaitable<error_code> { co_return attempt(); }, policy,
            asio::as_tuple(asio::use_awaitable));
        co_return ec;
    }
    void start_all(std::size_t count, duration delay, form how = form::callback) {
        while (count-- != 0)
            start(scope, delay, how);
        time.advance(0s);
        begin = time.now();
    }

    asio::io_context io{1};
    virtual_time time{io};
    retry_scope scope{io};
    time_point begin = time.now();
    std::vector<duration> began;
    int ended = 0;
    int aborted_ones = 0;
};

class retry_now_within_forms : public retry_now_within, public testing::WithParamInterface<form> {};

// 20 bins of 500 each: chi-square with 19 degrees of freedom is below 43.8 but for one in a thousand; seeded.
TEST_P(retry_now_within_forms, decision_62_spreads_evenly) {
    constexpr std::size_t count = 10'000, bins = 20;
    start_all(count, 1h, GetParam());
    scope.retry_now(10s);
    time.advance(10s - 1ns);
    ASSERT_EQ(began.size(), count) << "none later";
    std::array<double, bins> counts{};
    for (duration at : began)
        ++counts.at(static_cast<std::size_t>(at / (duration(10s) / bins)));
    double chi_square = 0;
    for (double counted : counts)
        chi_square +=
            (counted - double(count) / bins) * (counted - double(count) / bins) / (double(count) / bins);
    EXPECT_LT(chi_square, 43.8);
    EXPECT_GT(chi_square, 3.0) << "too even";
    time.run(); // the next wait is as long as ever
    ASSERT_EQ(began.size(), 2 * count);
    EXPECT_GE(began[count], 1h);
    EXPECT_EQ(ended, int(count));
}

// Each call keeps its promise, though the notice of the first is still under way.
TEST_P(retry_now_within_forms, decision_62_a_later_call_with_more_time_takes_none_of_an_earlier_one) {
    start_all(100, 1h, GetParam());
    scope.retry_now(10ms);
    scope.retry_now(30min);
    time.advance(10ms);
    EXPECT_EQ(began.size(), 100u);
    scope.retry_now(30min); // and the next one has its own time
    time.advance(10ms);
    EXPECT_LT(began.size(), 150u);
}

std::string name_of(testing::TestParamInfo<form> const& info) {
    return std::array{"callback", "awaited"}.at(static_cast<std::size_t>(info.param));
}

INSTANTIATE_TEST_SUITE_P(, retry_now_within_forms, testing::Values(form::callback, form::awaited), name_of);

TEST_F(retry_now_within, decision_62_can_be_repeated) {
    std::vector<duration> first;
    {
        asio::io_context again{1};
        virtual_time t(again);
        retry_scope in(again);
        time_point const from = t.now();
        for (int i = 0; i != 10; ++i)
            async_retry(
                in,
                [&, n = 0]() mutable {
                    if (n++ != 0)
                        first.push_back(t.now() - from);
                    return n < 3 ? refused() : error_code();
                },
                every(1h), asio::detached);
        t.advance(0s);
        in.retry_now(1min);
        t.advance(1min);
    }
    start_all(10, 1h);
    scope.retry_now(1min);
    time.advance(1min);
    EXPECT_EQ(began, first);
    EXPECT_EQ(began.size(), 10u);
}

TEST_F(retry_now_within, decision_62_a_wait_that_ends_earlier_ends_at_its_own_time) {
    for (form how : {form::callback, form::awaited})
        start_all(100, 1ms, how);
    scope.retry_now(1h);
    time.advance(1ms);
    EXPECT_EQ(began.size(), 200u);
}

TEST_F(retry_now_within, decision_62_zero_and_none_are_at_once) {
    start_all(100, 1h);
    scope.retry_now(0s);
    time.advance(0s);
    EXPECT_EQ(began.size(), 100u);
    scope.retry_now();
    time.advance(0s);
    EXPECT_EQ(ended, 100);
}

TEST_F(retry_now_within, decision_62_reaches_children_and_later_waits_are_their_own) {
    retry_scope child(scope), below(child);
    for (int i = 0; i != 100; ++i)
        start(below, 1h);
    start_all(100, 1h);
    scope.retry_now(10s);
    retry_scope late(scope);
    start(late, 1h); // which was not there
    time.advance(10s);
    EXPECT_EQ(began.size(), 200u);
    EXPECT_EQ(std::count(began.begin(), began.end(), 0s), 0) << "not at once, here and there";
}

TEST_F(retry_now_within, decision_62_retry_now_ends_at_once_what_waits_for_its_time) {
    for (form how : {form::callback, form::awaited}) {
        start_all(100, 1h, how);
        scope.retry_now(10min);
        time.advance(0s);
        scope.retry_now();
        time.advance(0s);
        EXPECT_EQ(std::exchange(began, {}).size(), 100u);
        time.run();
        began.clear();
    }
}

// Who has been told of a time and has not heard of it yet ends at once too.
TEST_F(retry_now_within, decision_62_retry_now_ends_at_once_what_is_being_told_of_a_time) {
    start_all(1000, 1h);
    scope.retry_now(10min);
    scope.retry_now();
    time.advance(0s);
    EXPECT_EQ(began.size(), 1000u);
}

TEST_F(retry_now_within, decision_62_what_was_ended_at_once_is_not_spread) {
    for (form how : {form::callback, form::awaited}) {
        start_all(1000, 1h, how);
        scope.retry_now();
        scope.retry_now(10min);
        time.advance(0s);
        EXPECT_EQ(began.size(), 1000u);
        time.run();
        began.clear();
    }
}

TEST_F(retry_now_within, decision_62_cancel_and_drain_win) {
    for (bool drains : {false, true})
        for (form how : {form::callback, form::awaited}) {
            retry_scope in(io);
            for (int i = 0; i != 100; ++i)
                start(in, 1h, how);
            time.advance(0s);
            in.retry_now(1min);
            time.advance(0s);
            std::size_t const before = began.size();
            aborted_ones = 0;
            if (drains)
                in.async_drain(1min, asio::detached);
            else
                in.cancel();
            in.retry_now(1s); // which does nothing
            time.advance(0s);
            EXPECT_EQ(aborted_ones, 100);
            EXPECT_EQ(began.size(), before);
        }
}

TEST_F(retry_now_within, decision_62_leaves_an_attempt_that_runs_and_the_wait_after_it_alone) {
    pending_attempts attempts(io);
    completion_record record;
    async_retry(
        scope, [&](auto token) { return attempts.async_attempt(std::move(token)); }, every(1h),
        record.handler());
    scope.retry_now(10s);
    time.advance(1min);
    EXPECT_EQ(attempts.started, 1u);
    attempts.complete(refused());
    time.advance(59min);
    EXPECT_EQ(attempts.started, 1u);
    time.advance(1min);
    EXPECT_EQ(attempts.started, 2u);
    scope.cancel();
    time.run();
}

TEST_F(retry_now_within, decision_62_limits_stay) {
    retry_report report;
    error_code result;
    async_retry(scope, with_report([] { return refused(); }, report), every(1h),
                [&](error_code ec) { result = ec; });
    time.advance(0s);
    scope.retry_now(10s);
    time.advance(10s);
    EXPECT_EQ(report.attempts, 2);
    time.run();
    EXPECT_EQ(report.attempts, 3);
    EXPECT_EQ(result, refused());
}

TEST_F(retry_now_within, decision_62_a_hedge_ends_the_wait_that_its_server_asked_for) {
    std::vector<duration> begun;
    for (int i = 0; i != 100; ++i)
        async_hedge(
            scope,
            [&](attempt a, auto token) {
                begun.push_back(time.now() - begin);
                a.heed(pushback::after(20s));
                return refusing_operation()(std::move(token));
            },
            hedge_policy(10ms), asio::detached);
    time.advance(0s);
    begun.clear();
    scope.retry_now(10s);
    time.advance(10s - 1ns);
    ASSERT_EQ(begun.size(), 100u);
    EXPECT_GT(*std::max_element(begun.begin(), begun.end()), 9s);
    EXPECT_LT(*std::min_element(begun.begin(), begun.end()), 1s);
    scope.cancel();
    time.run();
}

TEST_F(retry_now_within, decision_62_refuses_a_negative_time) {
    EXPECT_THAT(calling([&] { scope.retry_now(-1ns); }),
                refuses("asio_retry: retry_now = -1ns: must not be negative"));
}

TEST_F(retry_now_within, decision_62_the_greatest_time_is_one) {
    start_all(1, 1h);
    scope.retry_now((duration::max)());
    time.advance(1h);
    EXPECT_EQ(began.size(), 1u) << "at its own";
}

// On a real clock the timer is armed for the time that comes first now.
TEST(retry_now_on_a_steady_clock, decision_62_ends_waits_of_an_hour) {
    asio::io_context io{1};
    retry_scope scope(io);
    int ended = 0;
    for (int i = 0; i != 10; ++i)
        async_retry(
            scope, [n = 0]() mutable { return n++ == 0 ? refused() : error_code(); },
            retry_policy().backoff(constant(1h)).jitter(no_jitter()), [&](error_code) { ++ended; });
    while (io.poll() != 0) {
    }
    scope.retry_now(10ms);
    io.run_for(10s); // ends much earlier
    EXPECT_EQ(ended, 10);
}

} // namespace
} // namespace asio_retry::test
