#include <asio_retry/permanent.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include "support/in_virtual_time.hpp"
#include "support/message_of.hpp"
#include "support/script.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <boost/system/result.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ios>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>

namespace asio_retry::test {
namespace {

TEST(permanent, holds_a_code_an_exception_or_what_was_thrown) {
    EXPECT_EQ(permanent(refused()).code(), refused());
    EXPECT_EQ(permanent(refused()).exception(), nullptr);
    EXPECT_EQ(permanent(asio::error::connection_refused).code(), refused());

    permanent_error const by_exception = permanent(boost::system::system_error(refused()));
    EXPECT_EQ(by_exception.code(), refused());
    EXPECT_NE(by_exception.exception(), nullptr);

    auto const thrown = std::make_exception_ptr(std::runtime_error("no such user"));
    EXPECT_EQ(permanent(thrown).exception(), thrown);
    EXPECT_EQ(permanent(thrown).code(), error::operation_threw);
    EXPECT_STREQ(permanent(thrown).what(), "no such user");
    EXPECT_STREQ(permanent(refused()).what(), "permanent error");
    EXPECT_STREQ(permanent(std::make_exception_ptr(1)).what(), "permanent error");
}

TEST(permanent, what_is_marked_twice_has_one_inner_error) {
    auto const thrown = std::make_exception_ptr(std::runtime_error("x"));
    EXPECT_EQ(permanent(permanent(thrown)).exception(), thrown);
    EXPECT_EQ(permanent(std::make_exception_ptr(permanent(thrown))).exception(), thrown);
    error_code const marked = permanent(refused());
    EXPECT_EQ(permanent(marked).code(), refused());
    EXPECT_EQ(error_code(permanent(marked)), marked);
}

TEST(permanent, a_code_keeps_its_value_and_words_and_has_a_category_of_its_own) {
    error_code const marked = permanent(refused());
    EXPECT_TRUE(marked);
    EXPECT_EQ(marked.value(), refused().value());
    EXPECT_EQ(marked.message(), refused().message());
    EXPECT_STREQ(marked.category().name(), refused().category().name());
    EXPECT_EQ(marked.default_error_condition(), refused().default_error_condition());
    EXPECT_NE(marked, refused());
    EXPECT_EQ(marked, error_code(permanent(refused()))) << "one category for each";
    EXPECT_NE(marked.category(), error_code(permanent(asio::error::eof)).category());
    EXPECT_EQ(marked, error_code(permanent(refused()))) << "whatever else has been marked since";
    EXPECT_EQ(detail::find_permanent(marked), refused());
}

TEST(permanent, code_of_is_the_inner_one) {
    EXPECT_EQ(code_of(std::make_exception_ptr(permanent(refused()))), refused());
}

// --- the decision

// The default retries any exception and any code, but for these.
TEST(permanent, is_not_retried_and_the_inner_error_is_delivered) {
    machine_script by_code(endless_every_100ms());
    by_code.start();
    EXPECT_THAT(by_code.fail(0s, error_code(permanent(refused()))),
                is_completion(stop_reason::not_retryable, refused()));
    EXPECT_THAT(by_code.give_ups, testing::ElementsAre(is_give_up(stop_reason::not_retryable, 1, refused())));

    machine_script by_exception(endless_every_100ms());
    by_exception.start();
    retry_action const action = by_exception.fail_with(permanent(std::runtime_error("inner")));
    EXPECT_EQ(action.reason, stop_reason::not_retryable);
    EXPECT_EQ(message_of(action.thrown), "inner");
    EXPECT_EQ(by_exception.give_ups.at(0).exception, action.thrown);

    machine_script control(endless_every_100ms());
    control.start();
    EXPECT_THAT(control.fail_with(std::runtime_error("outer")), is_wait(100ms));
}

TEST(permanent, is_found_through_nested_exceptions) {
    auto const nested = [](auto const& inner) {
        try {
            try {
                try {
                    throw inner;
                } catch (...) {
                    std::throw_with_nested(std::logic_error("middle"));
                }
            } catch (...) {
                std::throw_with_nested(std::runtime_error("outer"));
            }
        } catch (...) {
            return verdict::failure(std::current_exception());
        }
    };
    machine_script script(endless_every_100ms());
    script.start();
    retry_action const action = script.fail(0s, nested(permanent(std::runtime_error("inner"))));
    EXPECT_EQ(action.reason, stop_reason::not_retryable);
    EXPECT_EQ(message_of(action.thrown), "inner");

    machine_script control(endless_every_100ms());
    control.start();
    EXPECT_THAT(control.fail(0s, nested(std::runtime_error("inner"))), is_wait(100ms));
}

TEST(permanent, no_predicate_is_asked) {
    int asked = 0;
    machine_script script(endless_every_100ms().retry_if([&](error_code) {
        ++asked;
        return true;
    }));
    script.start();
    EXPECT_THAT(script.fail(0s, error_code(permanent(refused()))),
                is_completion(stop_reason::not_retryable, refused()));
    EXPECT_EQ(asked, 0);
}

TEST(permanent, a_cancellation_comes_first) {
    machine_script script(endless_every_100ms());
    script.start();
    script.machine.cancel();
    EXPECT_THAT(script.fail(0s, error_code(permanent(refused()))),
                is_completion(stop_reason::cancelled, detail::aborted_error()));
}

// Such an attempt would otherwise be made again.
TEST(permanent, decision_38_ends_the_retry_from_an_attempt_that_took_too_long_too) {
    machine_script script(endless_every_100ms().attempt_timeout(1s));
    script.start();
    EXPECT_THAT(script.expire(0s, 1s, permanent(refused())),
                is_completion(stop_reason::not_retryable, detail::timed_out_error()));

    machine_script at_the_deadline(endless_every_100ms().total_timeout(1s));
    at_the_deadline.start();
    EXPECT_THAT(at_the_deadline.expire(0s, 1s, permanent(refused())),
                is_completion(stop_reason::deadline, detail::timed_out_error()));
}

TEST(permanent, code_of_a_standard_category_is_that_of_boost) {
    auto const denied = std::make_error_code(std::errc::permission_denied);
    EXPECT_EQ(permanent(denied).code(), boost::system::errc::permission_denied);
    machine_script script(endless_every_100ms());
    script.start();
    EXPECT_THAT(script.fail(0s, error_code(permanent(denied))),
                is_completion(stop_reason::not_retryable,
                              boost::system::errc::make_error_code(boost::system::errc::permission_denied)));

    std::error_code const of_iostreams = std::io_errc::stream;
#ifdef ASIO_RETRY_STANDALONE // an error code like any other
    EXPECT_FALSE(worth_retrying(permanent(of_iostreams)));
#else
    EXPECT_EQ(error_code(permanent(of_iostreams)), of_iostreams) << "left as it is, not spoilt";
#endif
}

// What awaiting makes of a code that an inner operation ended with.
TEST(permanent, is_found_in_a_system_error_too) {
    auto const thrown = std::make_exception_ptr(boost::system::system_error(permanent(refused())));
    EXPECT_EQ(code_of(thrown), refused());
    machine_script script(endless_every_100ms());
    script.start();
    retry_action const action = script.fail(0s, verdict::failure(thrown));
    EXPECT_EQ(action.reason, stop_reason::not_retryable);
    EXPECT_EQ(action.error, refused());
    EXPECT_EQ(code_of(action.thrown), refused());
    try {
        std::rethrow_exception(action.thrown);
    } catch (boost::system::system_error const& e) {
        EXPECT_EQ(e.code(), refused()) << "without the mark";
    }
}

// The attempt marks all that it catches, and what it caught is that it was told to stop.
TEST(permanent, decision_48_what_marks_that_it_was_told_to_stop_is_not_retried) {
    verdict const abort = verdict::failure(std::make_exception_ptr(
        permanent(std::make_exception_ptr(boost::system::system_error(detail::aborted_error())))));
    for (verdict const& told : {abort, verdict::failure(error_code(permanent(detail::aborted_error())))})
        for (bool const any : {false, true}) {
            auto policy = endless_every_100ms();
            if (any)
                policy = policy.retry_if(any_failure);
            retry_report report;
            machine_script script(policy.attempt_timeout(1s));
            detail::report_recorder recorder(report);
            recorder.clear();
            recorder.make_room();
            script.machine.observe(recorder);
            script.start();
            retry_action const last = script.expire(0s, 1s, told);
            EXPECT_EQ(last.reason, stop_reason::not_retryable);
            EXPECT_EQ(last.error, detail::timed_out_error());
            EXPECT_EQ(report.last_error, detail::timed_out_error());

            machine_script at_the_deadline(policy.total_timeout(1s));
            at_the_deadline.start();
            retry_action const ended = at_the_deadline.expire(0s, 1s, told);
            EXPECT_EQ(ended.reason, stop_reason::deadline);
            EXPECT_EQ(ended.error, detail::timed_out_error());

            machine_script by_itself(policy);
            by_itself.start();
            EXPECT_EQ(by_itself.fail(0s, told).reason, stop_reason::not_retryable);
        }
}

// What tells a nested retry to stop may be a limit of the outer one, which would make the attempt again.
TEST(permanent, decision_48_a_nested_retry_passes_on_that_its_attempt_was_permanent_whatever_ends_it) {
    auto const sent = std::make_exception_ptr(permanent(std::runtime_error("sent")));
    for (verdict const& own :
         {verdict::failure(error_code(permanent(detail::aborted_error()))), verdict::failure(sent)}) {
        machine_script cancelled(endless_every_100ms().nested_in(attempt()));
        cancelled.start();
        cancelled.machine.cancel();
        retry_action const action = cancelled.fail(0s, own);
        EXPECT_EQ(action.reason, stop_reason::cancelled);
        EXPECT_EQ(detail::find_permanent(action.error), detail::aborted_error());
        EXPECT_TRUE(verdict::failure(action.thrown).is_permanent());
        EXPECT_EQ(verdict::failure(action.thrown).error(), detail::aborted_error());

        machine_script late(endless_every_100ms().total_timeout(1s).nested_in(attempt()));
        late.start();
        retry_action const at_the_deadline = late.expire(0s, 1s, own);
        EXPECT_EQ(at_the_deadline.reason, stop_reason::deadline);
        EXPECT_EQ(detail::find_permanent(at_the_deadline.error), detail::timed_out_error());
        EXPECT_TRUE(verdict::failure(at_the_deadline.thrown).is_permanent());
    }
}

// The outer retry has to end as well.
TEST(permanent, decision_38_a_nested_retry_passes_on_that_its_timeout_is_permanent) {
    machine_script script(endless_every_100ms().attempt_timeout(1s).nested_in(attempt()));
    script.start();
    retry_action const by_code = script.expire(0s, 1s, permanent(refused()));
    EXPECT_EQ(detail::find_permanent(by_code.error), detail::timed_out_error());

    machine_script throwing(endless_every_100ms().attempt_timeout(1s).nested_in(attempt()));
    throwing.start();
    auto const sent = std::make_exception_ptr(permanent(std::runtime_error("sent")));
    retry_action const by_exception = throwing.expire(0s, 1s, verdict::failure(sent));
    EXPECT_EQ(by_exception.reason, stop_reason::not_retryable);
    verdict const outer = verdict::failure(by_exception.thrown);
    EXPECT_TRUE(outer.is_permanent());
    EXPECT_EQ(outer.error(), detail::timed_out_error());
    try {
        std::rethrow_exception(outer.exception());
    } catch (std::nested_exception const& e) {
        EXPECT_EQ(message_of(e.nested_ptr()), "sent");
    }
}

TEST(permanent, passes_through_a_nested_retry) {
    machine_script script(endless_every_100ms().nested_in(attempt()));
    script.start();
    EXPECT_THAT(script.fail(0s, error_code(permanent(refused()))),
                is_completion(stop_reason::not_retryable, no_replacement));
}

// --- every form

class permanent_forms : public testing::Test, protected in_virtual_time {
protected:
    int attempts = 0;
    error_code error;
    std::exception_ptr exception;

    auto note_code() {
        return [this](error_code ec, auto...) { error = ec; };
    }
    auto note_exception() {
        return [this](std::exception_ptr e, auto...) { exception = e; };
    }
    void expect_the_code() {
        time.run();
        EXPECT_EQ(attempts, 1);
        EXPECT_EQ(error, refused());
    }
};

TEST_F(permanent_forms, token_operation) {
    auto const operation = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, int)>(
            [&](auto handler) {
                ++attempts;
                asio::post(io, asio::append(std::move(handler), permanent(refused()), 1));
            },
            token);
    };
    async_retry(io, operation, retry_policy(), note_code());
    expect_the_code();
}

TEST_F(permanent_forms, initiation_that_throws) {
    auto const operation = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [&](auto) {
                ++attempts;
                throw permanent(refused());
            },
            token);
    };
    async_retry(io, operation, retry_policy(), note_code());
    expect_the_code();
}

TEST_F(permanent_forms, awaitable_that_throws) {
    auto const operation = [&]() -> asio::awaitable<int> {
        ++attempts;
        co_await asio::post(asio::deferred);
        throw permanent(boost::system::system_error(refused()));
    };
    async_retry(io, operation, retry_policy(), note_exception());
    time.run();
    EXPECT_EQ(attempts, 1);
    EXPECT_EQ(code_of(exception), refused());
    EXPECT_THROW(std::rethrow_exception(exception), boost::system::system_error);
}

TEST_F(permanent_forms, decision_48_awaitable_that_marks_whatever_it_catches) {
    std::vector<error_code> retried;
    auto const operation = [&]() -> asio::awaitable<void> {
        ++attempts;
        asio::steady_timer timer(io, asio::steady_timer::time_point::max());
        try {
            co_await timer.async_wait(asio::use_awaitable);
        } catch (...) {
            throw permanent(std::current_exception());
        }
    };
    auto const policy =
        retry_policy().max_attempts(2).on_retry([&](retry_event const& e) { retried.push_back(e.error); });
    async_retry(io, operation, policy.attempt_timeout(1s), note_exception());
    time.run();
    EXPECT_EQ(attempts, 1);
    EXPECT_EQ(code_of(exception), detail::timed_out_error());
    EXPECT_THAT(retried, testing::IsEmpty());

    attempts = 0;
    async_retry(io, operation, policy.total_timeout(1s), note_exception());
    time.run();
    EXPECT_EQ(attempts, 1);
    EXPECT_EQ(code_of(exception), detail::timed_out_error());
}

TEST_F(permanent_forms, awaitable_of_a_code) {
    for (bool const throws : {false, true}) {
        attempts = 0;
        auto const operation = [&]() -> asio::awaitable<error_code> {
            ++attempts;
            if (throws)
                throw permanent(refused());
            co_return permanent(refused());
        };
        async_retry(io, operation, retry_policy(), note_code());
        expect_the_code();
    }
}

TEST_F(permanent_forms, awaited_directly) {
    auto const operation = [&]() -> asio::awaitable<int> {
        ++attempts;
        throw permanent(refused());
        co_return 0;
    };
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            try {
                co_await async_retry(operation, retry_policy());
            } catch (...) {
                exception = std::current_exception();
            }
        },
        asio::detached);
    time.run();
    EXPECT_EQ(attempts, 1);
    EXPECT_THROW(std::rethrow_exception(exception), boost::system::system_error);
    EXPECT_EQ(code_of(exception), refused());
}

TEST_F(permanent_forms, awaitable_of_a_tuple) {
    auto const operation = [&]() -> asio::awaitable<std::tuple<error_code, int>> {
        ++attempts;
        co_return std::tuple<error_code, int>(permanent(refused()), 1);
    };
    async_retry(io, operation, retry_policy(), note_code());
    expect_the_code();
}

TEST_F(permanent_forms, code_that_an_attempt_awaited) {
    auto const inner = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [&](auto handler) {
                asio::post(io, asio::append(std::move(handler), error_code(permanent(refused()))));
            },
            token);
    };
    auto const operation = [&]() -> asio::awaitable<void> {
        ++attempts;
        co_await inner(asio::use_awaitable);
    };
    async_retry(io, operation, retry_policy(), note_exception());
    time.run();
    EXPECT_EQ(attempts, 1);
    EXPECT_EQ(code_of(exception), refused());
}

TEST_F(permanent_forms, nested_retry_ends_the_outer_one) {
    auto const inner = [&]() -> asio::awaitable<int> {
        ++attempts;
        throw permanent(refused());
        co_return 0;
    };
    auto const outer = [&](attempt a) { return async_retry(a, inner, retry_policy()); };
    async_retry(io, outer, retry_policy(), note_exception());
    time.run();
    EXPECT_EQ(attempts, 1);
    try {
        std::rethrow_exception(exception);
    } catch (boost::system::system_error const& e) {
        EXPECT_EQ(e.code(), refused());
    }
}

TEST_F(permanent_forms, judged_and_reported) {
    retry_report report;
    auto const operation = [&]() -> error_code {
        ++attempts;
        return permanent(refused());
    };
    async_retry(io, fail_if(with_report(operation, report), [] { return false; }), retry_policy(), note_code());
    expect_the_code();
    EXPECT_EQ(report.last_error, refused());
    EXPECT_EQ(report.reason, stop_reason::not_retryable);
}

// What returns a code that is no error has succeeded; what throws has not.
TEST_F(permanent_forms, of_a_code_that_is_no_error) {
    EXPECT_EQ(error_code(permanent(error_code())), error_code());
    for (bool const throws : {false, true}) {
        attempts = 0;
        error = refused();
        retry_report report;
        auto const operation = [&]() -> asio::awaitable<error_code> {
            ++attempts;
            if (throws)
                throw permanent(error_code());
            co_return permanent(error_code());
        };
        async_retry(io, with_report(operation, report), retry_policy(), note_code());
        time.run();
        EXPECT_EQ(attempts, 1);
        EXPECT_EQ(error, throws ? error_code(error::operation_threw) : error_code());
        EXPECT_EQ(report.reason, throws ? stop_reason::not_retryable : stop_reason::succeeded);
    }
    attempts = 0;
    auto const awaitable = [&]() -> asio::awaitable<void> {
        ++attempts;
        throw permanent(boost::system::system_error(error_code()));
        co_return;
    };
    async_retry(io, awaitable, retry_policy(), note_exception());
    time.run();
    EXPECT_EQ(attempts, 1);
    EXPECT_EQ(code_of(exception), error::operation_threw);
    EXPECT_THROW(std::rethrow_exception(exception), boost::system::system_error);
}

// The same for what is not permanent: no form takes a throw for a success.
TEST_F(permanent_forms, a_thrown_code_that_is_no_error_is_a_failure) {
    retry_policy const twice = retry_policy().max_attempts(2);
    auto const awaitable = [&]() -> asio::awaitable<error_code> {
        ++attempts;
        throw boost::system::system_error(error_code());
        co_return error_code();
    };
    auto const plain = [&]() -> error_code {
        ++attempts;
        throw std::system_error(std::error_code());
    };
    async_retry(io, awaitable, twice, note_code());
    time.run();
    EXPECT_EQ(attempts, 2);
    EXPECT_EQ(error, error::operation_threw);
    error.clear();
    async_retry(io, plain, twice, note_code());
    time.run();
    EXPECT_EQ(attempts, 4);
    EXPECT_EQ(error, error::operation_threw);
}

TEST_F(permanent_forms, plain_callables) {
    auto const by_code = [&]() -> error_code {
        ++attempts;
        return permanent(refused());
    };
    async_retry(io, by_code, retry_policy(), note_code());
    expect_the_code();

    attempts = 0;
    auto const by_result = [&]() -> boost::system::result<int> {
        ++attempts;
        return error_code(permanent(refused()));
    };
    async_retry(io, by_result, retry_policy(), note_code());
    expect_the_code();
}

} // namespace
} // namespace asio_retry::test
