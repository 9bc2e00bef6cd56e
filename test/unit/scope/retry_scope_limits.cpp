#include <asio_retry/retry_scope.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/in_virtual_time.hpp"
#include "support/script.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace asio_retry::test {
namespace {

class retry_scope_limits : public testing::Test, protected in_virtual_time {
protected:
    retry_report report;
    completion_record record;
    script failing = script::failures(1000);
    pending_attempts attempts{io};

    auto scripted() {
        return [this](auto token) { return async_scripted(io, failing, std::move(token)); };
    }
    auto pending() {
        return [this](auto token) { return attempts.async_attempt(std::move(token)); };
    }
};

// --- the deadline

TEST_F(retry_scope_limits, deadline_ends_waits_that_would_end_later) {
    retry_scope scope(io.get_executor(), time.now() + 250ms);
    EXPECT_EQ(scope.deadline(), time.now() + 250ms);
    auto const began = time.now();
    async_retry(scope, with_report(scripted(), report), endless_every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.error, refused());
    EXPECT_EQ(report.reason, stop_reason::deadline);
    EXPECT_EQ(report.attempts, 3u);
    EXPECT_EQ(time.now() - began, 200ms);
}

TEST_F(retry_scope_limits, deadline_cancels_attempts_of_the_children_too) {
    retry_scope scope(io.get_executor(), time.now() + 1s);
    retry_scope child(scope), grandchild(child, time.now() + 1h);
    EXPECT_EQ(grandchild.deadline(), scope.deadline()) << "no more time than its parent";
    async_retry(grandchild, with_report(pending(), report), endless_every_100ms(), record.handler());
    time.advance(1s - 1ns);
    EXPECT_EQ(record.count, 0);
    time.run();
    EXPECT_THAT(attempts.cancellations, testing::ElementsAre(asio::cancellation_type::terminal));
    EXPECT_EQ(record.error, timed_out());
    EXPECT_EQ(report.reason, stop_reason::deadline);
    EXPECT_EQ(report.elapsed, 1s);
}

TEST_F(retry_scope_limits, a_child_may_have_less_time) {
    retry_scope scope(io.get_executor());
    EXPECT_EQ(scope.deadline(), time_point::max());
    retry_scope child(scope, time.now() + 1s);
    async_retry(child, pending(), endless_every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.error, timed_out());
}

TEST_F(retry_scope_limits, the_earlier_of_the_deadlines_counts) {
    retry_scope scope(io.get_executor(), time.now() + 1s);
    for (auto const& [timeout, expected] :
         {std::pair<duration, duration>{300ms, 300ms}, std::pair<duration, duration>{1h, 700ms}}) {
        auto const began = time.now();
        async_retry(scope, pending(), endless_every_100ms().total_timeout(timeout), record.handler());
        time.run();
        EXPECT_EQ(record.error, timed_out());
        EXPECT_EQ(time.now() - began, expected);
    }
}

TEST_F(retry_scope_limits, deadline_that_has_passed_allows_no_attempt) {
    retry_scope scope(io.get_executor(), time.now());
    async_retry(scope, scripted(), endless_every_100ms(), record.handler());
    EXPECT_EQ(record.count, 0);
    time.run();
    EXPECT_EQ(record.error, timed_out());
    EXPECT_EQ(failing.attempts, 0u);
}

TEST_F(retry_scope_limits, deadline_is_seen_by_the_attempt_for_nested_retries) {
    retry_scope scope(io.get_executor(), time.now() + 1s);
    std::optional<time_point> seen;
    auto const operation = [&](attempt a) {
        seen = a.deadline;
        return error_code();
    };
    async_retry(scope, operation, endless_every_100ms(), asio::detached);
    EXPECT_EQ(seen, scope.deadline());
}

// --- the ceiling on pending operations

TEST_F(retry_scope_limits, decision_33_the_operation_above_the_ceiling_completes_with_no_buffer_space) {
    retry_scope scope(io.get_executor());
    scope.max_pending(2);
    std::vector<retry_event> give_ups;
    auto const policy = endless_every_100ms().on_give_up([&](retry_event const& e) { give_ups.push_back(e); });
    script second = script::failures(1000);
    async_retry(scope, scripted(), policy, record.handler());
    async_retry(
        scope, [&](auto token) { return async_scripted(io, second, std::move(token)); }, policy,
        asio::detached);

    completion_record above;
    async_retry(scope, with_report(pending(), report), policy, above.handler());
    EXPECT_EQ(above.count, 0) << "never completed inside the initiating function";
    EXPECT_EQ(scope.pending(), 2u);
    time.advance(0s);
    EXPECT_EQ(above.error, asio::error::no_buffer_space);
    EXPECT_EQ(attempts.started, 0u);
    EXPECT_EQ(report.reason, stop_reason::budget);
    EXPECT_THAT(give_ups,
                testing::ElementsAre(is_give_up(stop_reason::budget, 0, asio::error::no_buffer_space)));
    EXPECT_EQ(record.count, 0) << "the others are left alone";

    failing.errors.clear();
    time.advance(100ms);
    EXPECT_EQ(record.count, 1);
    async_retry(scope, pending(), policy, above.handler());
    EXPECT_EQ(attempts.started, 1u) << "there is room again";
}

TEST_F(retry_scope_limits, decision_33_the_handler_of_one_may_start_another) {
    retry_scope outer(io.get_executor()), scope(outer);
    outer.max_pending(1);
    scope.max_pending(1);
    std::size_t pending_in_handler = 0;
    completion_record next;
    async_retry(scope, scripted(), endless_every_100ms(), [&](error_code, int) {
        pending_in_handler = scope.pending();
        async_retry(scope, pending(), endless_every_100ms(), next.handler());
    });
    failing.errors.clear();
    time.advance(100ms);
    EXPECT_EQ(pending_in_handler, 1u);
    EXPECT_EQ(attempts.started, 1u);
    EXPECT_EQ(next.count, 0);
    EXPECT_EQ(scope.pending(), 1u);
    completion_record above;
    async_retry(scope, pending(), endless_every_100ms(), above.handler());
    time.advance(0s);
    EXPECT_EQ(above.error, asio::error::no_buffer_space);
}

TEST_F(retry_scope_limits, decision_33_a_hedge_takes_room_while_its_attempts_run) {
    retry_scope scope(io.get_executor());
    scope.max_pending(1);
    completion_record above;
    attempts.on_cancel = nullptr;
    async_hedge(scope, pending(), hedge_policy(10ms).max_attempts(1).total_timeout(50ms).deliver_at_once(),
                record.handler());
    time.advance(50ms);
    EXPECT_EQ(record.count, 1);
    async_retry(scope, scripted(), endless_every_100ms(), above.handler());
    time.advance(0s);
    EXPECT_EQ(above.error, asio::error::no_buffer_space);
}

TEST_F(retry_scope_limits, no_ceiling_by_default) {
    retry_scope scope(io.get_executor());
    script many = script::failures(1000000);
    for (int i = 0; i != 1000; ++i)
        async_retry(
            scope, [&](auto token) { return async_scripted(io, many, std::move(token)); },
            endless_every_100ms(), asio::detached);
    EXPECT_EQ(scope.pending(), 1000u);
    EXPECT_EQ(many.attempts, 1000u);
}

TEST_F(retry_scope_limits, children_count_for_the_ceiling_of_their_parent) {
    retry_scope parent(io.get_executor());
    parent.max_pending(1);
    retry_scope child(parent), sibling(parent);
    async_retry(child, pending(), endless_every_100ms(), asio::detached);
    async_retry(sibling, scripted(), endless_every_100ms(), record.handler());
    EXPECT_EQ(sibling.pending(), 0u);
    time.advance(0s);
    EXPECT_EQ(record.error, asio::error::no_buffer_space);
    EXPECT_EQ(failing.attempts, 0u);
    EXPECT_EQ(parent.pending(), 1u);
}

// Nothing is lost: the join waits for the handlers of those that had no room too.
TEST_F(retry_scope_limits, join_waits_for_those_without_room) {
    retry_scope scope(io.get_executor());
    scope.max_pending(1);
    async_retry(scope, pending(), endless_every_100ms(), asio::detached);
    attempts.complete(error_code());
    bool joined = false;
    async_retry(scope, scripted(), endless_every_100ms(), [&](error_code, int) { EXPECT_FALSE(joined); });
    scope.async_join([&](error_code) { joined = true; });
    time.run();
    EXPECT_TRUE(joined);
}

// Even where nothing else is left.
TEST_F(retry_scope_limits, joins_wait_for_one_without_room_whose_handler_runs_elsewhere) {
    asio::io_context elsewhere;
    retry_scope scope(io.get_executor());
    scope.max_pending(1);
    async_retry(scope, pending(), endless_every_100ms(), asio::detached);
    async_retry(scope, scripted(), endless_every_100ms(),
                asio::bind_executor(elsewhere.get_executor(), record.handler()));
    int joined = 0;
    scope.async_join([&](error_code) { ++joined; });
    attempts.complete(error_code());
    time.run();
    EXPECT_EQ(scope.pending(), 0u);
    EXPECT_EQ(joined, 0);
    scope.async_join([&](error_code) { ++joined; });
    time.run();
    EXPECT_EQ(joined, 0);
    elsewhere.run();
    EXPECT_EQ(record.error, asio::error::no_buffer_space);
    time.run();
    EXPECT_EQ(joined, 2);
}

TEST_F(retry_scope_limits, join_of_a_child_waits_for_those_without_room_in_its_parent) {
    retry_scope parent(io.get_executor());
    parent.max_pending(1);
    retry_scope child(parent);
    async_retry(parent, pending(), endless_every_100ms(), asio::detached);
    bool joined = false;
    async_retry(child, scripted(), endless_every_100ms(), [&](error_code ec, int) {
        EXPECT_EQ(ec, asio::error::no_buffer_space);
        EXPECT_FALSE(joined);
    });
    child.async_join([&](error_code) { joined = true; });
    time.run();
    EXPECT_TRUE(joined);
}

TEST_F(retry_scope_limits, cancellation_comes_before_want_of_room) {
    retry_scope scope(io.get_executor());
    scope.max_pending(1);
    async_retry(scope, pending(), endless_every_100ms(), asio::detached);
    attempts.on_cancel = nullptr;
    scope.cancel();
    async_retry(scope, scripted(), endless_every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.error, aborted());
}

// One for each request: thousands of children cost each other nothing.
TEST_F(retry_scope_limits, children_come_and_go) {
    retry_scope scope(io.get_executor());
    std::vector<std::unique_ptr<retry_scope>> children;
    for (int i = 0; i != 3000; ++i)
        children.push_back(std::make_unique<retry_scope>(scope));
    for (std::size_t i = 0; i < children.size(); i += 2)
        children[i].reset();
    scope.cancel();
    for (std::size_t i = 1; i < children.size(); i += 2)
        EXPECT_TRUE(children[i]->cancelled());
}

TEST_F(retry_scope_limits, a_ceiling_of_zero_is_refused) {
    retry_scope scope(io.get_executor());
    EXPECT_THROW(scope.max_pending(0), std::invalid_argument);
}

// --- retry_now

class retry_now : public retry_scope_limits {
protected:
    retry_scope scope{io.get_executor()};
};

TEST_F(retry_now, ends_the_waits_and_attempts_at_once) {
    retry_scope child(scope);
    script other = script::failures(1000);
    auto const policy = endless_every_100ms().backoff(constant(1h));
    async_retry(scope, with_report(scripted(), report), policy, record.handler());
    async_retry(
        child, [&](auto token) { return async_scripted(io, other, std::move(token)); }, policy, asio::detached);
    time.advance(1min);
    EXPECT_EQ(failing.attempts, 1u);
    scope.retry_now();
    EXPECT_EQ(failing.attempts, 1u) << "never inside";
    time.advance(0s);
    EXPECT_EQ(failing.attempts, 2u);
    EXPECT_EQ(other.attempts, 2u);
    EXPECT_EQ(report.waited, 1min);
    time.advance(1h - 1ns);
    EXPECT_EQ(failing.attempts, 2u) << "the next wait is a whole one";
    time.advance(1ns);
    EXPECT_EQ(failing.attempts, 3u);
    scope.cancel();
    time.run();
    EXPECT_EQ(record.error, aborted());
}

TEST_F(retry_now, again_and_again) {
    async_retry(scope, scripted(), endless_every_100ms().backoff(constant(1h)), record.handler());
    for (std::size_t attempt = 1; attempt != 20; ++attempt) {
        time.advance(0s);
        EXPECT_EQ(failing.attempts, attempt);
        scope.retry_now();
        scope.retry_now();
    }
    EXPECT_EQ(record.count, 0);
}

TEST_F(retry_now, a_scope_of_its_own_is_a_handle_on_one_operation) {
    retry_scope one(scope), another(scope);
    script other = script::failures(1000);
    auto const policy = endless_every_100ms().backoff(constant(1h));
    async_retry(one, scripted(), policy, asio::detached);
    async_retry(
        another, [&](auto token) { return async_scripted(io, other, std::move(token)); }, policy,
        asio::detached);
    time.advance(0s);
    one.retry_now();
    time.advance(0s);
    EXPECT_EQ(failing.attempts, 2u);
    EXPECT_EQ(other.attempts, 1u);
}

TEST_F(retry_now, does_nothing_to_a_running_attempt_nor_to_its_limit) {
    async_retry(scope, pending(), endless_every_100ms().attempt_timeout(1s), record.handler());
    scope.retry_now();
    time.advance(1s - 1ns);
    EXPECT_EQ(attempts.started, 1u);
    EXPECT_TRUE(attempts.cancellations.empty());
    time.advance(1ns);
    EXPECT_EQ(attempts.cancellations.size(), 1u);
    time.advance(99ms);
    EXPECT_EQ(attempts.started, 1u) << "the wait after it is a whole one";
}

TEST_F(retry_now, limits_and_counts_stay) {
    async_retry(scope, with_report(scripted(), report),
                endless_every_100ms().backoff(constant(1h)).max_attempts(3), record.handler());
    for (int i = 0; i != 5; ++i) {
        time.advance(0s);
        scope.retry_now();
    }
    time.run();
    EXPECT_EQ(record.error, refused());
    EXPECT_EQ(report.attempts, 3u);
    EXPECT_EQ(report.reason, stop_reason::attempts);
}

} // namespace
} // namespace asio_retry::test
