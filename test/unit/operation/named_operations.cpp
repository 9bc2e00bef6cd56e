#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/observe/log_observer.hpp>
#include <asio_retry/policy_book.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include "support/in_virtual_time.hpp"
#include "support/manual_waits.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Each form of operation tells its name.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class named_operations : public testing::Test, protected in_virtual_time {
protected:
    /// The names that an observer hears, at the ends of attempts and of operations.
    struct name_collector final : retry_observer {
        void on_event(observation const& event) noexcept override {
            if (event.what == observation::kind::attempt_ended)
                attempts.emplace_back(event.policy);
            if (event.what == observation::kind::ended)
                ends.emplace_back(event.policy);
        }
        std::vector<std::string> attempts, ends;
    };

    std::shared_ptr<name_collector> heard = std::make_shared<name_collector>();
    retry_policy const quick =
        retry_policy().backoff(constant(100ms)).jitter(no_jitter()).max_attempts(3).observe(heard);
    script played = script::failures(1);

    auto operation() {
        return [this](auto token) { return async_scripted(io, played, std::move(token)); };
    }
};

TEST_F(named_operations, tell_observers_hooks_and_reports_of_an_async_retry) {
    retry_report report;
    std::vector<std::string> hooked;
    auto const hook = [&](retry_event const& event) { hooked.emplace_back(event.policy); };
    {
        // The operation keeps the policy, and so the name.
        retry_policy const gone = quick.name("orders.get, a name that is longer than a short string");
        async_retry(io, with_report(with_hooks(operation(), hook, hook), report), gone,
                    [](error_code ec, int) { EXPECT_FALSE(ec); });
    }
    time.run();
    EXPECT_EQ(time.now() - begin, 100ms);
    std::string const name = "orders.get, a name that is longer than a short string";
    EXPECT_THAT(heard->attempts, ElementsAre(name, name));
    EXPECT_THAT(heard->ends, ElementsAre(name));
    EXPECT_THAT(hooked, ElementsAre(name, name));
    EXPECT_EQ(report.policy, name);

    async_retry(io, with_report(operation(), report), quick, asio::detached);
    time.run();
    EXPECT_EQ(report.policy, "") << "of the last operation";
    EXPECT_EQ(heard->ends.back(), "");
}

/// A program may keep events as long as it keeps the policy.
TEST_F(named_operations, keep_the_name_in_events_that_outlive_the_operation) {
    struct keeper final : retry_observer {
        void on_event(observation const& event) noexcept override { events.push_back(event); }
        std::vector<observation> events;
    };
    auto const kept = std::make_shared<keeper>();
    std::vector<retry_event> failures;
    std::string const name = "orders.get, a name that is longer than a short string";
    retry_policy const policy =
        quick.name(name).observe(kept).on_retry([&](retry_event const& event) { failures.push_back(event); });
    hedge_policy const hedging = hedge_policy(20ms).observe(kept).name(name);
    async_retry(io, operation(), policy, asio::detached);
    time.run();
    async_hedge(
        io, [this](auto token) { return async_scripted(io, played, std::move(token)); }, hedging,
        asio::detached);
    time.run();
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_EQ(failures[0].policy, name);
    ASSERT_GE(kept->events.size(), 10u);
    for (observation const& each : kept->events)
        EXPECT_EQ(each.policy, name);
}

TEST_F(named_operations, tell_observers_of_an_async_hedge) {
    hedge_policy const hedging = hedge_policy(20ms).observe(heard).name("search");
    async_hedge(
        io, [this](auto token) { return async_scripted(io, played, std::move(token)); }, hedging,
        [](error_code ec, int) { EXPECT_FALSE(ec); });
    time.run();
    EXPECT_THAT(heard->attempts, ElementsAre("search", "search"));
    EXPECT_THAT(heard->ends, ElementsAre("search"));
}

TEST_F(named_operations, tell_observers_and_reports_of_a_blocking_retry) {
    manual_waits waits;
    retry_report report;
    error_code const ec =
        retry(with_report([this] { return played.next(); }, report), quick.name("orders.put"), waits);
    EXPECT_FALSE(ec);
    EXPECT_THAT(heard->attempts, ElementsAre("orders.put", "orders.put"));
    EXPECT_THAT(heard->ends, ElementsAre("orders.put"));
    EXPECT_EQ(report.policy, "orders.put");
}

// The inner operation is told by its own name, and without one by none: never by that of the outer one.
TEST_F(named_operations, inside_an_attempt_have_their_own_name) {
    retry_policy const outer = quick.name("outer");
    for (std::string const& name : {std::string("inner"), std::string()}) {
        heard->attempts.clear();
        heard->ends.clear();
        retry_policy const inner = name.empty() ? quick : quick.name(name);
        retry_report of_inner;
        run([&]() -> asio::awaitable<void> {
            auto const attempt_of_outer = [&](attempt a) -> asio::awaitable<void> {
                auto const innermost = [this](auto token) {
                    return async_scripted(io, played, std::move(token));
                };
                co_await async_retry(a, with_report(innermost, of_inner), inner.retry_when_nested(),
                                     asio::use_awaitable);
            };
            played = script::failures(1);
            co_await async_retry(attempt_of_outer, outer);
        });
        EXPECT_THAT(heard->ends, ElementsAre(name, "outer"));
        EXPECT_THAT(heard->attempts, ElementsAre(name, name, "outer"));
        EXPECT_EQ(of_inner.policy, name);
    }
}

TEST_F(named_operations, inside_an_attempt_that_hedge_have_their_own_name) {
    run([&]() -> asio::awaitable<void> {
        auto const attempt_of_outer = [&](attempt a) -> asio::awaitable<void> {
            auto const innermost = [this](auto token) { return async_scripted(io, played, std::move(token)); };
            co_await async_hedge(a, innermost, hedge_policy(20ms).observe(heard).name("inner"),
                                 asio::use_awaitable);
        };
        co_await async_retry(attempt_of_outer, quick.name("outer"));
    });
    EXPECT_THAT(heard->attempts, ElementsAre("inner", "inner", "outer"));
    EXPECT_THAT(heard->ends, ElementsAre("inner", "outer"));
}

// A program sees which line of its file an operation follows.
TEST_F(named_operations, of_a_book_are_in_the_log_by_their_keys) {
    std::vector<std::string> lines;
    auto const log = log_observer([&](log_line const& line) { lines.push_back(to_string(line)); });
    policy_book const book("orders = constant(100ms) no_jitter() max_attempts(3)");
    async_retry(io, operation(), book["orders"].observe(log), asio::detached);
    time.run();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_TRUE(lines[0].starts_with("orders, operation ")) << lines[0];
    EXPECT_TRUE(lines[0].ends_with(", attempt 1: Connection refused; retry in 100 ms")) << lines[0];
}

} // namespace
} // namespace asio_retry::test
