// A POST whose attempt marks all that it catches as permanent is sent once, whatever tells the attempt to stop.
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/manual_waits.hpp"
#include "support/message_of.hpp"
#include "support/policies.hpp"

#include <boost/asio.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct limit_case {
    std::string name;
    retry_policy policy;
};

std::vector<limit_case> limit_cases() {
    auto const base = every_100ms(5).retry_if(any_failure);
    return {{"attempt_timeout", base.attempt_timeout(1s)},
            {"idle_timeout", base.idle_timeout(1s)},
            {"setup_timeout", base.setup_timeout(1s)},
            {"total_timeout", base.total_timeout(1s)},
            {"both", base.attempt_timeout(1s).total_timeout(3s)}};
}

class marked_attempts : public testing::Test {
protected:
    asio::io_context io{1};
    virtual_time time{io};
    int posts = 0;
    int ends = 0;
    error_code result;

    /// Never ends by itself, and marks what it catches.
    asio::awaitable<void> post(attempt) {
        ++posts;
        try {
            co_await asio::async_initiate<asio::use_awaitable_t<> const, void(error_code)>(hang,
                                                                                           asio::use_awaitable);
        } catch (...) {
            throw permanent(std::current_exception());
        }
    }

    /// The same for an operation with a token, whose code is marked.
    auto posting() {
        return [this](attempt, auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [this](auto handler) {
                    ++posts;
                    auto const slot = asio::get_associated_cancellation_slot(handler);
                    auto const executor = asio::get_associated_executor(handler, io.get_executor());
                    auto marking = [handler = std::move(handler)](error_code ec) mutable {
                        std::move(handler)(error_code(permanent(ec)));
                    };
                    hang(asio::bind_cancellation_slot(slot, asio::bind_executor(executor, std::move(marking))));
                },
                token);
        };
    }

    auto note() {
        return [this](auto const& failure) {
            ++ends;
            if constexpr (std::is_same_v<std::decay_t<decltype(failure)>, std::exception_ptr>)
                result = failure ? code_of(failure) : error_code();
            else
                result = failure;
        };
    }

    void expect_one_post(error_code const& expected = asio::error::timed_out) {
        time.run();
        EXPECT_EQ(posts, 1);
        EXPECT_EQ(ends, 1);
        EXPECT_EQ(result, expected);
        posts = ends = 0;
    }

    /// Ends with operation_aborted when it is told to stop.
    static constexpr auto hang = [](auto handler) {
        auto const slot = asio::get_associated_cancellation_slot(handler);
        if (!slot.is_connected())
            return;
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        auto held = slot;
        held.assign([kept](asio::cancellation_type_t) {
            auto ended = std::move(*kept);
            auto const executor = asio::get_associated_executor(ended);
            asio::post(executor, [ended = std::move(ended)]() mutable {
                std::move(ended)(error_code(asio::error::operation_aborted));
            });
        });
    };
};

TEST_F(marked_attempts, decision_48_are_made_once_with_a_handler) {
    for (auto const& [name, policy] : limit_cases()) {
        SCOPED_TRACE(name);
        async_retry(io, [this](attempt a) { return post(a); }, policy, note());
        expect_one_post();
    }
}

TEST_F(marked_attempts, decision_48_are_made_once_where_they_end_with_a_code) {
    for (auto const& [name, policy] : limit_cases()) {
        SCOPED_TRACE(name);
        async_retry(io, posting(), policy, note());
        expect_one_post();
    }
}

TEST_F(marked_attempts, decision_48_are_made_once_where_they_are_awaited) {
    for (auto const& [name, policy] : limit_cases()) {
        SCOPED_TRACE(name);
        auto operation = [this](attempt a) { return post(a); };
        asio::co_spawn(io, async_retry(operation, policy), note());
        expect_one_post();
    }
}

TEST_F(marked_attempts, decision_48_are_made_once_within_a_nested_retry) {
    auto const inner = every_100ms(3).retry_when_nested();
    for (auto const& [name, policy] : limit_cases()) {
        SCOPED_TRACE(name);
        auto operation = [&](attempt a) {
            return async_retry(a, [this](attempt b) { return post(b); }, inner, asio::use_awaitable);
        };
        async_retry(io, operation, policy, note());
        expect_one_post();
        auto limited = [&, limits = policy](attempt a) {
            return async_retry(
                a, [this](attempt b) { return post(b); }, limits.retry_when_nested(), asio::use_awaitable);
        };
        async_retry(io, limited, every_100ms(5).retry_if(any_failure), note());
        expect_one_post();
    }
}

TEST_F(marked_attempts, decision_48_are_made_once_within_a_nested_hedge) {
    auto const inner = hedge_policy(1h);
    for (auto const& [name, policy] : limit_cases()) {
        SCOPED_TRACE(name);
        auto operation = [&](attempt a) {
            return async_hedge(a, [this](attempt b) { return post(b); }, inner, asio::use_awaitable);
        };
        async_retry(io, operation, policy, note());
        expect_one_post();
    }
    auto limited = [&](attempt a) {
        return async_hedge(
            a, [this](attempt b) { return post(b); }, inner.total_timeout(1s), asio::use_awaitable);
    };
    async_retry(io, limited, every_100ms(5).retry_if(any_failure), note());
    expect_one_post();
}

TEST_F(marked_attempts, decision_48_end_a_hedge_that_its_limit_ends) {
    async_hedge(io, [this](attempt a) { return post(a); }, hedge_policy(1h).total_timeout(1s), note());
    expect_one_post();
}

// Nobody can tell it to stop, but its time was up.
TEST(marked_attempts_of_a_thread, decision_48_are_made_once) {
    manual_waits waits;
    int posts = 0;
    auto const policy = every_100ms(5).retry_if(any_failure).attempt_timeout(1s);
    auto throws = [&] {
        ++posts;
        waits.time += 2s;
        throw permanent(boost::system::system_error(detail::aborted_error()));
    };
    try {
        retry(throws, policy, waits);
        ADD_FAILURE();
    } catch (boost::system::system_error const& e) {
        EXPECT_EQ(e.code(), detail::timed_out_error());
    }
    EXPECT_EQ(posts, 1);
    auto returns = [&]() -> error_code {
        ++posts;
        waits.time += 2s;
        return permanent(detail::aborted_error());
    };
    EXPECT_EQ(retry(returns, policy, waits), detail::timed_out_error());
    EXPECT_EQ(posts, 2);
}

// --- what an attempt may tell its server

class told_deadlines : public marked_attempts {
protected:
    std::vector<duration> left;

    asio::awaitable<void> ask(attempt a) {
        left.push_back(a.deadline == time_point::max() ? duration::max() : a.deadline - time.now());
        co_await asio::async_initiate<asio::use_awaitable_t<> const, void(error_code)>(hang,
                                                                                       asio::use_awaitable);
    }

    void expect(std::vector<duration> const& expected) {
        time.run();
        EXPECT_EQ(left, expected);
        left.clear();
    }
};

TEST_F(told_deadlines, decision_51_are_the_earlier_of_the_attempts_and_the_operations) {
    auto const policy = retry_policy().max_attempts(3).backoff(constant(0s)).jitter(no_jitter());
    auto operation = [this](attempt a) { return ask(a); };
    for (bool const is_awaited : {false, true}) {
        auto const start = [&](retry_policy const& limited) {
            if (is_awaited)
                asio::co_spawn(io, async_retry(operation, limited), note());
            else
                async_retry(io, operation, limited, note());
        };
        start(policy.attempt_timeout(100ms).total_timeout(250ms));
        expect({100ms, 100ms, 50ms});
        start(policy.attempt_timeout(100ms));
        expect({100ms, 100ms, 100ms});
        start(policy.total_timeout(250ms));
        expect({250ms});
        start(policy.idle_timeout(100ms).total_timeout(250ms));
        expect({250ms, 150ms, 50ms});
        start(policy.setup_timeout(100ms));
        expect({duration::max(), duration::max(), duration::max()});
    }
}

TEST_F(told_deadlines, decision_51_are_those_of_the_attempt_that_a_retry_or_a_hedge_is_nested_in) {
    auto const policy = retry_policy().max_attempts(2).backoff(constant(0s)).jitter(no_jitter());
    auto operation = [this](attempt a) { return ask(a); };
    auto retried = [&](attempt a) { return async_retry(a, operation, policy, asio::use_awaitable); };
    async_retry(io, retried, policy.attempt_timeout(100ms), note());
    expect({100ms, 100ms});
    auto shorter = [&](attempt a) {
        return async_retry(a, operation, policy.attempt_timeout(60ms).retry_when_nested(), asio::use_awaitable);
    };
    async_retry(io, shorter, policy.attempt_timeout(100ms), note());
    expect({60ms, 40ms, 60ms, 40ms});
    auto hedged = [&](attempt a) { return async_hedge(a, operation, hedge_policy(10ms), asio::use_awaitable); };
    async_retry(io, hedged, policy.attempt_timeout(100ms).max_attempts(1), note());
    expect({100ms, 90ms});
}

TEST(told_deadlines_of_a_thread, decision_51_are_the_earlier_of_the_attempts_and_the_operations) {
    manual_waits waits;
    std::vector<duration> left;
    auto operation = [&](attempt a) -> error_code {
        left.push_back(a.deadline - waits.now());
        waits.time += 100ms;
        return detail::timed_out_error();
    };
    auto const policy = retry_policy().max_attempts(3).backoff(constant(0s)).jitter(no_jitter());
    retry(operation, policy.attempt_timeout(100ms).total_timeout(250ms), waits);
    EXPECT_EQ(left, (std::vector<duration>{100ms, 100ms, 50ms}));
}

} // namespace
} // namespace asio_retry::test
