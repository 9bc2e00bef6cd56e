#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory_resource>
#include <thread>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class async_retry_token : public testing::Test, protected in_virtual_time {
protected:
    script played = script::failures(2);
    completion_record record;

    auto operation() {
        return [this](auto token) { return async_scripted(io, played, std::move(token)); };
    }
};

TEST_F(async_retry_token, callback) {
    async_retry(io.get_executor(), operation(), every_100ms(), record.handler());
    EXPECT_EQ(played.attempts, 1u) << "the first attempt is initiated inside the initiating function";
    EXPECT_EQ(record.count, 0);
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_FALSE(record.error);
    EXPECT_EQ(record.value, 3);
    EXPECT_EQ(time.now() - begin, 200ms);
}

// A coroutine runs on an executor, and not where somebody else happens to stand.
TEST_F(async_retry_token, first_attempt_of_an_awaitable_that_no_coroutine_awaits_begins_on_the_executor) {
    int attempts = 0;
    auto const fetch = [&]() -> asio::awaitable<int> { co_return ++attempts; };
    async_retry(io, fetch, every_100ms(), [&](std::exception_ptr e, int) { EXPECT_FALSE(e); });
    EXPECT_EQ(attempts, 0);
    time.run();
    EXPECT_EQ(attempts, 1);
}

TEST_F(async_retry_token, use_future) {
    auto succeeding = async_retry(io, operation(), every_100ms(), asio::use_future);
    time.run();
    EXPECT_EQ(succeeding.get(), 3);
    played = script::failures(9);
    auto failing = async_retry(io, operation(), every_100ms(), asio::use_future);
    time.run();
    EXPECT_THROW(failing.get(), boost::system::system_error);
}

TEST_F(async_retry_token, detached) {
    async_retry(io, operation(), every_100ms(), asio::detached);
    time.run();
    EXPECT_EQ(played.attempts, 3u);
}

TEST_F(async_retry_token, deferred_starts_nothing_until_it_is_started_and_may_be_started_again) {
    auto retry = async_retry(io, operation(), every_100ms(), asio::deferred);
    time.run();
    EXPECT_EQ(played.attempts, 0u);
    retry(record.handler());
    time.run();
    played = script::failures(2);
    retry(record.handler());
    time.run();
    EXPECT_EQ(record.count, 2);
    EXPECT_EQ(record.value, 3);
}

TEST_F(async_retry_token, use_awaitable_as_tuple_and_default) {
    int awaited = 0, defaulted = 0;
    error_code tupled;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            awaited = co_await async_retry(operation(), every_100ms(), asio::use_awaitable);
            played = script::failures(2);
            defaulted = co_await async_retry(operation(), every_100ms());
            played = script::failures(9);
            auto const [ec, n] =
                co_await async_retry(operation(), every_100ms(), asio::as_tuple(asio::use_awaitable));
            tupled = ec;
            EXPECT_EQ(n, 3) << "exhausted, the last values are delivered too";
        },
        asio::detached);
    time.run();
    EXPECT_EQ(awaited, 3);
    EXPECT_EQ(defaulted, 3);
    EXPECT_EQ(tupled, refused());
}

TEST_F(async_retry_token, bind_executor_runs_everything_on_that_executor) {
    auto strand = asio::make_strand(io);
    std::vector<bool> on_strand;
    auto const note = [&] { on_strand.push_back(strand.running_in_this_thread()); };
    auto const policy = every_100ms()
                            .retry_if([&](error_code) {
                                note();
                                return true;
                            })
                            .on_retry([&](retry_event const&) { note(); })
                            .backoff([&](std::uint64_t) {
                                note();
                                return 100ms;
                            });
    auto const noted = [&](auto token) {
        if (played.attempts > 0)
            note();
        return async_scripted(io, played, std::move(token));
    };
    async_retry(noted, policy, asio::bind_executor(strand, [&](error_code ec, int) {
                    note();
                    record.count += !ec;
                }));
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_GE(on_strand.size(), 9u);
    EXPECT_THAT(on_strand, testing::Each(true));
}

struct counting_resource : std::pmr::memory_resource {
    std::size_t allocations = 0;
    std::size_t outstanding = 0;
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        ++allocations;
        outstanding += bytes;
        return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    }
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
        outstanding -= bytes;
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    }
    bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
};

TEST_F(async_retry_token, bind_allocator_gives_the_block_and_has_it_back_before_the_handler_runs) {
    counting_resource resource;
    std::size_t outstanding_in_handler = 1;
    auto handler = asio::bind_allocator(std::pmr::polymorphic_allocator<>(&resource), [&](error_code, int) {
        outstanding_in_handler = resource.outstanding;
    });
    async_retry(io, operation(), every_100ms(), std::move(handler));
    EXPECT_GE(resource.allocations, 1u);
    EXPECT_GT(resource.outstanding, 0u);
    time.run();
    EXPECT_EQ(outstanding_in_handler, 0u);
    EXPECT_EQ(resource.outstanding, 0u);
}

TEST_F(async_retry_token, bind_cancellation_slot) {
    asio::cancellation_signal signal;
    async_retry(io, operation(), every_100ms(), asio::bind_cancellation_slot(signal.slot(), record.handler()));
    time.advance(50ms);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(time.now() - begin, 50ms);
}

TEST_F(async_retry_token, move_only_handler_and_operation) {
    auto const result = std::make_shared<int>(0);
    auto handler = [result, owned = std::make_unique<int>(10)](error_code, int n) { *result = n + *owned; };
    auto operation = [this, owned = std::make_unique<int>(1)](auto token) {
        return async_scripted(io, played, std::move(token));
    };
    async_retry(io, std::move(operation), every_100ms(), std::move(handler));
    time.run();
    EXPECT_EQ(*result, 13);
}

TEST_F(async_retry_token, inline_completion_is_delivered_later_never_inside_the_initiating_function) {
    played = {};
    async_retry(
        io, [&](auto token) { return async_inline(played, std::move(token)); }, every_100ms(),
        record.handler());
    EXPECT_EQ(record.count, 0);
    EXPECT_EQ(io.run(), 1u);
    EXPECT_EQ(record.count, 1);
}

TEST_F(async_retry_token, executor_with_a_default_token_of_its_own) {
    using token = asio::use_future_t<>;
    struct future_executor : asio::io_context::executor_type {
        using default_completion_token_type = token;
        explicit future_executor(asio::io_context::executor_type const& e)
            : asio::io_context::executor_type(e) {}
    };
    std::future<int> result = async_retry(future_executor(io.get_executor()), operation(), every_100ms());
    time.run();
    EXPECT_EQ(result.get(), 3);
}

/// A context of a program, which has its executor at hand.
class context_with_executor : public asio::io_context {
public:
    executor_type const& get_executor() const noexcept { return executor_; }

private:
    executor_type executor_ = asio::io_context::get_executor();
};

TEST(async_retry, a_context_may_return_its_executor_as_a_reference) {
    context_with_executor io;
    int answer = 0;
    async_retry(io, [] { return 3; }, every_100ms(), [&](std::exception_ptr, int value) { answer += value; });
    async_hedge(
        io, [] { return 4; }, hedge_policy(1h), [&](std::exception_ptr, int value) { answer += value; });
    io.run();
    EXPECT_EQ(answer, 7);
}

// Decision 21: even when the first attempt fails inside the initiating function, on a thread of its own.
TEST(async_retry, decision_21_callables_run_on_the_executor_after_an_inline_failure) {
    asio::thread_pool pool(1);
    auto const strand = asio::make_strand(pool);
    script failing = script::failures(10);
    std::vector<bool> on_strand;
    auto const note = [&](auto&&...) { on_strand.push_back(strand.running_in_this_thread()); };
    auto const policy = every_100ms()
                            .backoff(constant(0ns))
                            .retry_if([&](error_code) {
                                note();
                                return true;
                            })
                            .on_retry(note)
                            .on_give_up([&](stop_reason) { note(); });
    async_retry([&](auto token) { return async_inline(failing, std::move(token)); }, policy,
                asio::bind_executor(strand, [](error_code, int) {}));
    async_retry([&](auto token) { return async_inline(failing, std::move(token)); },
                policy.deadline(time_point()), asio::bind_executor(strand, [](error_code, int) {}));
    pool.join();
    EXPECT_EQ(on_strand.size(), 7u); // three predicates, two retries, two give-ups
    EXPECT_THAT(on_strand, testing::Each(true));
}

// The context on which the wait hangs is kept running, though the handler belongs to another.
TEST(async_retry, waiting_context_has_work_while_the_handler_belongs_to_another) {
    asio::io_context waiting, handling;
    script played = script::failures(1);
    completion_record record;
    async_retry(
        waiting.get_executor(), [&](auto token) { return async_scripted(handling, played, std::move(token)); },
        every_100ms().backoff(constant(1ms)), asio::bind_executor(handling, record.handler()));
    std::thread other([&] { waiting.run(); });
    handling.run();
    other.join();
    EXPECT_EQ(record.count, 1);
    EXPECT_FALSE(record.error);
}

// A first-try success touches no clock, no timer and no source of randomness.
TEST(async_retry, nothing_timer_related_before_the_first_failure) {
    asio::io_context io;
    script succeeding, failing = script::failures(1);
    completion_record record;
    async_retry(
        io, [&](auto token) { return async_scripted(io, succeeding, std::move(token)); }, every_100ms(),
        record.handler());
    asio::co_spawn(io, async_retry([&]() -> asio::awaitable<int> { co_return 1; }, every_100ms()),
                   asio::detached);
    io.run();
    EXPECT_EQ(record.count, 1);
    EXPECT_FALSE(asio::has_service<retry_scheduler>(io));
    io.restart();
    async_retry(
        io, [&](auto token) { return async_scripted(io, failing, std::move(token)); },
        every_100ms().backoff(constant(1ms)), record.handler());
    io.run();
    EXPECT_TRUE(asio::has_service<retry_scheduler>(io));
}

// Decision 11: exhausted, the caller gets the last error, unchanged, and the last values.
TEST_F(async_retry_token, decision_11_exhausted_delivers_the_last_error_and_values) {
    error_code const last(77, boost::system::generic_category());
    played.errors = {refused(), refused(), last};
    async_retry(io, operation(), every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(record.error, last);
    EXPECT_EQ(record.value, 3);
    EXPECT_EQ(played.attempts, 3u);
}

// Decision 24: one policy serves any number of operations at once, each with its own state.
TEST_F(async_retry_token, decision_24_operations_share_a_policy) {
    auto const policy = every_100ms();
    std::vector<script> scripts(100, script::failures(2));
    int succeeded = 0;
    for (script& s : scripts)
        async_retry(
            io, [&](auto token) { return async_scripted(io, s, std::move(token)); }, policy,
            [&](error_code ec, int n) { succeeded += !ec && n == 3; });
    time.run();
    EXPECT_EQ(succeeded, 100);
    EXPECT_EQ(time.now() - begin, 200ms);
}

// Decision 21: what a callback throws ends the operation; with error_code signatures as a documented code.
TEST_F(async_retry_token, decision_21_callback_exceptions_end_the_operation) {
    async_retry(io, operation(), every_100ms().on_retry([](retry_event const&) { throw 1; }), record.handler());
    time.run();
    EXPECT_EQ(record.error, error::hook_threw);
    EXPECT_EQ(played.attempts, 1u);

    bool thrown = false;
    async_retry(
        io, [] { throw std::runtime_error("failure"); },
        every_100ms().retry_if([](error_code) -> bool { throw std::logic_error("predicate"); }),
        [&](std::exception_ptr e) {
            try {
                std::rethrow_exception(e);
            } catch (std::logic_error const&) {
                thrown = true;
            }
        });
    time.run();
    EXPECT_TRUE(thrown);
}

// Decision 23: the same machine without retries: one attempt, no delay, no wait.
TEST_F(async_retry_token, decision_23_single_attempt_is_no_special_case) {
    std::vector<stop_reason> reasons;
    auto const policy = every_100ms().max_attempts(1).on_give_up([&](stop_reason r) { reasons.push_back(r); });
    async_retry(io, operation(), policy, record.handler());
    time.run();
    EXPECT_EQ(record.error, refused());
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::attempts));
}

TEST_F(async_retry_token, an_attempt_that_ended_at_once_lasts_until_the_executor_gets_to_it) {
    duration took{};
    auto const policy = every_100ms().max_attempts(1).on_give_up([&](retry_event const& e) { took = e.took; });
    async_retry(io, [] { return refused(); }, policy, asio::detached);
    time.jump(5s);
    time.run();
    EXPECT_EQ(took, 5s);
}

// Decision 32: a nested retry has the time that is left and makes one attempt unless told otherwise.
TEST_F(async_retry_token, decision_32_nested_retry_is_demoted_and_inherits_the_deadline) {
    script inner = script::failures(100);
    std::vector<std::uint64_t> attempts_per_outer;
    auto nest = [&](retry_policy inner_policy) {
        return [this, &inner, inner_policy](attempt outer, auto token) {
            return async_retry(
                outer, [&](auto t) { return async_scripted(io, inner, std::move(t)); }, inner_policy,
                asio::bind_executor(io.get_executor(), std::move(token)));
        };
    };
    async_retry(io, nest(every_100ms()), every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(inner.attempts, 3u);
    inner = script::failures(100);
    async_retry(io, nest(every_100ms().retry_when_nested()), every_100ms(), record.handler());
    time.run();
    EXPECT_EQ(inner.attempts, 9u);
    inner = script::failures(100);
    async_retry(io, nest(every_100ms().retry_when_nested().unlimited_attempts()),
                every_100ms().total_timeout(1050ms), record.handler());
    time.run();
    EXPECT_GE(inner.attempts, 11u);
    EXPECT_LE(inner.attempts, 13u);
}

} // namespace
} // namespace asio_retry::test
