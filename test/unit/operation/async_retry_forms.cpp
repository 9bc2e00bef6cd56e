#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <boost/system/result.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class async_retry_form : public testing::Test, protected in_virtual_time {
protected:
    script played = script::failures(2);

    error_code next() { return played.next(); }
};

TEST_F(async_retry_form, token_operation) {
    auto const took = run([&]() -> asio::awaitable<void> {
        auto operation = [&](auto token) { return async_scripted(io, played, std::move(token)); };
        EXPECT_EQ(co_await async_retry(operation, every_100ms(4)), 3);
    });
    EXPECT_EQ(took, 200ms);
}

TEST_F(async_retry_form, token_operation_that_asks_for_the_attempt) {
    std::vector<std::uint64_t> numbers;
    run([&]() -> asio::awaitable<void> {
        auto operation = [&](attempt a, auto token) {
            numbers.push_back(a.number);
            return async_scripted(io, played, std::move(token));
        };
        EXPECT_EQ(co_await async_retry(operation, every_100ms(4)), 3);
    });
    EXPECT_THAT(numbers, elements(1, 2, 3));
}

TEST_F(async_retry_form, callable_that_returns_a_deferred_operation) {
    auto const took = run([&]() -> asio::awaitable<void> {
        auto operation = [&] { return async_scripted(io, played, asio::deferred); };
        EXPECT_EQ(co_await async_retry(operation, every_100ms(4)), 3);
    });
    EXPECT_EQ(took, 200ms);
}

TEST_F(async_retry_form, callable_that_returns_a_deferred_operation_and_asks_for_the_attempt) {
    std::uint64_t last = 0;
    run([&]() -> asio::awaitable<void> {
        auto operation = [&](attempt const& a) {
            last = a.number;
            return async_scripted(io, played, asio::deferred);
        };
        EXPECT_EQ(co_await async_retry(operation, every_100ms(4)), 3);
    });
    EXPECT_EQ(last, 3u);
}

TEST_F(async_retry_form, deferred_operation_itself) {
    run([&]() -> asio::awaitable<void> {
        auto operation = async_scripted(io, played, asio::deferred);
        EXPECT_EQ(co_await async_retry(operation, every_100ms(4)), 3);
    });
}

asio::awaitable<std::string> fetch(script& s) {
    co_await asio::post(co_await asio::this_coro::executor, asio::deferred);
    if (error_code const ec = s.next())
        throw boost::system::system_error(ec);
    co_return "page " + std::to_string(s.attempts);
}

TEST_F(async_retry_form, awaitable_awaited_directly) {
    auto const took = run([&]() -> asio::awaitable<void> {
        std::string const page = co_await async_retry([&] { return fetch(played); }, every_100ms(4));
        EXPECT_EQ(page, "page 3");
    });
    EXPECT_EQ(took, 200ms);
}

TEST_F(async_retry_form, awaitable_under_time_limits) {
    auto const took = run([&]() -> asio::awaitable<void> {
        auto const policy = every_100ms(4).attempt_timeout(5s).total_timeout(30s);
        std::string const page = co_await async_retry([&] { return fetch(played); }, policy);
        EXPECT_EQ(page, "page 3");
    });
    EXPECT_EQ(took, 200ms);
}

TEST_F(async_retry_form, awaitable_with_a_callback) {
    std::string page;
    async_retry(
        io.get_executor(), [&] { return fetch(played); }, every_100ms(4),
        [&](std::exception_ptr e, std::string s) {
            EXPECT_FALSE(e);
            page = s;
        });
    time.run();
    EXPECT_EQ(page, "page 3");
}

TEST_F(async_retry_form, awaitable_of_void_that_asks_for_the_attempt) {
    std::uint64_t last = 0;
    for (auto const& policy : {every_100ms(4), every_100ms(4).attempt_timeout(1s)}) {
        played = script::failures(2);
        run([&]() -> asio::awaitable<void> {
            auto operation = [&](attempt a) -> asio::awaitable<void> {
                last = a.number;
                co_await fetch(played);
            };
            co_await async_retry(operation, policy);
        });
        EXPECT_EQ(last, 3u);
    }
}

// Its coroutine begins after the call of the operation has returned.
TEST_F(async_retry_form, awaitable_that_refers_to_its_attempt) {
    asio::cancellation_signal signal;
    for (auto const& policy : {every_100ms(4), every_100ms(4).attempt_timeout(1s)})
        for (auto const& slot : {asio::cancellation_slot(), signal.slot()}) {
            played = script::failures(2);
            std::vector<std::uint64_t> numbers;
            auto operation = [&](attempt const& a) -> asio::awaitable<void> {
                numbers.push_back(a.number);
                co_await asio::post(asio::use_awaitable);
                numbers.push_back(a.number);
                co_await fetch(played);
            };
            asio::co_spawn(io, async_retry(operation, policy, asio::use_awaitable),
                           asio::bind_cancellation_slot(slot, asio::detached));
            time.run();
            EXPECT_THAT(numbers, elements(1, 1, 2, 2, 3, 3));
        }
}

TEST_F(async_retry_form, token_operation_that_refers_to_its_attempt) {
    std::vector<std::uint64_t> numbers;
    auto operation = [&](attempt const& a, auto token) {
        return asio::async_compose<decltype(token), void(error_code)>(
            [&a, &numbers, posted = false](auto& self) mutable {
                if (!std::exchange(posted, true))
                    return asio::post(std::move(self));
                numbers.push_back(a.number);
                self.complete(a.number == 3 ? error_code() : refused());
            },
            token);
    };
    async_retry(io, operation, every_100ms(4), asio::detached);
    time.run();
    EXPECT_THAT(numbers, elements(1, 2, 3));
}

TEST_F(async_retry_form, awaitable_that_throws_delivers_the_last_exception_unchanged) {
    for (auto const& policy : {every_100ms(4), every_100ms(4).attempt_timeout(1s)}) {
        int calls = 0;
        std::string caught;
        run([&]() -> asio::awaitable<void> {
            auto operation = [&]() -> asio::awaitable<int> {
                throw std::runtime_error("call " + std::to_string(++calls));
                co_return 0;
            };
            try {
                co_await async_retry(operation, policy);
            } catch (std::runtime_error const& e) {
                caught = e.what();
            }
        });
        EXPECT_EQ(caught, "call 4");
    }
}

TEST_F(async_retry_form, awaitable_of_error_code) {
    for (auto const& policy : {every_100ms(4), every_100ms(4).attempt_timeout(1s)}) {
        played = script::failures(9);
        run([&]() -> asio::awaitable<void> {
            auto operation = [&]() -> asio::awaitable<error_code> { co_return next(); };
            auto const [direct] = co_await async_retry(operation, policy, asio::as_tuple(asio::use_awaitable));
            EXPECT_EQ(direct, refused());
            auto const [deferred] = co_await async_retry(operation, policy, asio::as_tuple(asio::deferred));
            EXPECT_EQ(deferred, refused());
        });
        EXPECT_EQ(played.attempts, 8u);
    }
}

TEST_F(async_retry_form, awaitable_of_tuple_with_error_code) {
    for (auto const& policy : {every_100ms(4), every_100ms(4).attempt_timeout(1s)}) {
        played = script::failures(2);
        run([&]() -> asio::awaitable<void> {
            auto operation = [&]() -> asio::awaitable<std::tuple<error_code, int, std::string>> {
                co_return std::tuple(next(), 7, "seven");
            };
            auto const [n, s] = co_await async_retry(operation, policy, asio::use_awaitable);
            EXPECT_EQ(n, 7);
            EXPECT_EQ(s, "seven");
            auto const [n2, s2] = co_await async_retry(operation, policy);
            EXPECT_EQ(n2, 7);
        });
        EXPECT_EQ(played.attempts, 4u);
    }
}

TEST_F(async_retry_form, awaitable_of_result) {
    run([&]() -> asio::awaitable<void> {
        auto operation = [&]() -> asio::awaitable<boost::system::result<int>> {
            if (error_code const ec = next())
                co_return ec;
            co_return 5;
        };
        EXPECT_EQ(co_await async_retry(operation, every_100ms(4)), 5);
        played = script::failures(9);
        auto const [ec, n] = co_await async_retry(operation, every_100ms(4), asio::as_tuple(asio::deferred));
        EXPECT_EQ(ec, refused());
    });
}

TEST_F(async_retry_form, plain_callable) {
    auto const took = run([&]() -> asio::awaitable<void> {
        auto operation = [&] {
            if (error_code const ec = next())
                throw boost::system::system_error(ec);
            return 9;
        };
        EXPECT_EQ(co_await async_retry(operation, every_100ms(4)), 9);
    });
    EXPECT_EQ(took, 200ms);
}

TEST_F(async_retry_form, plain_callable_of_void_error_code_and_result) {
    run([&]() -> asio::awaitable<void> {
        co_await async_retry(
            [&](attempt) {
                if (next())
                    throw 1;
            },
            every_100ms(4));
        played = script::failures(2);
        co_await async_retry([&] { return next(); }, every_100ms(4));
        played = script::failures(2);
        auto result = [&]() -> boost::system::result<int> {
            if (error_code const ec = next())
                return ec;
            return 4;
        };
        EXPECT_EQ(co_await async_retry(result, every_100ms(4)), 4);
    });
    EXPECT_EQ(played.attempts, 3u);
}

#if BOOST_ASIO_VERSION >= 103002 && !defined(ASIO_RETRY_STANDALONE) // where a result may refer
TEST_F(async_retry_form, a_result_that_refers_to_something_is_a_copy_of_that) {
    std::string there = "there";
    bool has_failed = false;
    auto const operation = [&]() -> boost::system::result<std::string&> {
        if (!std::exchange(has_failed, true))
            return refused();
        return there;
    };
    std::string got;
    async_retry(io, operation, every_100ms(4), [&](error_code, std::string value) { got = std::move(value); });
    time.run();
    EXPECT_EQ(got, "there");
    EXPECT_EQ(there, "there");
}
#endif

TEST_F(async_retry_form, exception_in_an_operation_with_error_code_is_a_failure_with_its_code) {
    std::vector<error_code> errors;
    auto const policy = every_100ms(4).on_retry([&](retry_event const& e) { errors.push_back(e.error); });
    int calls = 0;
    completion_record record;
    auto operation = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, int)>(
            [&](auto handler) {
                if (++calls == 1)
                    throw boost::system::system_error(refused());
                if (calls == 2)
                    throw 42;
                asio::post(io, asio::append(std::move(handler), error_code(), 1));
            },
            token);
    };
    async_retry(io.get_executor(), operation, policy, record.handler());
    time.run();
    EXPECT_THAT(errors, testing::ElementsAre(refused(), make_error_code(error::operation_threw)));
    EXPECT_EQ(record.count, 1);
    EXPECT_FALSE(record.error);
}

TEST_F(async_retry_form, initiation_that_throws_after_it_handed_its_handler_on_completes_once) {
    int calls = 0;
    completion_record record;
    auto const operation = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, int)>(
            [&](auto handler) {
                error_code const ec = ++calls < 3 ? refused() : error_code();
                asio::post(io, asio::append(std::move(handler), ec, calls));
                throw std::runtime_error("too late");
            },
            token);
    };
    async_retry(io, operation, every_100ms(4), record.handler());
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.value, 3);
}

TEST_F(async_retry_form, plain_callable_that_returns_a_reference) {
    std::string const kept = "kept";
    std::string got;
    async_retry(
        io, [&]() -> std::string const& { return kept; }, every_100ms(4),
        [&](std::exception_ptr, std::string s) { got = s; });
    time.run();
    EXPECT_EQ(got, kept);
}

// Decision 19: the operation is called as an lvalue and never moves while it runs.
TEST_F(async_retry_form, decision_19_operation_stays_at_one_address) {
    struct addressed_operation {
        asio::io_context* io;
        script* played;
        std::vector<void const*>* addresses;
        asio::awaitable<int> operator()() {
            addresses->push_back(this);
            co_await asio::post(*io, asio::deferred);
            addresses->push_back(this);
            co_return played->next() ? throw std::runtime_error("again") : 1;
        }
    };
    for (auto const& policy : {every_100ms(4), every_100ms(4).attempt_timeout(1s)}) {
        played = script::failures(2);
        std::vector<void const*> addresses;
        run([&]() -> asio::awaitable<void> {
            co_await async_retry(addressed_operation{&io, &played, &addresses}, policy);
        });
        ASSERT_EQ(addresses.size(), 6u);
        EXPECT_THAT(addresses, testing::Each(addresses.front()));
    }
}

// Decision 20: result and frame of a failed attempt are gone before the wait.
TEST_F(async_retry_form, decision_20_failed_attempt_leaves_nothing_during_the_wait) {
    auto const alive = std::make_shared<int>();
    auto result_operation = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, std::shared_ptr<int>)>(
            [&](auto handler) { asio::post(io, asio::append(std::move(handler), played.next(), alive)); },
            token);
    };
    async_retry(io.get_executor(), result_operation, every_100ms(4), asio::detached);
    auto frame_operation = [&]() -> asio::awaitable<void> {
        auto const local = alive;
        co_await asio::post(io, asio::deferred);
        throw std::runtime_error("frame gone");
    };
    async_retry(io.get_executor(), frame_operation, every_100ms(4), asio::detached);
    asio::co_spawn(io, async_retry(frame_operation, every_100ms(4)), asio::detached);
    time.advance(50ms);
    EXPECT_EQ(scheduler(io).pending(), 3u);
    EXPECT_EQ(alive.use_count(), 1);
}

} // namespace
} // namespace asio_retry::test
