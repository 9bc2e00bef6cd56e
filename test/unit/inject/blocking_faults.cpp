#include <asio_retry/inject.hpp>

#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry.hpp>

#include "support/manual_waits.hpp"
#include "support/scripted_operation.hpp"

#include <boost/system/result.hpp>
#include <boost/system/system_error.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// A blocking retry whose time moves only when it waits.
class blocking_faults : public testing::Test {
public:
    manual_waits waits;
    time_point const begin = waits.now();
    script played;
    retry_policy const thrice = retry_policy().max_attempts(3).backoff(constant(0s)).jitter(no_jitter());
    std::shared_ptr<fault_plan> plan;

    void enable(fault_options const& options) {
        plan = std::make_shared<fault_plan>(options);
        plan->enable();
    }
    auto ask() {
        return [this] { return played.next(); };
    }
    duration passed() const { return waits.now() - begin; }
};

TEST_F(blocking_faults, fail_without_being_made) {
    enable({.errors = {1, refused()}});
    EXPECT_EQ(retry(inject(ask(), plan), thrice, waits), refused());
    EXPECT_EQ(played.attempts, 0u);
    EXPECT_EQ(plan->counts(), (fault_counts{.attempts = 3, .errors = 3}));
}

TEST_F(blocking_faults, are_thrown_or_returned_as_the_operation_fails) {
    enable({.errors = {1, refused()}});
    auto const query = []() -> std::string { return "rows"; };
    EXPECT_THROW(retry(inject(query, plan), thrice, waits), boost::system::system_error);
    auto const ask_result = []() -> boost::system::result<int> { return 1; };
    EXPECT_EQ(retry(inject(ask_result, plan), thrice, waits).error(), refused());
    EXPECT_THROW(retry(inject([] {}, plan), thrice, waits), boost::system::system_error);
}

TEST_F(blocking_faults, lose_an_answer) {
    enable({.lost_answers = {1, timed_out()}});
    played.errors = {refused()};
    EXPECT_EQ(retry(inject(ask(), plan), thrice, waits), timed_out());
    EXPECT_EQ(played.attempts, 3u);
    EXPECT_EQ(plan->counts(), (fault_counts{.attempts = 3, .lost_answers = 2}));
    int calls = 0;
    EXPECT_THROW(retry(inject([&] { ++calls; }, plan), thrice, waits), boost::system::system_error);
    EXPECT_EQ(calls, 3);
}

TEST_F(blocking_faults, delay_by_the_waits_of_the_retry) {
    enable({.delays = {1, 10s, 10s}});
    played.errors = {refused(), refused()};
    EXPECT_EQ(retry(inject(ask(), plan), thrice, waits), error_code());
    EXPECT_EQ(passed(), 30s);
    EXPECT_EQ(played.attempts, 3u);
}

TEST_F(blocking_faults, hang_until_the_deadline_of_the_attempt) {
    enable({.hangs = 1});
    EXPECT_EQ(retry(inject(ask(), plan), thrice.attempt_timeout(2s), waits), timed_out());
    EXPECT_EQ(passed(), 6s);
    enable({.delays = {1, 1h, 1h}});
    EXPECT_EQ(retry(inject(ask(), plan), thrice.total_timeout(5s), waits), timed_out());
    EXPECT_EQ(passed(), 11s);
    EXPECT_EQ(played.attempts, 0u);
}

TEST_F(blocking_faults, end_when_the_retry_is_stopped) {
    enable({.hangs = 1});
    waits.on_wait = [&] { waits.stop = passed() > 5s; };
    EXPECT_EQ(retry(inject(ask(), plan), thrice, waits), aborted());
    EXPECT_EQ(played.attempts, 0u);
}

TEST_F(blocking_faults, are_made_when_the_plan_is_disabled) {
    enable({.hangs = 1});
    waits.on_wait = [&] {
        if (passed() > 5s)
            plan->disable();
    };
    EXPECT_EQ(retry(inject(ask(), plan), thrice, waits), error_code());
    EXPECT_EQ(played.attempts, 1u);
    EXPECT_LE(passed(), 5s + 200ms);
}

TEST_F(blocking_faults, compose_with_other_forms) {
    enable({.delays = {1, 1s, 1s}});
    int calls = 0;
    auto const count = [&] { return ++calls; };
    auto const below = [](int least) { return [least](int value) { return value < least; }; };
    EXPECT_EQ(retry(fail_if(inject(count, plan), below(3)), thrice, waits), 3);
    EXPECT_EQ(passed(), 3s);
    EXPECT_EQ(retry(inject(fail_if(count, below(5)), plan), thrice, waits), 5);
    EXPECT_EQ(passed(), 5s);
    EXPECT_EQ(retry(inject(before_retry(count, [] {}), plan), thrice, waits), 6);
    EXPECT_EQ(retry(inject(inject(count, plan), plan), thrice, waits), 7);
    EXPECT_EQ(passed(), 8s);
    auto const set = std::make_shared<endpoint_set<std::string>>(std::vector<std::string>{"a"});
    auto const at = [&](attempt which, std::string const& server) {
        EXPECT_EQ(which.number, 1u);
        return server;
    };
    EXPECT_EQ(retry(on_endpoint(inject(at, plan), set), thrice, waits), "a");
    EXPECT_EQ(passed(), 9s);
}

TEST_F(blocking_faults, are_none_while_the_plan_is_disabled) {
    plan = std::make_shared<fault_plan>(fault_options{.hangs = 1});
    EXPECT_EQ(retry(inject(ask(), plan), thrice, waits), error_code());
    EXPECT_EQ(plan->counts(), fault_counts());
    EXPECT_EQ(passed(), 0s);
}

TEST_F(blocking_faults, block_the_thread_in_real_time) {
    enable({.hangs = 1});
    std::thread operator_of_the_day([&] {
        while (plan->counts().hangs == 0)
            std::this_thread::yield();
        plan->disable();
    });
    EXPECT_EQ(retry(inject(ask(), plan), thrice), error_code());
    operator_of_the_day.join();
    EXPECT_EQ(played.attempts, 1u);
}

} // namespace
} // namespace asio_retry::test
