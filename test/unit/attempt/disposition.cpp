// Operations that complete with another disposition than an error_code or an exception.
#include <asio_retry/failure_of.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/inject.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retrying.hpp>
#include <asio_retry/with_report.hpp>

#include "support/counting_allocator.hpp"
#include "support/in_virtual_time.hpp"
#include "support/recording_gate.hpp"
#include "support/rpc_status.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// Known by Asio's traits alone, and made of an error_code.
struct asio_fault {
    asio_fault() noexcept = default;
    explicit asio_fault(error_code const& given) noexcept
        : code(given) {}
    error_code code;
    int extra = 0; // lost in the exception
};

/// Holds an exception, as a result type of another library may.
struct held_exception {
    held_exception() noexcept = default;
    explicit held_exception(std::exception_ptr given) noexcept
        : thrown(std::move(given)) {}
    std::exception_ptr thrown;
};

} // namespace asio_retry::test

template <>
struct asio_retry::failure_of<asio_retry::test::held_exception> {
    static bool failed(asio_retry::test::held_exception const& e) noexcept { return e.thrown != nullptr; }
    static error_code code(asio_retry::test::held_exception const& e) { return code_of(e.thrown); }
};

#if BOOST_ASIO_VERSION >= 103300
template <>
struct boost::asio::disposition_traits<asio_retry::test::asio_fault> {
    using fault = asio_retry::test::asio_fault;
    static bool not_an_error(fault const& f) noexcept { return !f.code; }
    static void throw_exception(fault f) { throw boost::system::system_error(f.code); }
    static std::exception_ptr to_exception_ptr(fault f) noexcept {
        return f.code ? std::make_exception_ptr(boost::system::system_error(f.code)) : nullptr;
    }
};
#endif

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class dispositions : public testing::Test, protected in_virtual_time {
protected:
    scripted_calls calls;
    std::vector<retry_event> retries;
    std::vector<stop_reason> reasons;
    retry_policy policy = retry_policy()
                              .backoff(constant(100ms))
                              .jitter(no_jitter())
                              .max_attempts(3)
                              .on_retry([this](retry_event const& e) { retries.push_back(e); })
                              .on_give_up([this](stop_reason r) { reasons.push_back(r); });
    std::optional<rpc_status> status;
    int value = 0;

    auto call() {
        return [this](auto&& token) { return calls.async_call(io, std::forward<decltype(token)>(token)); };
    }
    auto handler() {
        return [this](rpc_status got, int number) {
            status = std::move(got);
            value = number;
        };
    }
    void retry_call(retry_policy p) {
        async_retry(io, call(), std::move(p), handler());
        time.run();
    }
};

TEST_F(dispositions, a_failure_is_retried_and_a_success_delivered) {
    calls.statuses = {unavailable(), unavailable()};
    retry_call(policy);
    EXPECT_EQ(status, rpc_status());
    EXPECT_EQ(value, 3);
    ASSERT_EQ(retries.size(), 2u);
    EXPECT_EQ(retries[0].error, rpc_code(14));
    EXPECT_EQ(retries[0].kind, failure_kind::transient);
    EXPECT_EQ(time.now() - begin, 200ms);
}

TEST_F(dispositions, decision_72_that_of_the_last_attempt_arrives_unchanged) {
    calls.statuses = {unavailable("one"), unavailable("two"), unavailable("three")};
    retry_call(policy);
    EXPECT_EQ(status, unavailable("three"));
    EXPECT_EQ(value, 3);
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::attempts));
}

// Its code alone would be one of which nothing is known.
TEST_F(dispositions, decision_72_the_class_is_that_of_its_failure_of) {
    auto const gate = std::make_shared<recording_gate>();
    calls.statuses = {{8, "quota", {}}, {4, "late", {}}, {14, "gone", {}}};
    retry_call(policy.gate(gate).max_attempts(9));
    EXPECT_EQ(value, 4);
    EXPECT_THAT(gate->told,
                testing::IsSupersetOf({"failed 1 throttled", "failed 2 timeout", "failed 3 transient"}));

    calls = {{{10, "no effect", {}}, {14, "perhaps done", {}}}};
    retry_call(policy.retry_sent(false));
    EXPECT_EQ(status, unavailable("perhaps done"));
    EXPECT_EQ(value, 2);
}

TEST_F(dispositions, a_policys_classify_is_not_asked_where_the_failure_has_a_class) {
    calls.statuses = {{10, "aborted", {}}};
    retry_call(policy.classify([](error_code const&) { return failure_class{failure_kind::timeout}; }));
    ASSERT_EQ(retries.size(), 1u);
    EXPECT_EQ(retries[0].kind, failure_kind::transient);
    EXPECT_EQ(retries[0].sent, effect::none);
}

TEST_F(dispositions, decision_72_a_permanent_one_is_neither_retried_nor_changed) {
    rpc_status const wrong{3, "wrong argument", {}};
    for (bool const is_nested : {false, true}) {
        calls = {{wrong}};
        attempt const outer{};
        retry_call((is_nested ? policy.nested_in(outer).retry_when_nested() : policy).retry_if(any_failure));
        EXPECT_EQ(status, wrong);
        EXPECT_EQ(value, 1);
    }
}

TEST_F(dispositions, retry_if_gets_its_code) {
    calls.statuses = {unavailable(), {10, "aborted", {}}};
    retry_call(policy.retry_if([](error_code const& code) { return code == rpc_code(14); }));
    EXPECT_EQ(status, (rpc_status{10, "aborted", {}}));
    EXPECT_EQ(value, 2);
}

TEST_F(dispositions, an_aborted_one_is_not_retried_whatever_its_class) {
    calls.statuses = {local_status(aborted())};
    retry_call(policy);
    EXPECT_EQ(status, local_status(aborted()));
    EXPECT_EQ(value, 1);
}

TEST_F(dispositions, decision_72_the_librarys_own_errors_are_made) {
    asio::steady_timer never(io, asio::steady_timer::time_point::max());
    auto const hang = [&](auto&& token) {
        return never.async_wait(asio::deferred)(asio::deferred([](error_code const& code) {
            return asio::deferred.values(local_status(code));
        }))(std::forward<decltype(token)>(token));
    };
    std::optional<rpc_status> got;
    auto const keep = [&](rpc_status s) { got = std::move(s); };
    async_retry(io, hang, policy.total_timeout(1s), keep);
    time.run();
    EXPECT_EQ(got, local_status(timed_out()));
    EXPECT_EQ(time.now() - begin, 1s);

    async_hedge(io, hang, hedge_policy(100ms).total_timeout(1s), keep);
    time.run();
    EXPECT_EQ(got, local_status(timed_out()));

    asio::cancellation_signal signal;
    async_retry(io, hang, policy, asio::bind_cancellation_slot(signal.slot(), keep));
    asio::post(io, [&] { signal.emit(asio::cancellation_type::terminal); });
    time.run();
    EXPECT_EQ(got, local_status(aborted()));
}

TEST_F(dispositions, decision_72_a_refused_retry_ends_with_the_last_one) {
    auto const gate = std::make_shared<recording_gate>();
    gate->refusals = {let_in, no_idea};
    calls = {{unavailable("before the refusal")}};
    retry_call(policy.gate(gate));
    EXPECT_EQ(status, unavailable("before the refusal")); // though its result was destroyed before the wait
    EXPECT_EQ(value, 0);
    EXPECT_EQ(reasons.back(), stop_reason::refused);

    gate->refusals = {no_idea};
    retry_call(policy.gate(gate));
    EXPECT_EQ(status, local_status(error::circuit_open));
}

TEST_F(dispositions, what_an_operation_throws_is_made) {
    auto const throws = [this](auto&& token) {
        if (calls.made++ == 0)
            throw boost::system::system_error(refused());
        else
            throw std::logic_error("mistake");
        return calls.async_call(io, std::forward<decltype(token)>(token));
    };
    async_retry(io, throws, policy.max_attempts(2), handler());
    time.run();
    EXPECT_EQ(status, local_status(error::operation_threw));
    ASSERT_EQ(retries.size(), 1u);
    EXPECT_EQ(retries[0].error, refused());
    EXPECT_EQ(retries[0].sent, effect::none); // by the class of the code
}

TEST_F(dispositions, a_code_that_is_marked_as_permanent_loses_its_mark) {
    calls.statuses = {local_status(permanent(refused()))};
    retry_call(policy);
    EXPECT_EQ(status, local_status(refused()));
    EXPECT_EQ(value, 1);
}

TEST_F(dispositions, an_exception_is_put_into_one_that_can_hold_it) {
    auto const throws = [](auto&& token) {
        throw std::logic_error("mistake");
        return asio::async_initiate<decltype(token), void(held_exception)>([](auto) {}, token);
    };
    std::string message;
    async_retry(io, throws, policy, [&](held_exception got) {
        try {
            std::rethrow_exception(got.thrown);
        } catch (std::logic_error const& e) {
            message = e.what();
        }
    });
    time.run();
    EXPECT_EQ(message, "mistake");
}

// --- tokens

TEST_F(dispositions, co_await_gives_what_asio_gives) {
    using without = decltype(calls.async_call(io, asio::use_awaitable));
    using with = decltype(async_retry(call(), policy, asio::use_awaitable));
    EXPECT_TRUE((std::is_same_v<with, without>));

    calls.statuses = {unavailable(), unavailable(), unavailable("last")};
    run([&]() -> asio::awaitable<void> {
        auto const [last, number] = co_await async_retry(call(), policy, asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(last, unavailable("last"));
        EXPECT_EQ(number, 3);
        co_await async_retry(call(), policy); // deferred
        EXPECT_EQ(calls.made, 4u);
    });
}

TEST_F(dispositions, a_future_gives_what_asio_gives) {
    calls.statuses = {unavailable(), unavailable(), unavailable("last")};
    std::future<std::tuple<rpc_status, int>> future = async_retry(io, call(), policy, asio::use_future);
    time.run();
    EXPECT_EQ(future.get(), std::tuple(unavailable("last"), 3));
}

TEST_F(dispositions, retrying_is_a_token_for_it) {
    calls.statuses = {unavailable()};
    calls.async_call(io, retrying(policy, asio::bind_executor(io.get_executor(), handler())));
    time.run();
    EXPECT_EQ(status, rpc_status());
    EXPECT_EQ(value, 2);
}

// --- forms

TEST_F(dispositions, an_awaitable_may_return_it_with_values) {
    std::vector<rpc_status> given{unavailable(), unavailable(), unavailable("third")};
    std::size_t made = 0;
    auto const fetch = [&]() -> asio::awaitable<std::tuple<rpc_status, int>> {
        co_await asio::post(io, asio::use_awaitable);
        std::size_t const index = made++;
        co_return std::tuple(index < given.size() ? given[index] : rpc_status(), static_cast<int>(made));
    };
    run([&]() -> asio::awaitable<void> {
        auto const [last, number] = co_await async_retry(fetch, policy, asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(last, unavailable("third"));
        EXPECT_EQ(number, 3);
    });
    auto const gate = std::make_shared<recording_gate>();
    gate->refusals = {let_in, no_idea};
    made = 0;
    run([&]() -> asio::awaitable<void> {
        auto const [last, number] =
            co_await async_retry(fetch, policy.gate(gate), asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(last, unavailable());
        EXPECT_EQ(number, 0);
    });
}

TEST_F(dispositions, a_plain_callable_may_return_it) {
    int made = 0;
    auto const fetch = [&] { return ++made < 3 ? unavailable(std::to_string(made)) : rpc_status(); };
    EXPECT_EQ(retry(fetch, retry_policy().backoff(constant(1us))), rpc_status());
    EXPECT_EQ(made, 3);

    made = 0;
    EXPECT_EQ(retry(fetch, retry_policy().backoff(constant(1us)).max_attempts(2)), unavailable("2"));
    auto const gate = std::make_shared<recording_gate>();
    gate->refusals = {let_in, no_idea, no_idea};
    made = 0;
    EXPECT_EQ(retry(fetch, retry_policy().backoff(constant(1us)).gate(gate)), unavailable("1"));
    EXPECT_EQ(retry(fetch, retry_policy().gate(gate)), local_status(error::circuit_open));
}

TEST_F(dispositions, fail_if_judges_the_values_behind_it) {
    calls.statuses = {unavailable()};
    auto const judged = fail_if(call(), [](int number) { return number < 4; });
    async_retry(io, judged, policy.max_attempts(9), handler());
    time.run();
    EXPECT_EQ(status, rpc_status());
    EXPECT_EQ(value, 4);

    calls = {{unavailable()}};
    async_retry(io, fail_if(call(), [](int) { return true; }).or_error(), policy, handler());
    time.run();
    EXPECT_EQ(status, local_status(error::exhausted));
    EXPECT_EQ(value, 3);
}

TEST_F(dispositions, a_rejected_value_forgets_the_failure_before_it) {
    auto const gate = std::make_shared<recording_gate>();
    gate->refusals = {let_in, let_in, no_idea};
    calls.statuses = {{2, "old", error::circuit_open}};
    async_retry(io, fail_if(call(), [](int) { return true; }), policy.gate(gate), handler());
    time.run();
    EXPECT_EQ(status, local_status(error::circuit_open));
}

TEST_F(dispositions, a_step_before_each_retry_ends_with_one) {
    calls.statuses = {unavailable()};
    auto const stepped = before_retry(call(), [this]() -> asio::awaitable<rpc_status> {
        co_await asio::post(io, asio::use_awaitable);
        co_return unavailable("step");
    });
    run([&]() -> asio::awaitable<void> {
        auto const [last, number] =
            co_await async_retry(io, stepped, policy, asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(last, local_status(rpc_code(14)));
        EXPECT_EQ(number, 0);
        EXPECT_EQ(calls.made, 1u);
    });
}

TEST_F(dispositions, a_permanent_one_of_a_step_is_not_retried) {
    calls.statuses = {unavailable()};
    int steps = 0;
    auto const stepped = before_retry(call(), [&]() -> asio::awaitable<rpc_status> {
        ++steps;
        co_return rpc_status{3, "wrong argument", {}};
    });
    run([&]() -> asio::awaitable<void> {
        auto const [last, number] =
            co_await async_retry(io, stepped, policy, asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(last, local_status(rpc_code(3)));
        EXPECT_EQ(number, 0);
    });
    EXPECT_EQ(steps, 1);
}

TEST_F(dispositions, injected_faults_are_made) {
    auto const faults = std::make_shared<fault_plan>(fault_options{.errors = {1, refused()}});
    faults->enable();
    async_retry(io, inject(call(), faults), policy, handler());
    time.run();
    EXPECT_EQ(status, local_status(refused()));
    EXPECT_EQ(calls.made, 0u);
}

TEST_F(dispositions, an_endpoint_hears_of_its_class) {
    auto const set = std::make_shared<endpoint_set<int>>(
        std::vector{1, 2}, endpoint_options{.breaker = circuit_breaker_options{.consecutive = 1}});
    calls.statuses = {unavailable(), {3, "wrong argument", {}}};
    auto const ask = on_endpoint(
        [this](int, auto&& token) { return calls.async_call(io, std::forward<decltype(token)>(token)); }, set);
    async_retry(io, ask, policy, handler());
    time.run();
    EXPECT_EQ(status, (rpc_status{3, "wrong argument", {}}));
    int open = 0;
    set->for_each([&](int, endpoint_status const& of) { open += of.state == breaker_state::open; }, time.now());
    EXPECT_EQ(open, 1); // a permanent one is an answer
}

TEST_F(dispositions, a_hedge_ends_with_the_last_failure) {
    calls.statuses = {unavailable("one"), unavailable("two")};
    async_hedge(io, call(), hedge_policy(1h).max_attempts(2), handler());
    time.run();
    EXPECT_EQ(status, unavailable("two"));

    calls = {{unavailable("one")}};
    async_hedge(io, call(), hedge_policy(1h).max_attempts(2), handler());
    time.run();
    EXPECT_EQ(status, rpc_status());

    auto const gate = std::make_shared<recording_gate>();
    gate->refusals = {let_in, no_idea};
    calls = {{unavailable("before the refusal")}};
    async_hedge(io, call(), hedge_policy(1h).max_attempts(2).gate(gate), handler());
    time.run();
    EXPECT_EQ(status, unavailable("before the refusal"));
}

// --- costs

TEST_F(dispositions, none_allocates_more_than_an_error_code) {
    memory_of_handlers with, without;
    calls.statuses.assign(3, unavailable("")); // a text would be on the heap
    script played = script::failures(3);
    async_retry(io, call(), policy,
                asio::bind_allocator(counting_allocator<void>(with), [](rpc_status const&, int) {}));
    time.run();
    async_retry(
        io, [&](auto&& token) { return async_scripted(io, played, std::forward<decltype(token)>(token)); },
        policy, asio::bind_allocator(counting_allocator<void>(without), [](error_code, int) {}));
    time.run();
    EXPECT_EQ(calls.made, played.attempts);
    EXPECT_GT(with.made, 0u);
    EXPECT_EQ(with.made, without.made);
}

TEST_F(dispositions, those_that_asio_knows_keep_their_size_in_an_operation) {
    EXPECT_TRUE(std::is_empty_v<detail::last_failure<detail::completion<void(error_code, std::string)>>>);
    EXPECT_TRUE(std::is_empty_v<detail::last_failure<detail::completion<void(std::exception_ptr, int)>>>);
}

#if BOOST_ASIO_VERSION >= 103300
// --- by Asio's traits

template <typename Token>
auto async_fault(asio::io_context& io, script& played, Token&& token) {
    return asio::async_initiate<Token, void(asio_fault, int)>(
        [](auto handler, asio::io_context* context, script* p) {
            asio_fault fault(p->next());
            fault.extra = static_cast<int>(p->attempts);
            post_completion(*context, std::move(handler), fault, fault.extra);
        },
        token, &io, &played);
}

TEST_F(dispositions, decision_72_asios_traits_are_enough) {
    script played = script::failures(3);
    auto const operation = [&](auto&& token) {
        return async_fault(io, played, std::forward<decltype(token)>(token));
    };
    std::optional<asio_fault> got;
    async_retry(io, operation, policy.retry_if([](std::exception_ptr e) { return code_of(e) == refused(); }),
                [&](asio_fault fault, int) { got = fault; });
    time.run();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->code, refused());
    EXPECT_EQ(got->extra, 3); // unchanged
    ASSERT_EQ(retries.size(), 2u);
    EXPECT_EQ(retries[0].error, refused());
    EXPECT_TRUE(retries[0].exception);
    EXPECT_EQ(retries[0].kind, failure_kind::transient);

    async_retry(io, operation, policy.total_timeout(duration::zero()),
                [&](asio_fault fault, int) { got = fault; });
    time.run();
    EXPECT_EQ(got->code, timed_out());
    EXPECT_EQ(got->extra, 0);
}

TEST_F(dispositions, co_await_throws_as_asio_does) {
    script played = script::failures(3);
    auto const operation = [&](auto&& token) {
        return async_fault(io, played, std::forward<decltype(token)>(token));
    };
    error_code code;
    int number = 0;
    run([&]() -> asio::awaitable<void> {
        try {
            co_await async_retry(operation, policy);
        } catch (boost::system::system_error const& e) {
            code = e.code();
        }
        number = co_await async_retry(operation, policy, asio::use_awaitable);
    });
    EXPECT_EQ(code, refused());
    EXPECT_EQ(number, 4);

    auto const fetch = [&]() -> asio::awaitable<std::tuple<asio_fault, int>> {
        co_return co_await async_fault(io, played, asio::as_tuple(asio::use_awaitable));
    };
    played = script::failures(2);
    run([&]() -> asio::awaitable<void> {
        number = co_await async_retry(fetch, policy, asio::use_awaitable);
        EXPECT_EQ(number, 3);
        played = script::failures(9);
        try {
            co_await async_retry(fetch, policy, asio::use_awaitable);
            ADD_FAILURE() << "nothing thrown";
        } catch (boost::system::system_error const& e) {
            EXPECT_EQ(e.code(), refused());
        }
    });
}
#endif

} // namespace
} // namespace asio_retry::test
