// A wrapper of our own, in a few lines: everything that it does not say is that of the operation inside.
#include <asio_retry/detail/attempt/operation_form.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/inject.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry {
namespace test {

/// Counts the calls of an operation.
template <typename Operation>
struct tallied_operation : detail::wrapping_operation<Operation> {
    tallied_operation(Operation operation, int& tally)
        : detail::wrapping_operation<Operation>(std::move(operation))
        , calls(&tally) {}
    int* calls;
};

template <typename Operation>
detail::wrapper<tallied_operation, Operation> tallied(Operation&& operation, int& tally) {
    return {std::forward<Operation>(operation), tally};
}

} // namespace test

template <typename Operation>
struct detail::operation_form<test::tallied_operation<Operation>> : detail::wrapping_form<Operation> {
    template <typename... Token>
    static decltype(auto) call(test::tallied_operation<Operation>& operation, attempt const& which,
                               Token&&... token) {
        ++*operation.calls;
        return detail::wrapping_form<Operation>::call(operation, which, std::forward<Token>(token)...);
    }
};

namespace test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class wrapping_form : public testing::Test, protected in_virtual_time {
protected:
    script played = script::failures(2);
    int calls = 0;
    std::vector<std::uint64_t> numbers;

    auto token_operation() {
        return [this](auto token) { return async_scripted(io, played, std::move(token)); };
    }
    auto attempt_operation() {
        return [this](attempt which, auto token) {
            numbers.push_back(which.number);
            return async_scripted(io, played, std::move(token));
        };
    }

    /// The value of three attempts, of which two have failed. Each was counted once.
    template <typename Operation>
    void expect_third_succeeds(Operation operation) {
        std::optional<int> value;
        auto const done = [&](auto failure, auto... values) {
            EXPECT_FALSE(failure);
            value = (0 + ... + static_cast<int>(values));
        };
        async_retry(io, std::move(operation), every_100ms(), done);
        time.run();
        ASSERT_TRUE(value.has_value());
        EXPECT_EQ(played.attempts, 3u);
        EXPECT_EQ(calls, 3);
    }
};

// --- each way to call

TEST_F(wrapping_form, forwards_a_token) {
    expect_third_succeeds(tallied(token_operation(), calls));
}

TEST_F(wrapping_form, forwards_an_attempt_and_a_token) {
    expect_third_succeeds(tallied(attempt_operation(), calls));
    EXPECT_THAT(numbers, ElementsAre(1u, 2u, 3u));
}

TEST_F(wrapping_form, forwards_a_deferred_operation) {
    expect_third_succeeds(tallied([this] { return async_scripted(io, played, asio::deferred); }, calls));
}

TEST_F(wrapping_form, forwards_an_awaitable) {
    expect_third_succeeds(tallied(
        [this](attempt which) -> asio::awaitable<int> {
            numbers.push_back(which.number);
            return async_scripted(io, played, asio::use_awaitable);
        },
        calls));
    EXPECT_THAT(numbers, ElementsAre(1u, 2u, 3u));
}

TEST_F(wrapping_form, forwards_an_awaitable_that_a_coroutine_awaits) {
    run([&]() -> asio::awaitable<void> {
        auto operation = tallied([this] { return async_scripted(io, played, asio::use_awaitable); }, calls);
        EXPECT_EQ(co_await async_retry(operation, every_100ms()), 3);
    });
    EXPECT_EQ(calls, 3);
}

TEST_F(wrapping_form, forwards_a_plain_callable) {
    expect_third_succeeds(tallied([this] { return played.next(); }, calls));
}

TEST_F(wrapping_form, forwards_a_plain_callable_that_blocks_its_thread) {
    auto operation = tallied([this] { return played.next(); }, calls);
    error_code const ended = retry(operation, retry_policy().backoff(constant(1ns)).max_attempts(3));
    EXPECT_EQ(ended, error_code());
    EXPECT_EQ(calls, 3);
}

// --- what another wrapper says, inside

TEST_F(wrapping_form, forwards_what_rejects_a_result) {
    played = script();
    expect_third_succeeds(tallied(fail_if(token_operation(), [](int value) { return value < 3; }), calls));
}

TEST_F(wrapping_form, forwards_that_a_rejected_result_becomes_an_error) {
    played = script();
    completion_record record;
    async_retry(io, tallied(fail_if(token_operation(), [](int) { return true; }).or_error(), calls),
                every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.error, error::exhausted);
    EXPECT_EQ(record.value, 3);
}

TEST_F(wrapping_form, forwards_what_prepares_the_operation) {
    retry_report report;
    std::vector<std::string> told;
    expect_third_succeeds(tallied(with_hooks(
                                      with_report(attempt_operation(), report),
                                      [&](retry_event const&) { told.push_back("retry"); },
                                      [&](stop_reason) { told.push_back("end"); }),
                                  calls));
    EXPECT_EQ(report.attempts, 3u);
    EXPECT_THAT(told, elements("retry", "retry", "end"));
}

TEST_F(wrapping_form, forwards_who_chooses_an_endpoint) {
    auto const servers = std::make_shared<endpoint_set<int>>(std::vector{10, 20, 30});
    std::vector<int> asked;
    auto const ask = [&](int server, auto token) {
        asked.push_back(server);
        return async_scripted(io, played, std::move(token));
    };
    expect_third_succeeds(tallied(on_endpoint(ask, servers), calls));
    EXPECT_THAT(asked, testing::UnorderedElementsAre(10, 20, 30));

    asked.clear();
    completion_record record;
    played = script();
    async_hedge(io, tallied(on_endpoint(ask, servers), calls), hedge_policy(10ms), record.handler());
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(asked.size(), 1u);
    EXPECT_EQ(calls, 4);
}

TEST_F(wrapping_form, goes_around_a_step_and_around_faults) {
    auto const faults = std::make_shared<fault_plan>(fault_options());
    int steps = 0;
    expect_third_succeeds(
        tallied(inject(before_retry([this] { return played.next(); }, [&] { ++steps; }), faults), calls));
    EXPECT_EQ(steps, 2);
}

// --- inside another wrapper

TEST_F(wrapping_form, goes_inside_each_wrapper_that_looks_at_results) {
    retry_report report;
    int ends = 0;
    played = script();
    auto const below_3 = [](int value) { return value < 3; };
    expect_third_succeeds(with_report(
        with_hooks(fail_if(tallied(token_operation(), calls), below_3), nullptr, [&](stop_reason) { ++ends; }),
        report));
    EXPECT_EQ(report.attempts, 3u);
    EXPECT_EQ(ends, 1);
}

TEST_F(wrapping_form, goes_inside_a_step_and_inside_faults) {
    auto const faults = std::make_shared<fault_plan>(fault_options());
    int steps = 0;
    expect_third_succeeds(before_retry(inject(tallied(attempt_operation(), calls), faults), [&] { ++steps; }));
    EXPECT_EQ(steps, 2);
    EXPECT_THAT(numbers, ElementsAre(1u, 2u, 3u));
}

TEST_F(wrapping_form, goes_around_itself) {
    int outer = 0;
    expect_third_succeeds(tallied(tallied(attempt_operation(), calls), outer));
    EXPECT_EQ(outer, 3);
}

// --- facts of the type

TEST_F(wrapping_form, has_the_facts_of_the_operation_inside) {
    auto const inside = [this](attempt const&, auto token) {
        return async_scripted(io, played, std::move(token));
    };
    auto const judged = fail_if(inside, [](int) { return false; });
    using inner = detail::operation_form<std::remove_const_t<decltype(judged)>>;
    using outer = detail::operation_form<decltype(tallied(judged, calls))>;
    EXPECT_TRUE((std::is_same_v<outer::signature, inner::signature>));
    EXPECT_TRUE(outer::is_usable && outer::judges_results && outer::takes_attempt && outer::prepares);
    EXPECT_FALSE(outer::names_rejected || outer::is_reported || outer::has_hooks || outer::chooses);

    auto const held = std::make_shared<int>();
    auto const may_be_destroyed_twice = [](auto&& given) {
        return detail::is_temporary<std::remove_cvref_t<decltype(given)>>;
    };
    EXPECT_EQ(may_be_destroyed_twice(tallied([held] {}, calls)), detail::destroys_temporaries_twice);
    EXPECT_FALSE(may_be_destroyed_twice(tallied(inside, calls)));
}

} // namespace
} // namespace test
} // namespace asio_retry
