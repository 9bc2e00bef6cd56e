// Hooks of one operation.
#include <asio_retry/with_hooks.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/message_of.hpp"
#include "support/policies.hpp"
#include "support/refuses.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

std::string in_words(std::string who, retry_event const& e) {
    return std::move(who) + " " + std::to_string(e.attempt) +
           (e.delay == duration::zero() ? " " + std::string(to_string(e.reason)) : "");
}

class hooks_of_one : public testing::Test, protected in_virtual_time {
protected:
    script played = script::failures(2);
    completion_record record;
    std::vector<std::string> told;
    std::vector<retry_event> ends;

    auto notes(std::string who) {
        return [this, who](retry_event const& e) { told.push_back(in_words(who, e)); };
    }
    auto token_operation() {
        return [this](auto token) { return async_scripted(io, played, std::move(token)); };
    }
    template <typename Operation>
    auto hooked(Operation&& operation) {
        return with_hooks(std::forward<Operation>(operation), notes("retry"),
                          [this](retry_event const& e) { ends.push_back(e); });
    }

    asio::awaitable<int> fetch() {
        if (error_code const ec = played.next())
            throw boost::system::system_error(ec);
        co_return static_cast<int>(played.attempts);
    }

    /// Two retries and a success.
    void expect_told() {
        EXPECT_THAT(told, elements("retry 1", "retry 2"));
        ASSERT_EQ(ends.size(), 1u);
        EXPECT_EQ(ends.front().attempt, 3u);
        EXPECT_EQ(ends.front().reason, stop_reason::succeeded);
        EXPECT_EQ(ends.front().elapsed, 200ms);
        EXPECT_EQ(ends.front().error, error_code());
    }
    void expect_end(stop_reason reason, std::uint64_t attempt) {
        ASSERT_EQ(ends.size(), 1u);
        EXPECT_EQ(ends.front().reason, reason);
        EXPECT_EQ(ends.front().attempt, attempt);
    }
};

// --- forms

TEST_F(hooks_of_one, of_a_token_operation) {
    async_retry(io, hooked(token_operation()), every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.value, 3);
    expect_told();
}

TEST_F(hooks_of_one, of_a_deferred_operation) {
    async_retry(io, hooked([this] { return async_scripted(io, played, asio::deferred); }), every_100ms(),
                record.handler());
    time.run();
    EXPECT_EQ(record.value, 3);
    expect_told();
}

TEST_F(hooks_of_one, of_an_operation_that_takes_an_attempt) {
    std::vector<std::uint64_t> numbers;
    async_retry(io, hooked([&](attempt const& a, auto token) {
                    numbers.push_back(a.number);
                    return async_scripted(io, played, std::move(token));
                }),
                every_100ms(), record.handler());
    time.run();
    EXPECT_THAT(numbers, elements(1u, 2u, 3u));
    expect_told();
}

TEST_F(hooks_of_one, of_an_awaitable) {
    run([&]() -> asio::awaitable<void> {
        auto operation = hooked([&] { return fetch(); });
        EXPECT_EQ(co_await async_retry(operation, every_100ms()), 3);
    });
    expect_told();
}

TEST_F(hooks_of_one, of_an_awaitable_in_a_scope_and_with_limits) {
    retry_scope scope(io);
    run([&]() -> asio::awaitable<void> {
        auto operation = hooked([&](attempt const&) { return fetch(); });
        EXPECT_EQ(co_await async_retry(scope, operation, every_100ms().attempt_timeout(1s)), 3);
    });
    expect_told();
}

TEST_F(hooks_of_one, of_an_awaitable_with_a_callback) {
    int result = 0;
    async_retry(io, hooked([&] { return fetch(); }), every_100ms(),
                [&](std::exception_ptr e, int value) { result = e ? -1 : value; });
    time.run();
    EXPECT_EQ(result, 3);
    expect_told();
}

TEST_F(hooks_of_one, of_values_that_are_judged) {
    int made = 0;
    auto const judged = fail_if([&] { return ++made; }, [](int n) { return n < 3; });
    async_retry(io, hooked(judged), every_100ms(), [](std::exception_ptr, int) {});
    time.run();
    expect_told();

    told.clear();
    ends.clear();
    made = 0;
    async_retry(io, fail_if(hooked([&] { return ++made; }), [](int n) { return n < 3; }), every_100ms(),
                [](std::exception_ptr, int) {});
    time.run();
    EXPECT_EQ(ends.size(), 1u);
    EXPECT_THAT(told, elements("retry 1", "retry 2"));
}

TEST_F(hooks_of_one, with_a_step_before_each_retry) {
    run([&]() -> asio::awaitable<void> {
        auto operation = hooked(before_retry([&] { return fetch(); }, [&] { told.push_back("step"); }));
        EXPECT_EQ(co_await async_retry(operation, every_100ms()), 3);
    });
    EXPECT_THAT(told, elements("retry 1", "step", "retry 2", "step"));
    EXPECT_EQ(ends.size(), 1u);

    told.clear();
    ends.clear();
    played = script::failures(2);
    run([&]() -> asio::awaitable<void> {
        auto operation = before_retry(hooked([&] { return fetch(); }), [&] { told.push_back("step"); });
        EXPECT_EQ(co_await async_retry(operation, every_100ms()), 3);
    });
    EXPECT_THAT(told, elements("retry 1", "step", "retry 2", "step"));
    EXPECT_EQ(ends.size(), 1u);
}

TEST_F(hooks_of_one, with_a_report_that_is_complete_at_the_end) {
    retry_report report;
    bool had_ended = false;
    auto const on_end = [&](retry_event const&) { had_ended = report.ended; };
    auto const check = [&](auto operation) {
        had_ended = false;
        played = script::failures(2);
        told.clear();
        async_retry(io, std::move(operation), every_100ms(), record.handler());
        time.run();
        EXPECT_TRUE(had_ended);
        EXPECT_EQ(report.attempts, 3u);
        EXPECT_EQ(report.history.size(), 2u);
        EXPECT_EQ(report.waited, 200ms);
        EXPECT_THAT(told, elements("retry 1", "retry 2"));
    };
    check(with_report(with_hooks(token_operation(), notes("retry"), on_end), report));
    check(with_hooks(with_report(token_operation(), report), notes("retry"), on_end));
}

TEST_F(hooks_of_one, of_a_blocking_retry) {
    auto operation = hooked([&] { return played.next(); });
    EXPECT_EQ(retry(operation, every_100ms().backoff(constant(0s))), error_code());
    EXPECT_EQ(ends.size(), 1u);
    played = {};
    EXPECT_EQ(retry(operation, every_100ms()), error_code()) << "an operation may be retried again";
    EXPECT_EQ(ends.size(), 2u);
    EXPECT_EQ(ends.back().attempt, 1u);
}

// --- the end

TEST_F(hooks_of_one, are_told_of_a_success_at_the_first_try) {
    played = {};
    run([&]() -> asio::awaitable<void> {
        auto operation = hooked([&] { return fetch(); });
        co_await async_retry(operation, retry_policy());
    });
    EXPECT_THAT(told, IsEmpty());
    expect_end(stop_reason::succeeded, 1);
}

TEST_F(hooks_of_one, are_told_when_the_attempts_are_used_up) {
    played = script::failures(9);
    async_retry(io, hooked(token_operation()), every_100ms(2), record.handler());
    time.run();
    EXPECT_THAT(told, elements("retry 1"));
    expect_end(stop_reason::attempts, 2);
    EXPECT_EQ(ends.front().error, refused());
}

TEST_F(hooks_of_one, are_told_where_no_attempt_is_made) {
    async_retry(io, hooked(token_operation()), every_100ms().deadline(time.now()), record.handler());
    time.run();
    EXPECT_EQ(record.error, timed_out());
    expect_end(stop_reason::deadline, 0);
}

TEST_F(hooks_of_one, are_told_of_a_cancellation) {
    asio::cancellation_signal stop;
    async_retry(io, hooked(token_operation()), hourly(),
                asio::bind_cancellation_slot(stop.slot(), record.handler()));
    time.advance(30min);
    stop.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_EQ(record.error, aborted());
    expect_end(stop_reason::cancelled, 1);
}

TEST_F(hooks_of_one, are_not_told_where_the_operation_is_destroyed) {
    std::optional<asio::io_context> own(std::in_place);
    async_retry(*own, hooked([&](auto token) { return async_inline(played, std::move(token)); }), hourly(),
                record.handler());
    own.reset();
    EXPECT_EQ(record.count, 0);
    EXPECT_THAT(ends, IsEmpty());
}

TEST_F(hooks_of_one, may_cancel_the_operation) {
    retry_scope scope(io);
    async_retry(scope,
                with_hooks(
                    token_operation(), [&](retry_event const&) { scope.cancel(); },
                    [&](retry_event const& e) { ends.push_back(e); }),
                every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(played.attempts, 1u);
    expect_end(stop_reason::cancelled, 1);
}

TEST_F(hooks_of_one, count_the_time_from_the_initiation_after_a_reset_too) {
    auto const policy = every_100ms().reset_after(0s);
    std::vector<duration> elapsed;
    auto const operation = [&](attempt const& a, auto token) {
        a.mark_healthy();
        return async_scripted(io, played, std::move(token));
    };
    async_retry(io, with_hooks(operation, [&](retry_event const& e) { elapsed.push_back(e.elapsed); }), policy,
                record.handler());
    time.run();
    EXPECT_THAT(elapsed, elements(0ms, 100ms));
}

// --- several of them

TEST_F(hooks_of_one, come_after_the_policys_and_from_the_outside_in) {
    auto const policy =
        every_100ms(2).on_retry(notes("policy")).on_give_up(notes("policy")).on_success(notes("policy"));
    auto const operation = with_hooks(with_hooks(token_operation(), notes("inner"), notes("inner")),
                                      notes("outer"), notes("outer"));
    async_retry(io, operation, policy, record.handler());
    time.run();
    EXPECT_THAT(told, elements("policy 1", "outer 1", "inner 1", "policy 2 attempts", "outer 2 attempts",
                               "inner 2 attempts"));
    told.clear();
    played = script::failures(0);
    async_retry(io, operation, policy, record.handler());
    time.run();
    EXPECT_THAT(told, elements("policy 1 succeeded", "outer 1 succeeded", "inner 1 succeeded"));
}

TEST_F(hooks_of_one, may_be_one_or_none) {
    auto const check = [&](auto operation) {
        played = script::failures(1);
        async_retry(io, std::move(operation), every_100ms(), record.handler());
        time.run();
        EXPECT_EQ(record.value, 2);
    };
    check(with_hooks(token_operation(), notes("retry")));
    check(with_hooks(token_operation(), nullptr, notes("end")));
    check(with_hooks(token_operation(), nullptr, nullptr));
    check(with_hooks(token_operation(), nullptr,
                     [&](stop_reason why) { told.push_back(std::string(to_string(why))); }));
    EXPECT_THAT(told, elements("retry 1", "end 2 succeeded", "succeeded"));
}

TEST_F(hooks_of_one, may_be_what_can_only_be_moved) {
    auto operation = with_hooks([&, held = std::make_unique<int>(1)] { return played.next(); },
                                [&, held = std::make_unique<int>(2)](retry_event const&) {
                                    told.push_back("retry " + std::to_string(*held));
                                });
    error_code result = refused();
    async_retry(io, std::move(operation), every_100ms(), [&](error_code ec) { result = ec; });
    time.run();
    EXPECT_EQ(result, error_code());
    EXPECT_THAT(told, elements("retry 2", "retry 2"));
}

TEST_F(hooks_of_one, decision_4_are_refused_if_empty) {
    std::function<void(retry_event const&)> const empty;
    auto const operation = [&] { return played.next(); };
    EXPECT_THAT(calling([&] { return with_hooks(operation, empty); }), refuses("with_hooks.on_retry"));
    EXPECT_THAT(calling([&] { return with_hooks(operation, nullptr, empty); }), refuses("with_hooks.on_end"));
    EXPECT_THAT(calling([&] { return with_hooks(std::function<int()>(), nullptr); }),
                refuses("with_hooks.operation"));
}

// --- what they throw

TEST_F(hooks_of_one, decision_88_what_on_retry_throws_completes_the_operation_and_what_on_end_throws_does_not) {
    auto const throws = [](retry_event const&) { throw std::runtime_error("mine"); };
    async_retry(io, with_hooks(token_operation(), throws, notes("end")), every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.error, error::hook_threw);
    EXPECT_EQ(played.attempts, 1u);
    EXPECT_THAT(told, elements("end 1 not_retryable"));

    played = script::failures(3);
    run([&]() -> asio::awaitable<void> {
        auto operation = with_hooks([&] { return fetch(); }, [](retry_event const&) { throw 7; });
        EXPECT_THROW(co_await async_retry(operation, every_100ms()), int);
    });

    played = {};
    run([&]() -> asio::awaitable<void> {
        auto operation = with_hooks([&] { return fetch(); }, nullptr, throws);
        EXPECT_EQ(co_await async_retry(operation, every_100ms()), 1);
    });
    EXPECT_EQ(retry(with_hooks([] { return 2; }, nullptr, throws), every_100ms()), 2);
}

TEST_F(hooks_of_one, decision_53_all_are_told_of_the_end_and_their_exceptions_are_in_the_report) {
    auto const throws = [](char const* what) {
        return [what](retry_event const&) { throw std::runtime_error(what); };
    };
    auto const policy = every_100ms().on_success(throws("policy's")).on_give_up(throws("policy's"));
    for (std::size_t const failures : {0u, 9u}) {
        told.clear();
        played = script::failures(failures);
        run([&]() -> asio::awaitable<void> {
            retry_report report;
            auto operation =
                with_report(with_hooks(with_hooks([&] { return fetch(); }, nullptr, notes("inner")), nullptr,
                                       throws("outer")),
                            report);
            error_code thrown;
            try {
                co_await async_retry(operation, policy);
            } catch (boost::system::system_error const& e) {
                thrown = e.code();
            }
            EXPECT_EQ(thrown, failures == 0 ? error_code() : refused());
            EXPECT_EQ(report.hook_exceptions, 2u);
            EXPECT_EQ(message_of(report.hook_exception), "policy's");
        });
        EXPECT_EQ(told.size(), 1u);
    }
}

TEST_F(hooks_of_one, decision_53_what_the_end_throws_does_not_hide_what_was_thrown_before) {
    auto const throws = [](char const* what) {
        return [what](retry_event const&) { throw std::runtime_error(what); };
    };
    auto const what_comes_of = [&](auto on_end) {
        try {
            retry(with_hooks([] { throw std::runtime_error("attempt"); }, throws("before"), on_end),
                  every_100ms());
        } catch (std::exception const& thrown) {
            return std::string(thrown.what());
        }
        return std::string();
    };
    EXPECT_EQ(what_comes_of(nullptr), "before");
    EXPECT_EQ(what_comes_of(throws("end")), "before");
}

TEST_F(hooks_of_one, decision_21_run_on_the_executor_and_not_in_the_initiating_function) {
    played = {};
    async_retry(io, hooked([&](auto token) { return async_inline(played, std::move(token)); }), every_100ms(),
                record.handler());
    EXPECT_THAT(ends, IsEmpty());
    time.run();
    expect_end(stop_reason::succeeded, 1);
    EXPECT_EQ(record.count, 1);
}

TEST_F(hooks_of_one, are_told_of_the_end_where_the_classifier_throws) {
    auto const policy =
        every_100ms()
            .classify([](error_code const&) -> failure_class { throw std::runtime_error("mine"); })
            .retry_sent(false);
    async_retry(io, hooked(token_operation()), policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, error::predicate_threw);
    expect_end(stop_reason::not_retryable, 1);
}

} // namespace
} // namespace asio_retry::test
