#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include "support/coroutine_ends.hpp"
#include "support/failing_allocation.hpp"
#include "support/hooked_executor.hpp"
#include "support/policies.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

// Operations that a coroutine awaits, when there is no memory; and how much they allocate.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

// --- a coroutine goes on, and is as it was before

// An operation moves to a strand of the library if several threads may run its context.
using any_executor = asio::any_io_executor;
using threads = asio::io_context::executor_type;

/// A coroutine that awaits something whose n-th allocation fails. On threads nothing waits.
template <typename Executor>
struct session {
    using done = asio::awaitable<void, Executor>;
    using form = std::function<done(session&)>;

    bool const limited;
    bool const can_be_cancelled;
    std::uint64_t const nth;
    script played = script::failures(2);
    retry_report report;
    asio::cancellation_signal signal;
    asio::io_context io;
    asio::io_context waits;
    std::optional<virtual_time> time;
    retry_scope scope{io};
    asio::steady_timer timer{io, asio::steady_timer::time_point::max()};
    std::optional<failing_allocation> failing;
    bool was_short_of_memory = false;
    bool is_at_home = false;
    bool has_ended = false;
    error_code wait_ended;

    session(bool limits, bool cancellable, bool is_virtual, std::uint64_t number)
        : limited(limits)
        , can_be_cancelled(cancellable)
        , nth(number) {
        scheduler(io);
        scheduler(waits);
        if (is_virtual)
            time.emplace(io);
    }

    retry_policy policy() const {
        auto const all = every_100ms().backoff(constant(time ? 100ms : 0ms));
        return limited ? all.attempt_timeout(1h).total_timeout(2h) : all;
    }
    hedge_policy hedge() const { return hedge_policy(time ? 10ms : 0ms).max_attempts(3); }

    done attempt() {
        if (error_code const ec = played.next())
            throw boost::system::system_error(ec);
        co_return;
    }
    auto operation() {
        return [this] { return attempt(); };
    }

    void end_shortage() {
        was_short_of_memory = failing->happened();
        failing.reset();
    }

    /// Awaits, and then waits for somebody who cancels that.
    done run(form const& await) {
        auto const executor = co_await asio::this_coro::executor;
        failing.emplace(memory::global, shortage::once, nth);
        try {
            co_await await(*this);
        } catch (...) { // of which the operation was told
        }
        end_shortage();
        is_at_home = co_await asio::this_coro::executor == executor;
        auto const [ec] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable_t<Executor>()));
        wait_ended = ec;
    }

    void play(form const& await) {
        auto const slot = can_be_cancelled ? signal.slot() : asio::cancellation_slot();
        asio::co_spawn(Executor(io.get_executor()), run(await),
                       asio::bind_cancellation_slot(slot, [this](std::exception_ptr) { has_ended = true; }));
        poll();
        if (failing)
            end_shortage();
        EXPECT_TRUE(is_at_home) << "it was lost, or has another executor than before";
        EXPECT_FALSE(has_ended);
        if (can_be_cancelled)
            signal.emit(asio::cancellation_type::terminal);
        else
            timer.cancel();
        poll();
        EXPECT_TRUE(has_ended) << "it cannot be cancelled any more";
        EXPECT_EQ(wait_ended, aborted());
        timer.cancel();
        poll();
    }

    /// What has no memory in the context itself is done again.
    void poll() {
        for (int i = 0; i != 10; ++i) {
            try {
                if (time)
                    time->advance(1h);
                for (asio::io_context* const each : {&io, &waits, &io}) {
                    each->restart();
                    each->poll();
                }
                return;
            } catch (std::bad_alloc const&) {
            }
        }
    }
};

template <typename Executor>
struct awaited_form {
    std::string name;
    typename session<Executor>::form await;
    bool has_limits = true;
};

template <typename Executor>
std::vector<awaited_form<Executor>> all_forms() {
    using in = session<Executor>&;
    using done = asio::awaitable<void, Executor>;
    std::vector<awaited_form<Executor>> all = {
        {"plain", [](in s) -> done { co_await async_retry(s.operation(), s.policy()); }},
        {"scope", [](in s) -> done { co_await async_retry(s.scope, s.operation(), s.policy()); }},
        {"waiting_elsewhere",
         [](in s) -> done { co_await async_retry(s.waits, s.operation(), s.policy().max_attempts(1)); }},
        {"report",
         [](in s) -> done { co_await async_retry(with_report(s.operation(), s.report), s.policy()); }},
        {"report_in_scope",
         [](in s) -> done { co_await async_retry(s.scope, with_report(s.operation(), s.report), s.policy()); }},
        {"hooks",
         [](in s) -> done {
             auto hooked = with_hooks(s.operation(), [](retry_event const&) {}, [](stop_reason) {});
             co_await async_retry(with_report(std::move(hooked), s.report), s.policy());
         }},
        {"judged",
         [](in s) -> done {
             auto const answer = [&s]() -> asio::awaitable<int, Executor> {
                 co_await s.attempt();
                 co_return 1;
             };
             co_await async_retry(fail_if(answer, [](int) { return false; }), s.policy());
         }},
        {"step",
         [](in s) -> done {
             auto const step = []() -> done { co_return; };
             co_await async_retry(before_retry(s.operation(), step), s.policy());
         }},
        {"hedge_in_scope", [](in s) -> done { co_await async_hedge(s.scope, s.operation(), s.hedge()); },
         false}};
    if (std::is_same_v<Executor, threads>) // otherwise it has a strand
        all.push_back({"hedge", [](in s) -> done { co_await async_hedge(s.operation(), s.hedge()); }, false});
    return all;
}

template <typename Executor>
using trial_of = std::tuple<awaited_form<Executor>, bool, bool>;

/// In virtual time a context has one thread.
template <typename Executor>
void expect_it_is_as_before(trial_of<Executor> const& given, bool is_virtual) {
    auto const& [form, limited, cancellable] = given;
    if (limited && !form.has_limits)
        return;
    std::uint64_t nth = 0;
    for (bool was_short = true; was_short;) {
        SCOPED_TRACE(++nth);
        ASSERT_LT(nth, 200u);
        session<Executor> in(limited, cancellable, is_virtual, nth);
        in.play(form.await);
        was_short = in.was_short_of_memory;
    }
    EXPECT_GT(nth, 1u) << "nothing was allocated";
}

auto const name_of_trial = [](auto const& tested) {
    auto const& [form, limited, cancellable] = tested.param;
    return form.name + (limited ? "_with_limits" : "") + (cancellable ? "_cancellable" : "");
};

class coroutine_of_one_thread : public testing::TestWithParam<trial_of<any_executor>> {};
class coroutine_on_a_strand : public testing::TestWithParam<trial_of<any_executor>> {};
class coroutine_of_threads : public testing::TestWithParam<trial_of<threads>> {};

TEST_P(coroutine_of_one_thread, decision_59_is_as_before_whichever_allocation_failed) {
    expect_it_is_as_before<any_executor>(GetParam(), true);
}
TEST_P(coroutine_on_a_strand, decision_59_is_as_before_whichever_allocation_failed) {
    expect_it_is_as_before<any_executor>(GetParam(), false);
}
TEST_P(coroutine_of_threads, decision_59_is_as_before_whichever_allocation_failed) {
    expect_it_is_as_before<threads>(GetParam(), false);
}

INSTANTIATE_TEST_SUITE_P(forms, coroutine_of_one_thread,
                         testing::Combine(testing::ValuesIn(all_forms<any_executor>()), testing::Bool(),
                                          testing::Bool()),
                         name_of_trial);
INSTANTIATE_TEST_SUITE_P(forms, coroutine_on_a_strand,
                         testing::Combine(testing::ValuesIn(all_forms<any_executor>()), testing::Bool(),
                                          testing::Bool()),
                         name_of_trial);
INSTANTIATE_TEST_SUITE_P(forms, coroutine_of_threads,
                         testing::Combine(testing::ValuesIn(all_forms<threads>()), testing::Bool(),
                                          testing::Bool()),
                         name_of_trial);

// --- what a scope has to tell

// Of the coroutine alone, or of one that has succeeded, where the scope has told another before, with a hook.
TEST(awaited_notices, decision_39_come_again_and_keep_nobody) {
    for (bool const has_succeeded : {false, true}) {
        bool fails = true;
        for (std::uint64_t nth = 1; fails; ++nth) {
            SCOPED_TRACE(nth);
            asio::io_context io(1);
            retry_scope scope(io);
            pending_attempts attempts(io), others(io);
            completion_record record, other;
            std::function<void()> hook;
            if (has_succeeded)
                async_retry(
                    scope, [&](auto token) { return others.async_attempt(std::move(token)); }, every_100ms(),
                    asio::bind_executor(hooked_executor(io.get_executor(), hook), other.handler()));
            await_attempts(io.get_executor(), attempts, every_100ms(), record, scope);
            io.poll();
            if (has_succeeded) {
                attempts.on_cancel = nullptr;
                attempts.complete({});
            }
            std::optional<failing_allocation> failing;
            hook = [&] { // the coroutine is marked, and waits to be told before it ends
                hook = nullptr;
                io.restart();
                io.poll();
                EXPECT_EQ(record.count, 0);
                failing.emplace(memory::global, shortage::once, nth);
            };
            auto const cancel = [&] {
                try {
                    scope.cancel();
                    return true;
                } catch (std::bad_alloc const&) {
                    return false;
                }
            };
            if (!has_succeeded)
                failing.emplace(memory::global, shortage::once, nth);
            bool const has_told = cancel();
            fails = failing->happened();
            failing.reset();
            EXPECT_TRUE(has_succeeded || has_told == !fails);
            io.restart();
            io.poll();
            EXPECT_EQ(record.count, has_succeeded || has_told);
            EXPECT_TRUE(cancel());
            io.restart();
            io.run();
            EXPECT_EQ(record.count, 1);
            EXPECT_EQ(record.error, has_succeeded ? error_code() : aborted());
            EXPECT_EQ(other.error, has_succeeded ? aborted() : error_code());
            EXPECT_EQ(scope.pending(), 0u);
        }
    }
}

// --- what it allocates where several threads may run

template <typename Executor>
double allocations_of_one(Executor const& executor, asio::io_context& io, retry_scope* scope) {
    auto const first_tries = [&](int count) -> asio::awaitable<void> {
        auto const turn = []() -> asio::awaitable<void> { co_await asio::post(asio::use_awaitable); };
        while (count-- != 0)
            if (scope)
                co_await async_retry(*scope, turn, retry_policy());
            else
                co_await async_retry(turn, retry_policy().attempt_timeout(1h));
    };
    auto const run = [&](int count) {
        asio::co_spawn(executor, first_tries(count), [](std::exception_ptr const& e) { EXPECT_FALSE(e); });
        io.run();
        io.restart();
    };
    run(10); // to warm up
    failing_allocation const none(memory::global, shortage::once, std::numeric_limits<std::uint64_t>::max());
    run(1000);
    return static_cast<double>(none.count()) / 1000;
}

// An attempt in a coroutine of its own took seven, and five more for each failure.
TEST(awaited_costs, are_those_of_a_strand_and_no_more_in_a_scope_than_with_a_time_limit) {
    asio::io_context io;
    retry_scope scope(io);
    double const limited_on_strand = allocations_of_one(asio::make_strand(io), io, nullptr);
    double const limited_on_threads = allocations_of_one(io.get_executor(), io, nullptr);
    double const scoped_on_threads = allocations_of_one(io.get_executor(), io, &scope);
    double const strand_itself = BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE != 0 ? 4 : 6;
    EXPECT_LT(limited_on_threads, limited_on_strand + strand_itself);
    EXPECT_LT(scoped_on_threads, limited_on_threads + 0.1);
}

} // namespace
} // namespace asio_retry::test
