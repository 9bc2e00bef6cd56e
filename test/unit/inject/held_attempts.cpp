#include <asio_retry/inject.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/scripted_operation.hpp"
#include "support/tracking_executor.hpp"

#include <boost/asio.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

/// Attempts that are delayed or hang, of an operation that counts its calls.
class held_attempts : public testing::Test {
public:
    asio::io_context io;
    virtual_time time{io};
    time_point const begin = time.now();
    script played;
    std::vector<error_code> ends;
    retry_policy const once = retry_policy().max_attempts(1);
    retry_policy const thrice = retry_policy().max_attempts(3).backoff(constant(0s)).jitter(no_jitter());

    static std::shared_ptr<fault_plan> enabled(fault_options const& options) {
        auto const plan = std::make_shared<fault_plan>(options);
        plan->enable();
        return plan;
    }

    auto ask() {
        return
            [this](auto&& token) { return async_scripted(io, played, std::forward<decltype(token)>(token)); };
    }
    auto note() {
        return [this](error_code ec, auto...) { ends.push_back(ec); };
    }
    void start(fault_options const& options, asio::cancellation_slot slot) {
        async_retry(io, inject(ask(), enabled(options)), once, asio::bind_cancellation_slot(slot, note()));
    }
};

TEST_F(held_attempts, decision_71_end_at_once_when_cancelled_by_any_type) {
    using enum asio::cancellation_type;
    for (auto const type : {terminal, partial, total})
        for (fault_options const& options : {fault_options{.hangs = 1}, {.delays = {1, 1h, 1h}}}) {
            ends.clear();
            asio::cancellation_signal signal;
            start(options, signal.slot());
            time.advance(1s);
            EXPECT_THAT(ends, IsEmpty());
            time_point const before = time.now();
            signal.emit(type);
            EXPECT_THAT(ends, IsEmpty()) << "not inside the emission";
            time.run();
            EXPECT_THAT(ends, ElementsAre(aborted()));
            EXPECT_EQ(time.now(), before);
            EXPECT_EQ(scheduler(io).pending(), 0u);
        }
    EXPECT_EQ(played.attempts, 0u);
}

TEST_F(held_attempts, of_a_coroutine_end_when_it_is_cancelled) {
    auto const plan = enabled({.hangs = 1});
    auto fetch = [this]() -> asio::awaitable<void> { co_await ask()(asio::use_awaitable); };
    asio::cancellation_signal signal;
    asio::co_spawn(io, async_retry(inject(fetch, plan), thrice),
                   asio::bind_cancellation_slot(signal.slot(),
                                                [this](std::exception_ptr e) { ends.push_back(code_of(e)); }));
    time.advance(1s);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_THAT(ends, ElementsAre(aborted()));
    EXPECT_EQ(played.attempts, 0u);
}

TEST_F(held_attempts, are_cancelled_when_their_error_is_under_way) {
    asio::cancellation_signal signal;
    start({.errors = {1, refused()}}, signal.slot());
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_THAT(ends, ElementsAre(aborted()));
}

TEST_F(held_attempts, are_cancelled_when_their_delay_is_over) {
    asio::cancellation_signal signal;
    // A wait that ends at the same time, and began before, cancels.
    async_retry(io, inject([] { return error_code(); }, enabled({.delays = {1, 1s, 1s}})), once,
                [&](error_code) { signal.emit(asio::cancellation_type::terminal); });
    start({.delays = {1, 1s, 1s}}, signal.slot());
    time.run();
    EXPECT_THAT(ends, ElementsAre(aborted()));
    EXPECT_EQ(played.attempts, 0u);
}

TEST_F(held_attempts, pass_a_cancellation_on_once_they_are_made) {
    pending_attempts attempts(io);
    asio::cancellation_signal signal;
    async_retry(
        io,
        inject([&](auto&& token) { return attempts.async_attempt(std::forward<decltype(token)>(token)); },
               enabled({.delays = {1, 1s, 1s}})),
        once, asio::bind_cancellation_slot(signal.slot(), note()));
    time.advance(2s);
    EXPECT_EQ(attempts.started, 1u);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_THAT(attempts.cancellations, ElementsAre(asio::cancellation_type::terminal));
    EXPECT_THAT(ends, ElementsAre(aborted()));
}

TEST_F(held_attempts, never_complete_inside_the_initiating_function) {
    for (fault_options const& options : {fault_options{.errors = {1, refused()}}, {.delays = {1, 0s, 0s}}}) {
        ends.clear();
        async_retry(io, inject([] { return error_code(); }, enabled(options)), once, note());
        EXPECT_THAT(ends, IsEmpty());
        time.run();
        EXPECT_EQ(ends.size(), 1u);
    }
}

// The handler's context is another one than where the operation waits.
TEST_F(held_attempts, complete_on_the_executor_of_the_handler_and_wait_where_the_operation_does) {
    asio::io_context other;
    tracking_executor const executor(other.get_executor(), 7);
    for (fault_options const& options :
         {fault_options{.errors = {1, refused()}}, {.lost_answers = {1, refused()}}, {.delays = {1, 1h, 1h}}}) {
        int calls = 0;
        async_retry(io,
                    inject(
                        [&](auto&& token) {
                            EXPECT_EQ(running_on, options.delays.share > 0 ? 7 : 0);
                            return async_scripted(io, played, std::forward<decltype(token)>(token));
                        },
                        enabled(options)),
                    once, asio::bind_executor(executor, [&](error_code, int) {
                        ++calls;
                        EXPECT_EQ(running_on, 7);
                    }));
        for (int i = 0; i != 4; ++i) {
            time.advance(30min);
            other.restart();
            other.poll();
        }
        EXPECT_EQ(calls, 1);
    }
}

TEST_F(held_attempts, of_an_any_completion_handler_wait_where_the_operation_does) {
    asio::any_completion_handler<void(error_code, int)> handler(note());
    async_retry(io, inject(ask(), enabled({.delays = {1, 1h, 1h}})), once, std::move(handler));
    time.run();
    EXPECT_THAT(ends, ElementsAre(error_code()));
    EXPECT_EQ(time.now() - begin, 1h);
}

TEST_F(held_attempts, decision_71_all_end_when_their_plan_is_disabled) {
    auto const plan = enabled({.hangs = 1});
    for (int i = 0; i != 1000; ++i)
        async_retry(io, inject([] { return error_code(); }, plan), once, note());
    time.advance(1h);
    EXPECT_THAT(ends, IsEmpty());
    plan->disable();
    time.advance(0s);
    EXPECT_EQ(ends.size(), 1000u);
    EXPECT_EQ(time.now() - begin, 1h);
}

// --- exceptions

/// An operation whose initiating function does what `act` says with its handler.
template <typename Act>
auto initiating(Act act) {
    return [act](auto&& token) {
        return asio::async_initiate<decltype(token), void(error_code, int)>(
            [act](auto handler) { act(std::move(handler)); }, token);
    };
}

TEST_F(held_attempts, that_throw_when_they_are_made_have_failed) {
    int calls = 0;
    auto const throws = initiating([&](auto) {
        ++calls;
        throw boost::system::system_error(refused());
    });
    async_retry(io, inject(throws, enabled({.delays = {1, 1s, 1s}})), thrice, note());
    time.run();
    EXPECT_THAT(ends, ElementsAre(refused()));
    EXPECT_EQ(calls, 3);

    auto const plain = [&]() -> error_code {
        ++calls;
        throw std::runtime_error("no");
    };
    async_retry(io, inject(plain, enabled({.delays = {1, 1s, 1s}})), thrice, note());
    time.run();
    EXPECT_EQ(ends.back(), error::operation_threw);
    EXPECT_EQ(calls, 6);
}

TEST_F(held_attempts, that_throw_when_they_are_made_go_on_if_their_handler_was_kept) {
    std::function<void()> complete;
    auto const keeps = initiating([&](auto handler) {
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        complete = [shared] { std::move (*shared)(error_code(), 1); };
        throw std::runtime_error("too late");
    });
    async_retry(io, inject(keeps, enabled({.delays = {1, 1s, 1s}})), thrice, note());
    time.run();
    EXPECT_THAT(ends, IsEmpty());
    ASSERT_TRUE(complete);
    asio::post(io, complete);
    time.run();
    EXPECT_THAT(ends, ElementsAre(error_code()));
}

TEST_F(held_attempts, let_the_exception_of_a_handler_pass) {
    auto const at_once = [this](auto&& token) {
        return async_inline(played, std::forward<decltype(token)>(token));
    };
    for (fault_options const& options : {fault_options{.delays = {1, 1s, 1s}}, {.errors = {1, refused()}}}) {
        int calls = 0;
        async_retry(io, inject(at_once, enabled(options)), once, [&](error_code, int) {
            ++calls;
            throw std::runtime_error("of the handler");
        });
        EXPECT_THROW(time.run(), std::runtime_error);
        EXPECT_EQ(calls, 1);
        time.run();
    }
}

// --- other operations

TEST_F(held_attempts, decision_71_lose_against_a_hedge) {
    fault_options const second_hangs{.hangs = 0.5, .seed = 3};
    auto const plan = enabled(second_hangs);
    for (int i = 0; i != 50; ++i) {
        async_hedge(io, inject(ask(), plan), hedge_policy(20ms).max_attempts(16), note());
        async_hedge(io, inject([this] { return played.next(); }, plan), hedge_policy(20ms).max_attempts(16),
                    note());
        time.run();
    }
    EXPECT_THAT(ends, testing::Each(error_code()));
    EXPECT_EQ(ends.size(), 100u);
    EXPECT_EQ(played.attempts, 100u);
    EXPECT_GT(plan->counts().hangs, 50u);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(held_attempts, of_a_hedge_may_be_awaited_and_choose_their_servers) {
    auto const set = std::make_shared<endpoint_set<int>>(std::vector{1, 2, 3});
    auto const plan = enabled({.hangs = 0.5, .seed = 5});
    auto const fetch = [this](int) -> asio::awaitable<int> { co_return co_await ask()(asio::use_awaitable); };
    int succeeded = 0;
    for (int i = 0; i != 20; ++i)
        asio::co_spawn(io,
                       async_hedge(on_endpoint(inject(fetch, plan), set), hedge_policy(20ms).max_attempts(16)),
                       [&](std::exception_ptr e, int) { succeeded += !e; });
    time.run();
    EXPECT_EQ(succeeded, 20);
    set->for_each([](int, endpoint_status const& status) { EXPECT_EQ(status.in_flight, 0u); });
}

TEST_F(held_attempts, are_nested_in_attempts_that_are_delayed_themselves) {
    auto const plan = enabled({.delays = {1, 1s, 1s}});
    auto const outer = [&](attempt const& which, auto&& token) {
        return async_retry(which, inject(ask(), plan), once, std::forward<decltype(token)>(token));
    };
    async_retry(io, inject(outer, plan), once, note());
    time.run();
    EXPECT_THAT(ends, ElementsAre(error_code()));
    EXPECT_EQ(time.now() - begin, 2s);
}

TEST_F(held_attempts, tell_what_an_attempt_has_sent_as_the_operation_does) {
    auto const sends = [&](attempt const& which, auto&& token) {
        which.mark_sent();
        return ask()(std::forward<decltype(token)>(token));
    };
    auto const policy = thrice.retry_sent(false);
    async_retry(io, inject(sends, enabled({.errors = {1, refused()}})), policy, note());
    time.run();
    EXPECT_EQ(played.attempts, 0u);
    auto const plan = enabled({.lost_answers = {1, timed_out()}});
    async_retry(io, inject(sends, plan), policy, note());
    time.run();
    EXPECT_EQ(played.attempts, 1u) << "what is lost was sent, and is not sent again";
    EXPECT_EQ(plan->counts().attempts, 1u);
    EXPECT_THAT(ends, ElementsAre(refused(), timed_out()));
}

TEST(held_attempts_on_threads, end_by_themselves_by_cancellation_and_by_the_switch) {
    asio::thread_pool pool(4);
    auto const plan = std::make_shared<fault_plan>(
        fault_options{.errors = {0.1, refused()}, .delays = {0.4, 0ms, 2ms}, .hangs = 0.2, .seed = 9});
    plan->enable();
    std::atomic<int> ended = 0, calls = 0;
    auto const ask = [&](auto&& token) {
        ++calls;
        return asio::post(asio::append(std::forward<decltype(token)>(token), error_code()));
    };
    auto const policy = retry_policy().max_attempts(3).backoff(constant(0s)).attempt_timeout(1ms);
    retry_scope scope(pool.get_executor());
    for (int i = 0; i != 2000; ++i) {
        auto const strand = asio::make_strand(pool);
        auto const limits = i % 2 == 0 ? policy : policy.attempt_timeout(1h);
        async_retry(scope, inject(ask, plan), limits,
                    asio::bind_executor(strand, [&](error_code) { ++ended; }));
        if (i % 500 == 250)
            plan->disable();
        if (i % 500 == 300)
            plan->enable();
    }
    std::this_thread::sleep_for(5ms);
    scope.cancel();
    plan->disable();
    pool.join();
    EXPECT_EQ(ended, 2000);
    EXPECT_EQ(plan.use_count(), 1);
}

} // namespace
} // namespace asio_retry::test
