#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/with_report.hpp>

#include "callables/zoo.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/result.hpp>

#include <gtest/gtest.h>

#include <concepts>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

namespace asio_retry::test {
namespace {

retry_policy at_once() {
    return retry_policy().backoff(constant(duration::zero()));
}

using int_result = boost::system::result<int>; // so that those that cannot throw can fail

/// Fails twice and then answers with the number of its call.
struct third_call_succeeds {
    int calls = 0;
    int_result answer() {
        if (++calls < 3)
            return detail::timed_out_error();
        return calls;
    }
};

TEST(callables, decision_40_a_blocking_operation_may_be_a_class_of_any_shape) {
    third_call_succeeds operation;
    std::function<int_result()> const body = [&] { return operation.answer(); };
    auto const check = [&](char const* name, int_result const& answer) {
        EXPECT_EQ(answer.value(), 3) << name;
        operation = {};
    };
    zoo<int_result()>::each(body, [&]<typename Animal>(char const* name, Animal animal) {
        check(name, retry(std::move(animal), at_once()));
    });
}

TEST(callables, decision_40_so_may_one_that_takes_an_attempt) {
    std::function<error_code(attempt const&)> const body = [](attempt const& a) {
        return a.number < 3 ? detail::timed_out_error() : error_code();
    };
    auto const check = [](char const* name, error_code const& ec) { EXPECT_EQ(ec, error_code()) << name; };
    zoo<error_code(attempt const&)>::each(body, [&]<typename Animal>(char const* name, Animal animal) {
        check(name, retry(std::move(animal), at_once()));
    });
}

TEST(callables, decision_40_an_asynchronous_operation_may_be_a_class_of_any_shape) {
    third_call_succeeds operation;
    std::function<int_result()> const body = [&] { return operation.answer(); };
    boost::asio::io_context io;
    std::optional<int> answer;
    std::function<void(error_code, int)> const note = [&](error_code, int value) { answer = value; };
    auto const check = [&](char const* name) {
        io.restart();
        io.run();
        EXPECT_EQ(answer, 3) << name;
        operation = {};
        answer.reset();
    };
    zoo<int_result()>::each(body, [&]<typename Animal>(char const* name, Animal animal) {
        async_retry(io, std::move(animal), at_once(), note);
        check(name);
    });
}

TEST(callables, decision_40_so_may_one_inside_fail_if_and_with_report) {
    int calls = 0;
    std::function<int()> const body = [&] { return ++calls; };
    retry_report report;
    auto const is_early = [](int value) { return value < 3; };
    auto const check = [&](char const* name, int value) {
        EXPECT_EQ(value, 3) << name;
        EXPECT_EQ(report.attempts, 3u) << name;
        calls = 0;
    };
    zoo<int()>::each(body, [&]<typename Animal>(char const* name, Animal animal) {
        check(name, retry(with_report(fail_if(std::move(animal), is_early), report), at_once()));
    });
}

struct client {
    std::uint64_t calls = 0;
    std::uint64_t answer_to(attempt a) {
        ++calls;
        if (a.number < 3)
            throw std::runtime_error("not yet");
        return a.number;
    }
};

TEST(callables, decision_40_a_bound_member_may_take_the_attempt) {
    client c;
    EXPECT_EQ(retry(std::bind_front(&client::answer_to, &c), at_once()), 3u);
    EXPECT_EQ(retry(std::bind(&client::answer_to, &c, std::placeholders::_1), at_once()), 3u);
    EXPECT_EQ(c.calls, 6u);
}

/// Its call is overloaded, so that its parameters cannot be looked at.
struct overloaded_on_attempt {
    std::uint64_t operator()(attempt const& a) { return a.number; }
    std::uint64_t operator()(attempt const& a) const { return a.number + 100; }
};

TEST(callables, decision_40_an_overloaded_operation_may_take_the_attempt) {
    EXPECT_EQ(retry(overloaded_on_attempt(), at_once()), 1u);
}

namespace beside_a_greedy_class {

/// Anything that takes a number makes one. So `==` of it and of a lambda would compile the lambda with a
/// number.
struct made_of_what_takes_a_number {
    template <std::invocable<int> F>
    explicit(false) made_of_what_takes_a_number(F) {}
};
[[maybe_unused]] bool operator==(made_of_what_takes_a_number const&, made_of_what_takes_a_number const&) {
    return true;
}

TEST(callables, decision_40_a_lambda_is_compiled_for_tokens_alone) {
    boost::asio::io_context io;
    auto operation = [&io](auto token) {
        return boost::asio::async_initiate<decltype(token), void(boost::system::error_code)>(
            [&io](auto handler) { boost::asio::post(io, std::bind(std::move(handler), error_code())); }, token);
    };
    bool succeeded = false;
    async_retry(operation, at_once(),
                boost::asio::bind_executor(io, [&](error_code const& ec) { succeeded = !ec; }));
    io.run();
    EXPECT_TRUE(succeeded);
}

} // namespace beside_a_greedy_class
} // namespace
} // namespace asio_retry::test
