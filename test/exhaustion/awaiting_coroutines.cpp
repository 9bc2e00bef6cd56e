#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include "support/failing_allocation.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// A coroutine that awaits an operation whose n-th allocation fails goes on, and is then as it was before.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

// What several threads may run has a typed executor here, and so no strand: one of Boost 1.81 whose second
// allocation fails reads what it has never written.
using one_thread = asio::any_io_executor;
using threads = asio::io_context::executor_type;

/// A context of one thread, or one that several may run, where nothing waits.
template <typename Executor>
struct session {
    template <typename T>
    using awaitable = asio::awaitable<T, Executor>;
    using form = std::function<awaitable<void>(session&)>;

    bool const can_be_cancelled;
    std::uint64_t const nth;
    script played = script::failures(2);
    retry_report report;
    asio::cancellation_signal signal;
    asio::io_context io;
    std::optional<virtual_time> time;
    retry_scope scope{io};
    asio::steady_timer timer{io, asio::steady_timer::time_point::max()};
    std::optional<failing_allocation> failing;
    bool was_short_of_memory = false;
    bool goes_on = false;
    bool is_at_home = false;
    bool has_ended = false;
    error_code wait_ended;

    session(bool cancellable, std::uint64_t number)
        : can_be_cancelled(cancellable)
        , nth(number) {
        scheduler(io);
        if (std::is_same_v<Executor, one_thread>)
            time.emplace(io);
    }

    retry_policy policy() const { return every_100ms().backoff(constant(time ? 100ms : 0ms)); }
    retry_policy limited() const { return policy().attempt_timeout(1h).total_timeout(2h); }
    hedge_policy hedge() const { return hedge_policy(time ? 10ms : 0ms).max_attempts(3); }

    awaitable<void> attempt() {
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
    awaitable<void> run(form const& await) {
        auto const executor = co_await asio::this_coro::executor;
        failing.emplace(memory::global, shortage::once, nth);
        try {
            co_await await(*this);
        } catch (...) { // of which the operation was told
        }
        end_shortage();
        goes_on = true;
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
        EXPECT_TRUE(goes_on) << "it was lost";
        EXPECT_TRUE(is_at_home) << "it has another executor than before";
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
                io.restart();
                io.poll();
                return;
            } catch (std::bad_alloc const&) {
            }
        }
    }
};

template <typename Executor>
asio::awaitable<void, Executor> in_a_coroutine(session<Executor>& in, retry_policy policy) {
    co_await async_retry(in.operation(), std::move(policy));
}
template <typename Executor>
asio::awaitable<void, Executor> in_a_scope(session<Executor>& in) {
    co_await async_retry(in.scope, in.operation(), in.policy());
}
template <typename Executor>
asio::awaitable<void, Executor> with_a_report(session<Executor>& in, retry_policy policy) {
    co_await async_retry(with_report(in.operation(), in.report), std::move(policy));
}
template <typename Executor>
asio::awaitable<void, Executor> with_a_report_in_a_scope(session<Executor>& in) {
    co_await async_retry(in.scope, with_report(in.operation(), in.report), in.policy());
}
template <typename Executor>
asio::awaitable<void, Executor> with_own_hooks(session<Executor>& in, retry_policy policy) {
    auto hooked = with_hooks(in.operation(), [](retry_event const&) {}, [](stop_reason) {});
    co_await async_retry(with_report(std::move(hooked), in.report), std::move(policy));
}
template <typename Executor>
asio::awaitable<void, Executor> judged(session<Executor>& in, retry_policy policy) {
    auto const operation = [&in]() -> asio::awaitable<int, Executor> {
        co_await in.attempt();
        co_return 1;
    };
    co_await async_retry(fail_if(operation, [](int) { return false; }), std::move(policy));
}
template <typename Executor>
asio::awaitable<void, Executor> with_a_step(session<Executor>& in, retry_policy policy) {
    auto const step = []() -> asio::awaitable<void, Executor> { co_return; };
    co_await async_retry(before_retry(in.operation(), step), std::move(policy));
}
template <typename Executor>
asio::awaitable<void, Executor> hedged(session<Executor>& in) {
    co_await async_hedge(in.operation(), in.hedge());
}
template <typename Executor>
asio::awaitable<void, Executor> hedged_in_a_scope(session<Executor>& in) {
    co_await async_hedge(in.scope, in.operation(), in.hedge());
}

template <typename Executor>
struct awaited_form {
    std::string name;
    typename session<Executor>::form await;
};

template <typename Executor>
std::vector<awaited_form<Executor>> all_forms() {
    std::vector<awaited_form<Executor>> all = {{"scope", in_a_scope<Executor>},
                                               {"report_in_scope", with_a_report_in_a_scope<Executor>},
                                               {"hedge_in_scope", hedged_in_a_scope<Executor>}};
    if (std::is_same_v<Executor, threads>) // otherwise it has a strand
        all.push_back({"hedge", hedged<Executor>});
    using with_policy = asio::awaitable<void, Executor> (*)(session<Executor>&, retry_policy);
    auto const both = [&](std::string const& name, with_policy await) {
        all.push_back({name, [=](session<Executor>& in) { return await(in, in.policy()); }});
        all.push_back({name + "_with_limits", [=](session<Executor>& in) { return await(in, in.limited()); }});
    };
    both("plain", in_a_coroutine);
    both("report", with_a_report);
    both("hooks", with_own_hooks);
    both("judged", judged);
    both("step", with_a_step);
    return all;
}

template <typename Executor>
using parameters = std::tuple<awaited_form<Executor>, bool>;

template <typename Executor>
void expect_it_is_as_before(parameters<Executor> const& given) {
    auto const& [form, cancellable] = given;
    std::uint64_t nth = 0;
    for (bool was_short = true; was_short;) {
        SCOPED_TRACE(++nth);
        ASSERT_LT(nth, 200u);
        session<Executor> in(cancellable, nth);
        in.play(form.await);
        was_short = in.was_short_of_memory;
    }
    EXPECT_GT(nth, 1u) << "nothing was allocated";
}

auto const name_of_trial = [](auto const& tested) {
    auto const& [form, cancellable] = tested.param;
    return form.name + (cancellable ? "_cancellable" : "");
};

class coroutine_of_one_thread : public testing::TestWithParam<parameters<one_thread>> {};
class coroutine_of_threads : public testing::TestWithParam<parameters<threads>> {};

TEST_P(coroutine_of_one_thread, decision_59_is_as_before_whichever_allocation_failed) {
    expect_it_is_as_before<one_thread>(GetParam());
}

TEST_P(coroutine_of_threads, decision_59_is_as_before_whichever_allocation_failed) {
    expect_it_is_as_before<threads>(GetParam());
}

INSTANTIATE_TEST_SUITE_P(forms, coroutine_of_one_thread,
                         testing::Combine(testing::ValuesIn(all_forms<one_thread>()), testing::Bool()),
                         name_of_trial);
INSTANTIATE_TEST_SUITE_P(forms, coroutine_of_threads,
                         testing::Combine(testing::ValuesIn(all_forms<threads>()), testing::Bool()),
                         name_of_trial);

} // namespace
} // namespace asio_retry::test
