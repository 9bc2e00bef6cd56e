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
            {"set_up_within", base.set_up_within(1s)},
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
        throw permanent(boost::system::system_error(aborted_error()));
    };
    try {
        retry(throws, policy, waits);
        ADD_FAILURE();
    } catch (boost::system::system_error const& e) {
        EXPECT_EQ(e.code(), timed_out_error());
    }
    EXPECT_EQ(posts, 1);
    auto returns = [&]() -> error_code {
        ++posts;
        waits.time += 2s;
        return permanent(aborted_error());
    };
    EXPECT_EQ(retry(returns, policy, waits), timed_out_error());
    EXPECT_EQ(posts, 2);
}

} // namespace
} // namespace asio_retry::test
