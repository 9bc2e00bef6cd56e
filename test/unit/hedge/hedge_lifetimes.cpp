#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/counting_allocator.hpp"
#include "support/in_virtual_time.hpp"
#include "support/many_attempts.hpp"
#include "support/recording_gate.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// --- scopes

struct hedge_in_scope : testing::Test, in_virtual_time {
    retry_scope scope{io};
    many_attempts attempts{io};
    completion_record record;

    void start(hedge_policy const& policy = hedge_policy(10ms)) {
        async_hedge(scope, std::ref(attempts), policy, record.handler());
    }
    void poll() {
        io.restart();
        io.poll();
    }
};

TEST_F(hedge_in_scope, a_join_waits_for_losers_that_end_later) {
    attempts.on_cancel = nullptr;
    start(hedge_policy(10ms).deliver_at_once());
    bool joined = false;
    scope.async_join([&](error_code) { joined = true; });
    time.advance(10ms);
    attempts.complete(2, {}, 2);
    poll();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(scope.pending(), 1u);
    EXPECT_FALSE(joined);
    attempts.complete(1, aborted());
    poll();
    EXPECT_TRUE(joined);
}

TEST_F(hedge_in_scope, a_drain_lets_attempts_end_and_begins_none) {
    start(hedge_policy(10ms).max_attempts(3));
    time.advance(10ms);
    std::size_t cancelled = 99;
    scope.async_drain(1h, [&](error_code, std::size_t n) { cancelled = n; });
    time.advance(50ms);
    EXPECT_EQ(attempts.started, 2u);
    attempts.complete(1, refused());
    poll();
    EXPECT_EQ(record.count, 0);
    attempts.complete(2, {}, 2);
    poll();
    EXPECT_EQ(record.value, 2);
    EXPECT_EQ(cancelled, 0u);
}

TEST_F(hedge_in_scope, a_drain_that_takes_too_long_cancels_and_counts_the_operation_once) {
    start(hedge_policy(10ms));
    time.advance(10ms);
    std::size_t cancelled = 99;
    scope.async_drain(1s, [&](error_code, std::size_t n) { cancelled = n; });
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(cancelled, 1u);
}

TEST_F(hedge_in_scope, a_drain_counts_an_operation_whose_deadline_was_not_heard) {
    attempts.on_cancel = nullptr;
    std::size_t cancelled = 0;
    start(hedge_policy(1h).total_timeout(1s));
    time.advance(2s);
    scope.async_drain(1s, [&](error_code, std::size_t n) { cancelled = n; });
    time.advance(1s);
    attempts.complete(1, aborted());
    time.run();
    EXPECT_EQ(cancelled, 1u);
    EXPECT_EQ(record.error, timed_out());
}

TEST_F(hedge_in_scope, a_drain_counts_no_operation_that_its_caller_had_told_already) {
    attempts.on_cancel = nullptr;
    asio::cancellation_signal signal;
    async_hedge(scope, std::ref(attempts), hedge_policy(10ms),
                asio::bind_cancellation_slot(signal.slot(), record.handler()));
    signal.emit(asio::cancellation_type::terminal);
    std::size_t cancelled = 99;
    scope.async_drain(1s, [&](error_code, std::size_t n) { cancelled = n; });
    time.advance(2s);
    attempts.complete(1, aborted());
    time.run();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(cancelled, 0u);
}

TEST_F(hedge_in_scope, retry_now_ends_a_wait_but_hedges_nothing) {
    async_hedge(
        scope,
        [&](attempt a, auto token) {
            a.heed(pushback::after(1s));
            return attempts(a, std::move(token));
        },
        hedge_policy(10ms), record.handler());
    scope.retry_now();
    poll();
    EXPECT_EQ(attempts.started, 1u);
    attempts.complete(1, refused());
    poll();
    scope.retry_now();
    poll();
    EXPECT_EQ(attempts.started, 2u);
    attempts.complete(2, {}, 2);
    poll();
    EXPECT_EQ(record.value, 2);
}

TEST_F(hedge_in_scope, begins_nothing_where_that_was_cancelled_before) {
    scope.cancel();
    start();
    poll();
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(attempts.started, 0u);
}

TEST_F(hedge_in_scope, its_room_and_deadline_are_those_of_the_scope) {
    scope.max_pending(1);
    start();
    completion_record second;
    async_hedge(scope, std::ref(attempts), hedge_policy(10ms), second.handler());
    poll();
    EXPECT_EQ(second.error, detail::no_buffer_space_error());
    scope.cancel();
    poll();
    EXPECT_EQ(record.error, aborted());
    retry_scope limited(io, time.now() + 15ms);
    completion_record third;
    async_hedge(limited, std::ref(attempts), hedge_policy(10ms), third.handler());
    time.run();
    EXPECT_EQ(third.error, timed_out());
}

// --- contexts that are destroyed

TEST(hedge_lifetimes, decision_25_a_context_destroys_the_handler_once_and_calls_none) {
    for (int point = 0; point < 6; ++point)
        for (bool at_once : {false, true}) {
            auto const alive = std::make_shared<int>();
            auto const gate = std::make_shared<recording_gate>();
            int called = 0;
            {
                asio::io_context io;
                std::vector<std::shared_ptr<asio::steady_timer>> timers;
                std::optional<virtual_time> time(std::in_place, io);
                bool const succeeds = point >= 3;
                auto operation = [&, alive](attempt a, auto token) {
                    return asio::async_initiate<decltype(token), void(error_code)>(
                        [&](auto handler, bool succeed) {
                            if (succeed)
                                return asio::post(io, asio::append(std::move(handler), error_code()));
                            auto const timer =
                                std::make_shared<asio::steady_timer>(io, asio::steady_timer::time_point::max());
                            // deaf: it is not told through the slot
                            timer->async_wait(asio::bind_cancellation_slot(
                                asio::cancellation_slot(),
                                [timer, handler = std::move(handler)](error_code ec) mutable {
                                    std::move(handler)(ec);
                                }));
                        },
                        token, succeeds && a.number == 2);
                };
                hedge_policy policy = hedge_policy(10ms).max_attempts(3).gate(gate);
                if (at_once)
                    policy = policy.deliver_at_once();
                if (point == 5)
                    policy = policy.total_timeout(5ms);
                async_hedge(io, operation, policy, [alive, &called](error_code) { ++called; });
                if (point == 1 || point >= 3)
                    time->advance(10ms);
                if (point == 2)
                    time->advance(30ms);
                if (point == 4) {
                    io.restart();
                    io.poll();
                }
                time.reset();
            }
            EXPECT_EQ(alive.use_count(), 1) << point;
            EXPECT_EQ(called, at_once && point >= 3 ? 1 : 0) << point;
            EXPECT_TRUE(gate->is_balanced()) << point;
        }
}

TEST(hedge_lifetimes, a_signal_may_outlive_the_context) {
    asio::cancellation_signal signal;
    {
        asio::io_context io;
        many_attempts attempts(io);
        async_hedge(io, std::ref(attempts), hedge_policy(10ms),
                    asio::bind_cancellation_slot(signal.slot(), [](error_code, int) { FAIL(); }));
        EXPECT_TRUE(signal.slot().has_handler());
    }
    EXPECT_FALSE(signal.slot().has_handler());
}

TEST(hedge_lifetimes, decision_25_a_context_destroys_the_handler_while_its_scope_tells_it) {
    auto const alive = std::make_shared<int>();
    {
        asio::io_context io;
        retry_scope scope(io);
        auto const operation = [&](auto token) {
            auto const timer = std::make_shared<asio::steady_timer>(io, asio::steady_timer::time_point::max());
            return timer->async_wait(asio::consign(std::move(token), timer));
        };
        async_hedge(scope, operation, hedge_policy(1h), [alive](error_code) { FAIL(); });
        io.poll();
        scope.cancel();
    }
    EXPECT_EQ(alive.use_count(), 1);
}

TEST(hedge_lifetimes, decision_25_a_context_destroys_the_handler_of_what_ended_at_once) {
    asio::io_context other;
    retry_scope scope(other);
    auto const alive = std::make_shared<int>();
    {
        asio::io_context io;
        async_hedge(
            scope, [] { return error_code(); }, hedge_policy(1h),
            asio::bind_executor(io, [alive](error_code) { FAIL(); }));
        EXPECT_EQ(scope.pending(), 1u);
    }
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_EQ(scope.pending(), 0u);
}

// --- handlers that throw

// Its own exception comes out of the context, although the operation ended inside a hook.
TEST(hedge_lifetimes, a_handler_throws_after_a_hook_has_cancelled) {
    asio::io_context io;
    virtual_time time(io);
    many_attempts attempts(io);
    asio::cancellation_signal signal;
    int calls = 0;
    attempts.on_cancel = [](many_attempts& self, std::uint64_t number) {
        self.complete_here(number, aborted());
    };
    async_hedge(io, std::ref(attempts), hedge_policy(10ms).on_hedge([&](std::uint64_t) {
        signal.emit(asio::cancellation_type::terminal);
    }),
                asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, int) {
                    ++calls;
                    EXPECT_EQ(ec, aborted());
                    throw std::runtime_error("handler");
                }));
    EXPECT_THROW(time.advance(10ms), std::runtime_error);
    EXPECT_EQ(calls, 1);
    time.run();
    EXPECT_EQ(calls, 1);
}

/// Its n-th move from now on throws.
struct unmovable_handler {
    std::shared_ptr<int> held;
    int* left;

    unmovable_handler(std::shared_ptr<int> given_held, int& moves)
        : held(std::move(given_held))
        , left(&moves) {}
    unmovable_handler(unmovable_handler&& other)
        : left(other.left) {
        if (*left > 0 && --*left == 0)
            throw std::runtime_error("move");
        held = std::move(other.held);
    }
    void operator()(error_code, int) {}
};

TEST(hedge_lifetimes, a_handler_whose_move_throws_as_it_is_delivered_at_once_ends_with_the_last_attempt) {
    auto const alive = std::make_shared<int>();
    asio::io_context io;
    virtual_time time(io);
    many_attempts attempts(io);
    attempts.on_cancel = nullptr;
    int moves = 0;
    async_hedge(io, std::ref(attempts), hedge_policy(10ms).deliver_at_once(), unmovable_handler(alive, moves));
    time.advance(10ms);
    attempts.complete(2, {}, 2);
    moves = 1;
    EXPECT_THROW(time.advance(0s), std::runtime_error);
    attempts.complete(1, aborted());
    time.advance(0s);
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_TRUE(io.stopped());
}

// --- memory

/// A handler with memory of its own.
struct counting_handler {
    using allocator_type = counting_allocator<void>;
    allocator_type memory;
    std::function<void()> then;

    allocator_type get_allocator() const noexcept { return memory; }
    void operator()(error_code, int) const { then(); }
};

TEST(hedge_lifetimes, an_operation_is_one_block_of_the_handlers_memory) {
    asio::io_context io;
    virtual_time time(io);
    many_attempts attempts(io);
    memory_of_handlers memory;
    std::optional<std::size_t> live_at_the_end;
    async_hedge(io, std::ref(attempts), hedge_policy(10ms).max_attempts(16),
                counting_handler{counting_allocator<void>(memory), [&] { live_at_the_end = memory.blocks; }});
    EXPECT_EQ(memory.made, 1u);
    time.advance(150ms);
    EXPECT_EQ(attempts.started, 16u);
    EXPECT_EQ(memory.made, 1u);
    attempts.complete_here(7, {}, 7);
    time.run();
    EXPECT_EQ(live_at_the_end, 0u) << "given back before the handler is called";
}

// The handler's memory may go with the handler: what stays is not in it.
TEST(hedge_lifetimes, losers_that_end_later_use_none_of_the_handlers_memory) {
    asio::io_context io;
    virtual_time time(io);
    many_attempts attempts(io);
    attempts.on_cancel = nullptr;
    memory_of_handlers memory;
    int calls = 0;
    async_hedge(io, std::ref(attempts), hedge_policy(10ms).deliver_at_once(),
                counting_handler{counting_allocator<void>(memory), [&] { ++calls; }});
    time.advance(10ms);
    attempts.complete(2, {}, 2);
    io.restart();
    io.poll();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(memory.made, 0u);
    attempts.complete(1, aborted());
    time.run();
    EXPECT_EQ(calls, 1);
}

// --- executors

TEST(hedge_lifetimes, everything_runs_on_the_executor_of_the_handler) {
    asio::io_context io;
    virtual_time time(io);
    many_attempts attempts(io);
    auto const strand = asio::make_strand(io);
    int on_strand = 0;
    auto const here = [&] { on_strand += strand.running_in_this_thread(); };
    auto operation = [&](attempt a, auto token) {
        if (a.number > 1)
            here();
        return attempts(a, std::move(token));
    };
    auto const policy =
        hedge_policy(10ms).max_attempts(3).on_hedge([&](std::uint64_t) { here(); }).retry_if([&](error_code) {
            here();
            return true;
        });
    async_hedge(io, operation, policy, asio::bind_executor(strand, [&](error_code, int) { here(); }));
    time.advance(10ms);
    attempts.complete(1, refused());
    time.run();
    EXPECT_EQ(attempts.started, 3u);
    attempts.complete(3, {}, 3);
    time.run();
    EXPECT_EQ(on_strand, 6) << "two hooks, two attempts, the predicate and the handler";
}

TEST(hedge_lifetimes, a_handler_that_throws_leaves_nothing_behind) {
    asio::io_context io;
    virtual_time time(io);
    many_attempts attempts(io);
    attempts.on_cancel = nullptr;
    async_hedge(io, std::ref(attempts), hedge_policy(10ms).deliver_at_once(),
                [](error_code, int) { throw std::runtime_error("handler"); });
    time.advance(10ms);
    attempts.complete(2, {}, 2);
    io.restart();
    EXPECT_THROW(io.poll(), std::runtime_error);
    attempts.complete(1, {}, 1);
    time.run();
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

// Seen to fail under AddressSanitizer, which finds what is leaked.
TEST(hedge_lifetimes, a_retry_nested_in_an_attempt_leaves_nothing_behind) {
    asio::io_context io;
    virtual_time time(io);
    many_attempts attempts(io);
    completion_record record;
    auto nested = [&](attempt a, auto token) {
        return async_retry(a, std::ref(attempts), retry_policy().max_attempts(1), std::move(token));
    };
    async_hedge(io, nested, hedge_policy(10ms), record.handler());
    attempts.complete(1, {}, 1);
    time.run();
    EXPECT_EQ(record.count, 1);
}

class counting_resource final : public std::pmr::memory_resource {
public:
    int asked = 0;

private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        ++asked;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* block, std::size_t size, std::size_t alignment) override {
        std::pmr::new_delete_resource()->deallocate(block, size, alignment);
    }
    bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override { return this == &other; }
};

TEST(hedge_memory, is_that_of_a_bound_allocator_unless_it_outlives_the_completion) {
    for (bool const at_once : {false, true}) {
        asio::io_context io;
        counting_resource memory;
        std::pmr::polymorphic_allocator<> const allocator(&memory);
        hedge_policy const policy(std::chrono::hours(1));
        int delivered = 0;
        async_hedge(
            io, [] { return 1; }, at_once ? policy.deliver_at_once() : policy,
            asio::bind_allocator(allocator, [&](std::exception_ptr, int value) { delivered = value; }));
        io.run();
        EXPECT_EQ(delivered, 1);
        EXPECT_EQ(memory.asked == 0, at_once);
    }
}

} // namespace
} // namespace asio_retry::test
