#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/coroutine_ends.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using cancellation = asio::cancellation_type;

// At each point, by each means and for each kind of attempt: the cancellation_matrix. Here is what it leaves
// out: attempts that coroutines spawn, and what attempts do to their own cancellation state.

/// How attempts are awaited: directly, without a time limit and with one; spawned because the executor does not
/// say that it runs one function at a time; in a scope.
enum class awaitable_style { direct, limited, limited_on_strand, limited_and_spawned, scoped };

class awaitable_cancellation : public testing::TestWithParam<awaitable_style>,
                               protected coroutine_ends,
                               protected in_virtual_time {
protected:
    asio::cancellation_signal signal;
    retry_scope scope{io.get_executor()};
    pending_attempts attempts{io};
    std::vector<stop_reason> reasons;

    using operation_type = std::function<asio::awaitable<int>()>;
    operation_type operation = [this]() -> asio::awaitable<int> {
        co_return co_await attempts.async_attempt(asio::use_awaitable);
    };
    retry_policy policy = every_100ms(5).on_give_up([this](stop_reason r) { reasons.push_back(r); });

    asio::awaitable<int> retry_of(operation_type& tried) {
        switch (GetParam()) {
        case awaitable_style::direct:
            co_return co_await async_retry([&] { return tried(); }, policy);
        case awaitable_style::limited:
        case awaitable_style::limited_on_strand:
        case awaitable_style::limited_and_spawned:
            co_return co_await async_retry([&] { return tried(); }, policy.total_timeout(1h));
        case awaitable_style::scoped:
            co_return co_await async_retry(scope, [&] { return tried(); }, policy);
        }
        co_return 0;
    }

    asio::awaitable<void> retry() { co_await retry_of(operation); }

    void start_and_cancel_with_cancellation_disabled() {
        operation = [this]() -> asio::awaitable<int> {
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            co_return co_await attempts.async_attempt(asio::use_awaitable);
        };
        start();
        signal.emit(cancellation::terminal);
    }

    /// Attempts that end inside emit once `ends()`, which is asked whenever they are told, says so.
    template <typename Ends>
    void ends_where_it_is_told(Ends ends) {
        operation = [this, ends]() -> asio::awaitable<int> {
            co_await asio::async_initiate<asio::use_awaitable_t<> const, void(error_code)>(
                [this, ends](auto handler) {
                    ++attempts.started;
                    auto slot = asio::get_associated_cancellation_slot(handler);
                    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
                    slot.assign([ends, shared](cancellation) mutable {
                        if (!ends())
                            return;
                        auto own = std::move(*shared); // the slot is cleared meanwhile
                        std::move(own)(aborted());
                    });
                },
                asio::use_awaitable);
            co_return 0;
        };
    }

    asio::any_io_executor executor() {
        if (GetParam() == awaitable_style::limited_on_strand)
            return asio::make_strand(io);
        if (GetParam() == awaitable_style::limited_and_spawned)
            return asio::require(io.get_executor(), asio::execution::blocking.never);
        return io.get_executor();
    }

    void start(asio::awaitable<void> caller) {
        asio::co_spawn(executor(), std::move(caller), asio::bind_cancellation_slot(signal.slot(), note_end()));
        time.advance(0s);
    }
    void start() { start(retry()); }

    void expect_cancelled(std::size_t attempts_made) {
        time.advance(0s);
        EXPECT_EQ(completions, 1);
        EXPECT_EQ(result, aborted());
        EXPECT_EQ(attempts.started, attempts_made);
        EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::cancelled));
        EXPECT_EQ(scheduler(io).pending(), 0u);
    }
};

TEST_P(awaitable_cancellation, in_an_attempt) {
    start();
    signal.emit(cancellation::terminal);
    expect_cancelled(1);
    EXPECT_THAT(attempts.cancellations, testing::ElementsAre(cancellation::terminal));
}

TEST_P(awaitable_cancellation, in_a_later_attempt) {
    start();
    attempts.complete(refused());
    time.advance(100ms);
    attempts.complete(refused());
    time.advance(100ms);
    EXPECT_EQ(attempts.started, 3u);
    signal.emit(cancellation::terminal);
    expect_cancelled(3);
}

TEST_P(awaitable_cancellation, in_an_attempt_that_succeeds_all_the_same) {
    attempts.on_cancel = [](pending_attempts& self, cancellation) { self.complete({}, 7); };
    start();
    signal.emit(cancellation::terminal);
    time.advance(0s);
    EXPECT_EQ(completions, 1);
    EXPECT_FALSE(result);
}

TEST_P(awaitable_cancellation, between_the_end_of_an_attempt_and_the_wait) {
    start();
    attempts.complete(refused());
    signal.emit(cancellation::terminal);
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, while_waiting) {
    start();
    attempts.complete(refused());
    time.advance(50ms);
    EXPECT_EQ(scheduler(io).pending(), 1u);
    signal.emit(cancellation::terminal);
    expect_cancelled(1);
    EXPECT_EQ(time.now() - begin, 50ms);
}

// --- decision 34: what an attempt does to its cancellation state does not make the operation forget

/// Notices that it is to stop, says goodbye, for which it must be cancelled no longer, and fails.
template <typename... Filter>
asio::awaitable<int> clean_up(pending_attempts& attempts, Filter... filter) {
    bool told = false;
    try {
        co_await attempts.async_attempt(asio::use_awaitable);
    } catch (boost::system::system_error const&) {
        told = true;
    }
    if (told) {
        co_await asio::this_coro::reset_cancellation_state(filter...);
        co_await asio::post(asio::use_awaitable);
    }
    throw std::runtime_error("said goodbye");
}

TEST_P(awaitable_cancellation, decision_34_an_attempt_that_resets_its_state_to_clean_up) {
    operation = [this] { return clean_up(attempts); };
    start();
    signal.emit(cancellation::terminal);
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, decision_34_an_attempt_that_lets_more_in_to_clean_up) {
    operation = [this] { return clean_up(attempts, asio::enable_total_cancellation()); };
    start();
    signal.emit(cancellation::terminal);
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, decision_34_an_attempt_that_disables_cancellation_to_clean_up) {
    operation = [this] { return clean_up(attempts, asio::disable_cancellation()); };
    start();
    attempts.complete(refused());
    time.advance(100ms);
    signal.emit(cancellation::terminal);
    expect_cancelled(2);
}

TEST_P(awaitable_cancellation, decision_34_an_attempt_during_which_cancellation_is_disabled) {
    start_and_cancel_with_cancellation_disabled();
    EXPECT_TRUE(attempts.cancellations.empty());
    EXPECT_EQ(completions, 0) << "the attempt goes on";
    attempts.complete(refused());
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, decision_12_a_success_while_cancellation_is_disabled_wins) {
    start_and_cancel_with_cancellation_disabled();
    attempts.complete({}, 7);
    time.advance(0s);
    EXPECT_EQ(completions, 1);
    EXPECT_FALSE(result);
}

TEST_P(awaitable_cancellation, decision_34_a_weaker_request_after_the_one_that_counts_while_waiting) {
    start();
    attempts.complete(refused());
    time.advance(50ms);
    signal.emit(cancellation::terminal);
    signal.emit(cancellation::total);
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, decision_34_a_weaker_request_after_the_one_that_counts_in_an_attempt) {
    attempts.on_cancel = nullptr;
    start();
    signal.emit(cancellation::terminal);
    signal.emit(cancellation::total);
    attempts.complete(refused());
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, decision_34_a_weaker_request_after_the_one_that_counts_while_a_retry_is_queued) {
    policy = policy.backoff(constant(0ms));
    start();
    attempts.complete(refused());
    io.restart();
    while (scheduler(io).now() == begin && attempts.pending())
        io.run_one();
    signal.emit(cancellation::terminal);
    signal.emit(cancellation::total);
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, decision_34_a_weaker_request_after_the_one_that_counts_inside_a_hook) {
    policy = policy.on_retry([this](retry_event const&) {
        signal.emit(cancellation::terminal);
        signal.emit(cancellation::total);
    });
    start();
    attempts.complete(refused());
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, decision_34_alternatives_end_when_the_other_one_has) {
    policy = policy.unlimited_attempts();
    operation = [this] { return clean_up(attempts); };
    asio::steady_timer timer(io, asio::steady_timer::time_point::max());
    auto const either = [&]() -> asio::awaitable<void> {
        using namespace asio::experimental::awaitable_operators;
        co_await (retry_of(operation) || timer.async_wait(asio::as_tuple(asio::use_awaitable)));
    };
    start(either());
    timer.cancel();
    time.advance(1h);
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(attempts.started, 1u);
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::cancelled));
}

TEST_P(awaitable_cancellation, decision_34_an_inner_retry_does_not_outlive_the_limit_of_the_outer_one) {
    operation = [this] { return clean_up(attempts); };
    int outer_attempts = 0;
    auto const inner = [&] {
        ++outer_attempts;
        return retry_of(operation);
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        co_await async_retry(inner, every_100ms(5).max_attempts(2).attempt_timeout(1s));
    };
    policy = policy.unlimited_attempts();
    start(caller());
    time.advance(1h);
    EXPECT_EQ(outer_attempts, 2);
    EXPECT_EQ(attempts.started, 2u);
    EXPECT_EQ(result, timed_out());
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::cancelled, stop_reason::cancelled));
}

TEST_P(awaitable_cancellation, decision_34_a_loop_of_retries_ends) {
    operation = [this] { return clean_up(attempts); };
    auto const caller = [&]() -> asio::awaitable<void> {
        error_code failure;
        while (failure != aborted()) {
            try {
                co_await retry_of(operation);
            } catch (boost::system::system_error const& e) {
                failure = e.code();
            }
        }
        throw boost::system::system_error(failure);
    };
    start(caller());
    signal.emit(cancellation::terminal);
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, decision_34_the_caller_finds_its_own_state_as_it_left_it) {
    operation = [this]() -> asio::awaitable<int> {
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_return co_await attempts.async_attempt(asio::use_awaitable);
    };
    cancellation seen = cancellation::none;
    bool throws = false;
    auto const caller = [&]() -> asio::awaitable<void> {
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        try {
            co_await retry_of(operation);
        } catch (boost::system::system_error const&) {
        }
        throws = co_await asio::this_coro::throw_if_cancelled();
        auto const state = co_await asio::this_coro::cancellation_state;
        seen = state.cancelled();
        EXPECT_FALSE(state.slot().has_handler());
    };
    start(caller());
    signal.emit(cancellation::partial);
    attempts.complete(refused());
    time.advance(0s);
    EXPECT_EQ(seen, cancellation::partial);
    EXPECT_TRUE(throws);
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::cancelled));
}

TEST_P(awaitable_cancellation, decision_34_each_attempt_finds_the_state_of_a_coroutine_of_its_own) {
    std::vector<bool> throws;
    operation = [&]() -> asio::awaitable<int> {
        throws.push_back(co_await asio::this_coro::throw_if_cancelled());
        co_await asio::this_coro::throw_if_cancelled(false);
        throw std::runtime_error("failure");
        co_return 0;
    };
    start();
    time.run();
    EXPECT_THAT(throws, testing::ElementsAre(true, true, true, true, true));
}

TEST_P(awaitable_cancellation, decision_34_as_a_tuple_and_judged) {
    operation = [this] { return clean_up(attempts); };
    auto const caller = [&]() -> asio::awaitable<void> {
        auto judged = fail_if([&] { return retry_of(operation); }, [](int) { return true; });
        auto [thrown, value] =
            co_await async_retry(judged, every_100ms(5), asio::as_tuple(asio::use_awaitable));
        std::rethrow_exception(thrown);
    };
    start(caller());
    signal.emit(cancellation::terminal);
    expect_cancelled(1);
}

TEST_P(awaitable_cancellation, decision_34_inside_an_attempt_that_never_waits) {
    operation = [this]() -> asio::awaitable<int> {
        ++attempts.started;
        signal.emit(cancellation::terminal);
        throw std::runtime_error("failure");
        co_return 0;
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        co_await asio::post(asio::use_awaitable);
        co_await retry_of(operation);
    };
    start(caller());
    expect_cancelled(1);
}

// An attempt that ends where it is told: its slot is in use until all have been told.
TEST_P(awaitable_cancellation, decision_35_an_attempt_that_ends_inside_emit) {
    ends_where_it_is_told([] { return true; });
    start();
    signal.emit(cancellation::terminal);
    EXPECT_EQ(completions, 0) << "never completed inside emit";
    expect_cancelled(1);
}

// Whoever stops everything may do so where it is told to stop itself.
TEST_P(awaitable_cancellation, decision_18_an_attempt_that_cancels_again_where_it_is_told) {
    ends_where_it_is_told([this, is_told = false]() mutable {
        if (std::exchange(is_told, true))
            return true;
        signal.emit(cancellation::terminal);
        return false;
    });
    start();
    signal.emit(cancellation::terminal);
    expect_cancelled(1);
}

INSTANTIATE_TEST_SUITE_P(styles, awaitable_cancellation,
                         testing::Values(awaitable_style::direct, awaitable_style::limited,
                                         awaitable_style::limited_on_strand,
                                         awaitable_style::limited_and_spawned, awaitable_style::scoped));

// Not where attempts are spawned: what makes them does not know the state of the caller.
class cancelled_caller : public awaitable_cancellation {};

// What spawns attempts hears of a cancellation by its slot alone, and so begins, as whatever else Asio lets a
// coroutine await.
TEST_P(cancelled_caller, decision_15_a_caller_that_was_cancelled_before_makes_no_attempt) {
    auto const caller = [&]() -> asio::awaitable<void> {
        co_await asio::this_coro::throw_if_cancelled(false);
        signal.emit(cancellation::terminal);
        co_await retry_of(operation);
    };
    start(caller());
    if (!awaits_itself)
        signal.emit(cancellation::terminal);
    expect_cancelled(awaits_itself ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(styles, cancelled_caller,
                         testing::Values(awaitable_style::direct, awaitable_style::limited,
                                         awaitable_style::limited_on_strand, awaitable_style::scoped));

// Two waits that are over when the context looks: the first one's attempt cancels the second, whose
// continuation is queued.
TEST(async_retry_cancellation, decision_15_when_the_wait_is_over_and_queued) {
    for (cancellation const emitted :
         {cancellation::terminal, cancellation::partial, cancellation::total, cancellation::all}) {
        asio::io_context io;
        asio::cancellation_signal signal;
        script first = script::failures(1), second = script::failures(1);
        completion_record first_record, second_record;
        auto const policy = every_100ms(5).backoff(constant(20ms));
        auto const cancelling = [&](auto token) {
            if (first.attempts == 1)
                signal.emit(emitted);
            return async_scripted(io, first, std::move(token));
        };
        async_retry(io, cancelling, policy, first_record.handler());
        async_retry(
            io, [&](auto token) { return async_scripted(io, second, std::move(token)); }, policy,
            asio::bind_cancellation_slot(signal.slot(), second_record.handler()));
        while (scheduler(io).pending() != 2)
            ASSERT_EQ(io.run_one(), 1u);
        auto const both_over = scheduler(io).now() + 20ms;
        while (scheduler(io).now() <= both_over) {
        }
        io.run();
        EXPECT_FALSE(first_record.error);
        EXPECT_EQ(second_record.count, 1);
        bool const ignored = emitted == cancellation::total;
        EXPECT_EQ(second_record.error, ignored ? error_code() : aborted());
        EXPECT_EQ(second.attempts, ignored ? 2u : 1u);
    }
}

// An attempt that completes inside its slot handler: the handler still runs later, never inside emit.
TEST(async_retry_cancellation, decision_13_attempt_that_completes_inside_emit) {
    asio::io_context io;
    asio::cancellation_signal signal;
    completion_record record;
    auto const operation = [](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, int)>(
            [](auto handler) {
                auto slot = asio::get_associated_cancellation_slot(handler);
                auto shared = std::make_shared<decltype(handler)>(std::move(handler));
                slot.assign([shared](cancellation) { std::move (*shared)(aborted(), 0); });
            },
            token);
    };
    async_retry(io, operation, every_100ms(5), asio::bind_cancellation_slot(signal.slot(), record.handler()));
    signal.emit(cancellation::terminal);
    EXPECT_EQ(record.count, 0);
    io.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.error, aborted());
}

// An attempt may put another cancellation state in place of the coroutine's, as clean-up code does.
TEST(async_retry_cancellation, direct_awaitable_whose_attempt_replaces_the_cancellation_state) {
    struct large_filter {
        std::array<std::byte, 500> padding{};
        asio::cancellation_type_t operator()(asio::cancellation_type_t t) const noexcept { return t; }
    };
    asio::io_context io;
    virtual_time time(io);
    asio::cancellation_signal signal;
    int attempts = 0;
    error_code result;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto const operation = [&]() -> asio::awaitable<void> {
                ++attempts;
                co_await asio::this_coro::reset_cancellation_state(large_filter());
                throw std::runtime_error("failure");
            };
            co_await async_retry(operation, every_100ms(5));
        },
        asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { result = code_of(e); }));
    time.advance(150ms);
    signal.emit(cancellation::terminal);
    time.run();
    EXPECT_EQ(attempts, 2);
    EXPECT_EQ(result, aborted());
}

// An ignored total cancellation must not make the next co_await of the direct form throw.
TEST(async_retry_cancellation, decision_16_direct_awaitable_ignores_total_after_a_failure) {
    asio::io_context io;
    virtual_time time(io);
    asio::cancellation_signal signal;
    script played = script::failures(3);
    int value = 0;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
            auto operation = [&]() -> asio::awaitable<int> {
                co_return co_await async_scripted(io, played, asio::use_awaitable);
            };
            value = co_await async_retry(operation, every_100ms(5));
        },
        asio::bind_cancellation_slot(signal.slot(), asio::detached));
    time.advance(50ms);
    signal.emit(cancellation::total);
    time.run();
    EXPECT_EQ(value, 4);
}

TEST(decision_15, cancelled_by_a_value_that_is_destroyed_before_the_wait_it_begins_none) {
    asio::io_context io;
    virtual_time time(io);
    asio::cancellation_signal signal;
    using value = std::shared_ptr<void>;
    auto const emit = [&](void*) { signal.emit(cancellation::terminal); };
    auto const operation = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, value)>(
            [&](auto handler) {
                asio::post(io, asio::append(std::move(handler), refused(), value(&io, emit)));
            },
            token);
    };
    error_code result;
    async_retry(io, operation, every_100ms(),
                asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, value const&) { result = ec; }));
    time.advance(0s);
    EXPECT_EQ(result, aborted());
}

/// A coroutine that was cancelled before it awaits an operation.
class cancelled_coroutine : public testing::Test, protected coroutine_ends {
protected:
    asio::io_context io;
    asio::cancellation_signal signal;
    script played;
    int calls = 0;

    template <typename Awaiting>
    void run(bool throws, Awaiting awaiting) {
        asio::co_spawn(
            io,
            [&]() -> asio::awaitable<void> {
                co_await asio::post(asio::deferred);
                co_await asio::this_coro::throw_if_cancelled(throws);
                signal.emit(cancellation::terminal);
                co_await awaiting();
            },
            asio::bind_cancellation_slot(signal.slot(), note_end()));
        io.run();
        io.restart();
    }
    auto call() {
        return async_retry([this] { ++calls; }, every_100ms());
    }
    auto start() {
        return async_retry([this](auto token) { return async_scripted(io, played, std::move(token)); },
                           every_100ms());
    }
};

TEST_F(cancelled_coroutine, does_not_get_to_an_operation) {
    run(true, [&] { return call(); });
    EXPECT_EQ(result, aborted());
    run(true, [&] { return start(); });
    EXPECT_EQ(result, aborted());
    EXPECT_EQ(completions, 2);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(played.attempts, 0u);
}

TEST_F(cancelled_coroutine, begins_one_that_cannot_hear_of_it_if_it_does_not_throw) {
    run(false, [&] { return call(); });
    EXPECT_FALSE(result);
    run(false, [&] { return start(); });
    EXPECT_FALSE(result);
    EXPECT_EQ(completions, 2);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(played.attempts, 1u);
}

// Decision 17: operation_aborted although nobody cancelled is not retried by default, but a predicate may say
// otherwise.
TEST(async_retry_cancellation, decision_17_unasked_abort_is_not_retried_unless_the_predicate_says_so) {
    asio::io_context io;
    virtual_time time(io);
    script played{{aborted(), aborted()}};
    completion_record record;
    std::vector<stop_reason> reasons;
    auto const policy = every_100ms(5).on_give_up([&](stop_reason r) { reasons.push_back(r); });
    auto const operation = [&](auto token) { return async_scripted(io, played, std::move(token)); };
    async_retry(io, operation, policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(played.attempts, 1u);
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::not_retryable));

    played.attempts = 0;
    async_retry(io, operation, policy.retry_if([](error_code) { return true; }), record.handler());
    time.run();
    EXPECT_FALSE(record.error);
    EXPECT_EQ(played.attempts, 3u);
}

// As Asio does for whatever a coroutine awaits.
TEST(async_retry_cancellation, of_a_callable_that_cancels_itself_begins_no_attempt) {
    asio::io_context io;
    asio::cancellation_signal signal;
    int begun = 0;
    auto const attempt = [&]() -> asio::awaitable<void> {
        ++begun;
        co_return;
    };
    auto const cancels = [&] {
        signal.emit(asio::cancellation_type::terminal);
        return attempt();
    };
    auto const caller = [&]() -> asio::awaitable<void> {
        co_await asio::post(asio::use_awaitable);
        auto const [failure] =
            co_await async_retry(cancels, every_100ms(5), asio::as_tuple(asio::use_awaitable));
        EXPECT_TRUE(failure);
    };
    asio::co_spawn(io, caller(), asio::bind_cancellation_slot(signal.slot(), asio::detached));
    io.run();
    EXPECT_EQ(begun, 0);
}

} // namespace
} // namespace asio_retry::test
