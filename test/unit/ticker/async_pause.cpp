#include <asio_retry/async_pause.hpp>
#include <asio_retry/async_retry.hpp>

#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"

#include <boost/asio.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class async_pause_test : public testing::Test, protected in_virtual_time {
protected:
    std::vector<error_code> ends;
    std::vector<duration> ended_at;

    auto note_end() {
        return [this](error_code ec) {
            ends.push_back(ec);
            ended_at.push_back(time.now() - begin);
        };
    }
};

TEST_F(async_pause_test, waits_in_virtual_time) {
    async_pause(io, 3h, note_end());
    async_pause(io.get_executor(), 1ns, note_end());
    async_pause(asio::any_io_executor(io.get_executor()), 2s, note_end());
    async_pause(asio::make_strand(io), 1s, note_end());
    EXPECT_EQ(scheduler(io).pending(), 4u);
    time.run();
    EXPECT_THAT(ended_at, ElementsAre(1ns, 1s, 2s, 3h));
    EXPECT_THAT(ends, testing::Each(error_code()));
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(async_pause_test, takes_every_token) {
    EXPECT_EQ(run([&]() -> asio::awaitable<void> {
                  co_await async_pause(io, 1s);
                  co_await async_pause(co_await asio::this_coro::executor, 1s, asio::use_awaitable);
                  auto const [ec] = co_await async_pause(io, 1s, asio::as_tuple(asio::deferred));
                  EXPECT_FALSE(ec);
              }),
              3s);
    auto future = async_pause(io, 1s, asio::use_future);
    async_pause(io, 1s, asio::detached);
    asio::any_completion_handler<void(error_code)> erased(note_end());
    async_pause(io, 1s, std::move(erased));
    auto later = async_pause(io, 1h, asio::deferred);
    time.run();
    EXPECT_NO_THROW(future.get());
    std::move(later)(note_end());
    time.run();
    EXPECT_THAT(ended_at, ElementsAre(4s, 1h + 4s)) << "a deferred wait begins when it is started";
}

TEST_F(async_pause_test, the_default_token_is_that_of_the_executor) {
    using awaiting = asio::use_awaitable_t<>::executor_with_default<asio::any_io_executor>;
    awaiting const executor(io.get_executor());
    static_assert(std::is_same_v<decltype(async_pause(executor, 1s)), asio::awaitable<void>>);
    EXPECT_EQ(run([&]() -> asio::awaitable<void> { co_await async_pause(executor, 5s); }), 5s);
}

TEST_F(async_pause_test, no_length_ends_at_once_but_never_in_the_initiating_function) {
    for (duration const length : {duration(0), duration(-1), duration::min()}) {
        async_pause(io, length, note_end());
        EXPECT_TRUE(ends.empty());
        time.advance(0s);
        EXPECT_THAT(ends, ElementsAre(error_code()));
        ends.clear();
    }
    EXPECT_EQ(time.now(), begin);
}

TEST_F(async_pause_test, what_no_clock_can_reach_never_ends) {
    asio::cancellation_signal signals[3];
    async_pause(io, duration::max(), asio::bind_cancellation_slot(signals[0].slot(), note_end()));
    async_pause(io, std::chrono::hours::max(), asio::bind_cancellation_slot(signals[1].slot(), note_end()));
    async_pause(io, std::chrono::duration<double>(1e300),
                asio::bind_cancellation_slot(signals[2].slot(), note_end()));
    time.run();
    EXPECT_TRUE(ends.empty());
    for (asio::cancellation_signal& signal : signals)
        signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_THAT(ends, ElementsAre(aborted(), aborted(), aborted()));
}

TEST_F(async_pause_test, every_type_of_cancellation_ends_it) {
    using asio::cancellation_type;
    for (auto const type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        asio::cancellation_signal signal, zero;
        async_pause(io, 1h, asio::bind_cancellation_slot(signal.slot(), note_end()));
        async_pause(io, 0s, asio::bind_cancellation_slot(zero.slot(), note_end()));
        signal.emit(cancellation_type::none);
        signal.emit(type);
        zero.emit(type);
        signal.emit(type);
        EXPECT_TRUE(ends.empty()) << "never inside the emission";
        time.run();
        EXPECT_THAT(ends, ElementsAre(aborted(), aborted()));
        EXPECT_EQ(time.now(), begin);
        signal.emit(type);
        ends.clear();
    }
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(async_pause_test, is_an_attempt_that_a_limit_ends) {
    int attempts = 0;
    auto const slow = [&](auto token) {
        ++attempts;
        return async_pause(io, 1h, std::move(token));
    };
    async_retry(io, slow, every_100ms(2).attempt_timeout(1s), note_end());
    time.run();
    EXPECT_EQ(attempts, 2);
    EXPECT_THAT(ends, ElementsAre(timed_out()));
    EXPECT_THAT(ended_at, ElementsAre(2100ms));
}

TEST_F(async_pause_test, the_handler_runs_on_its_own_executor) {
    asio::thread_pool pool(1);
    auto const here = std::this_thread::get_id();
    std::promise<std::thread::id> where;
    async_pause(io, 1s,
                asio::bind_executor(pool, [&](error_code) { where.set_value(std::this_thread::get_id()); }));
    time.run();
    EXPECT_NE(where.get_future().get(), here);
}

TEST_F(async_pause_test, decision_04_refuses_an_empty_executor) {
    EXPECT_THROW((void)async_pause(asio::any_io_executor(), 1s, note_end()), std::invalid_argument);
}

TEST(async_pause_lifetimes, the_end_of_the_context_destroys_the_handler) {
    auto const kept = std::make_shared<int>();
    {
        asio::io_context io;
        for (duration const length : {duration(0), duration(1h)})
            async_pause(io, length, [kept](error_code) { ADD_FAILURE(); });
        EXPECT_EQ(kept.use_count(), 3);
    }
    EXPECT_EQ(kept.use_count(), 1);
}

// Cancelled on its strand while the scheduler ends it.
TEST(async_pause_threads, each_ends_once) {
    asio::thread_pool pool(3);
    std::atomic<int> ends = 0;
    constexpr int count = 2000;
    for (int i = 0; i != count; ++i) {
        auto const strand = asio::make_strand(pool);
        auto const signal = std::make_shared<asio::cancellation_signal>();
        asio::post(strand, [=, &ends] {
            async_pause(
                strand, std::chrono::microseconds(i % 100),
                asio::bind_executor(strand, asio::bind_cancellation_slot(
                                                signal->slot(), [&ends, signal](error_code) { ++ends; })));
            asio::post(strand, [signal] { signal->emit(asio::cancellation_type::total); });
        });
    }
    pool.join();
    EXPECT_EQ(ends, count);
}

} // namespace
} // namespace asio_retry::test
