#include "stress/sanitized.hpp"

#include <asio_retry/async_retry.hpp>

#include "support/counting_allocator.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#if !ASIO_RETRY_TEST_SANITIZED && defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
#define ASIO_RETRY_TEST_MEASURES_HEAP 1
#include <malloc.h>
#endif
#endif

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t many = ASIO_RETRY_TEST_SANITIZED ? 50'000 : 1'000'000;

#if defined(ASIO_RETRY_TEST_MEASURES_HEAP)
std::size_t allocated_bytes() {
    auto const heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}
#endif

struct outcomes {
    explicit outcomes(std::size_t operations)
        : completions(operations) {}

    std::vector<std::uint8_t> completions;
    std::size_t aborted = 0;

    auto handler(std::size_t number) {
        return [this, number](error_code ec) {
            ++completions[number];
            if (ec == test::aborted())
                ++aborted;
        };
    }
};

/// An attempt that fails at once.
struct failing_attempt {
    template <typename Token>
    auto operator()(Token&& token) const {
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler) { std::move(handler)(refused()); }, token);
    }
};

retry_policy in_an_hour() {
    return retry_policy().backoff(constant(1h)).jitter(no_jitter()).unlimited_attempts();
}

class scale : public testing::Test {
protected:
    asio::io_context io;
    memory_of_handlers live;

    /// In one scope, which then is cancelled.
    void cancel_by_scope(outcomes& results) {
        retry_scope scope(io.get_executor());
        retry_policy const policy = in_an_hour();
        std::size_t const operations = results.completions.size();
        for (std::size_t i = 0; i != operations; ++i)
            async_retry(scope, failing_attempt(), policy,
                        asio::bind_allocator(counting_allocator<void>(live), results.handler(i)));
        expect_pending(operations);
        EXPECT_EQ(scope.pending(), operations);
        scope.cancel();
        expect_ended();
        EXPECT_EQ(scope.pending(), 0u);
    }

    /// Each by its own signal.
    void cancel_one_by_one(outcomes& results) {
        retry_policy const policy = in_an_hour();
        std::size_t const operations = results.completions.size();
        std::vector<asio::cancellation_signal> signals(operations);
        for (std::size_t i = 0; i != operations; ++i)
            async_retry(io, failing_attempt(), policy,
                        asio::bind_cancellation_slot(
                            signals[i].slot(),
                            asio::bind_allocator(counting_allocator<void>(live), results.handler(i))));
        expect_pending(operations);
        for (asio::cancellation_signal& signal : signals)
            signal.emit(asio::cancellation_type::terminal);
        expect_ended();
    }

    template <typename Cancel>
    void expect_all_aborted_and_memory_back(Cancel cancel) {
        outcomes few(100), all(many);
        cancel(few); // so that what is kept for ever, such as the caches of the allocator, is there already
#if defined(ASIO_RETRY_TEST_MEASURES_HEAP)
        std::size_t const before = allocated_bytes();
#endif
        cancel(all);
#if defined(ASIO_RETRY_TEST_MEASURES_HEAP)
        EXPECT_LE(allocated_bytes(),
                  before + many / 2); // the allocator's own, whose least block is of 16 bytes
        EXPECT_GE(most_allocated_, before + many * sizeof(void*)) << "the operations were not measured";
#endif
        for (outcomes const* results : {&few, &all}) {
            EXPECT_THAT(results->completions, testing::Each(1));
            EXPECT_EQ(results->aborted, results->completions.size());
        }
    }

private:
    void expect_pending(std::size_t operations) {
        io.restart();
        io.poll();
        EXPECT_EQ(scheduler(io).pending(), operations);
        EXPECT_EQ(live.blocks, operations);
#if defined(ASIO_RETRY_TEST_MEASURES_HEAP)
        most_allocated_ = allocated_bytes();
#endif
    }

    /// The run would last for an hour if anything kept it going.
    void expect_ended() {
        io.run();
        EXPECT_TRUE(io.stopped());
        EXPECT_EQ(scheduler(io).pending(), 0u);
        EXPECT_EQ(live.blocks, 0u);
        EXPECT_EQ(live.bytes, 0u);
    }

#if defined(ASIO_RETRY_TEST_MEASURES_HEAP)
    std::size_t most_allocated_ = 0;
#endif
};

TEST_F(scale, a_million_pending_operations_are_cancelled_and_their_memory_comes_back) {
    expect_all_aborted_and_memory_back([this](outcomes& results) { cancel_by_scope(results); });
}

TEST_F(scale, a_million_pending_operations_are_cancelled_one_by_one_and_their_memory_comes_back) {
    expect_all_aborted_and_memory_back([this](outcomes& results) { cancel_one_by_one(results); });
}

#if defined(BOOST_ASIO_HAS_IO_URING_AS_DEFAULT)
constexpr std::size_t turns_of_the_reactor = 8; // whose own operations are some of them
#else
constexpr std::size_t turns_of_the_reactor = 0;
#endif

// So run() returns at once: the benchmark `bench_shutdown` says how soon.
TEST(scale_of_shutdown, nothing_is_left_to_do_when_the_last_of_100000_has_acknowledged) {
    for (bool const drains : {false, true}) {
        asio::io_context io;
        retry_scope scope(io.get_executor());
        std::deque<asio::steady_timer> attempts;
        std::size_t const count = many / 10;
        std::size_t acknowledged = 0;
        auto const note = [&](error_code ec) { acknowledged += ec == aborted(); };
        auto const policy = retry_policy().backoff(constant(1h)).unlimited_attempts();
        for (std::size_t i = 0; i != count; i += 2) {
            async_retry(scope, [] { return refused(); }, policy, note);
            auto& attempt = attempts.emplace_back(io, asio::steady_timer::time_point::max());
            async_retry(scope, [&](auto token) { return attempt.async_wait(std::move(token)); }, policy, note);
        }
        io.poll();
        if (drains)
            scope.async_drain(0s, [](error_code, std::size_t) {});
        else
            scope.cancel();
        while (acknowledged != count)
            ASSERT_EQ(io.run_one(), 1u);
        EXPECT_LE(io.poll(), 2u + turns_of_the_reactor) << "the end of the drain and of the timer";
        EXPECT_TRUE(io.stopped());
    }
}

// Decision 44: it would take minutes if each had to be looked for.
TEST(scale_of_joins, decision_44_to_end_one_of_many_costs_the_same_as_to_end_one_alone) {
    std::size_t const count = many / 5;
    asio::io_context io;
    retry_scope scope(io), child(scope);
    auto const policy = retry_policy().backoff(constant(1h)).unlimited_attempts();
    async_retry(child, [] { return refused(); }, policy, asio::detached);
    std::vector<asio::cancellation_signal> signals(count);
    std::size_t joined = 0, cancelled = 0;
    for (std::size_t i = 0; i != count; ++i) {
        auto const note = [&](error_code ec) { ++(ec ? cancelled : joined); };
        retry_scope& which = i % 4 < 2 ? scope : child;
        which.async_join(asio::bind_cancellation_slot(signals[i].slot(), note));
    }
    io.poll();
    for (std::size_t i = count; i != 0; i -= 2) // the last one first, to which the longest way leads
        signals[i - 1].emit(asio::cancellation_type::terminal);
    io.poll();
    EXPECT_EQ(cancelled, count / 2);
    EXPECT_EQ(joined, 0u);
    scope.cancel();
    io.run();
    EXPECT_EQ(joined, count / 2);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

/// Scopes, each the child of the one before it, with an operation in the first, the middle and the last.
class deep_tree : public testing::Test {
protected:
    static constexpr std::size_t depth = 200'000;

    asio::io_context io;
    std::vector<std::unique_ptr<retry_scope>> scopes;
    std::size_t ended = 0;

    deep_tree() {
        scopes.push_back(std::make_unique<retry_scope>(io));
        while (scopes.size() != depth)
            scopes.push_back(std::make_unique<retry_scope>(*scopes.back()));
        for (std::size_t const where : {std::size_t(0), depth / 2, depth - 1})
            async_retry(*scopes[where], failing_attempt(), in_an_hour(), [this](error_code) { ++ended; });
        EXPECT_EQ(scopes.front()->pending(), 3u);
        EXPECT_EQ(scopes.back()->pending(), 1u);
    }

    void expect_ended() {
        io.run();
        EXPECT_EQ(ended, 3u);
        EXPECT_EQ(scheduler(io).pending(), 0u);
    }
};

TEST_F(deep_tree, decision_42_is_told_and_joined) {
    std::size_t joined = 0;
    for (std::size_t i = 0; i < depth; i += 1000)
        scopes[i]->async_join([&](error_code) { ++joined; });
    scopes.front()->retry_now();
    io.poll();
    scopes.front()->async_drain(0s, [&](error_code, std::size_t) { ++joined; });
    EXPECT_FALSE(scopes.back()->cancelled());
    scopes.front()->cancel();
    EXPECT_TRUE(scopes.back()->cancelled());
    expect_ended();
    EXPECT_EQ(joined, depth / 1000 + 1);
    EXPECT_TRUE(retry_scope(*scopes.back()).cancelled());
}

TEST_F(deep_tree, decision_42_is_destroyed_from_above) {
    for (auto& scope : scopes)
        scope.reset();
    expect_ended();
}

TEST_F(deep_tree, decision_42_is_destroyed_from_below) {
    while (!scopes.empty())
        scopes.pop_back();
    expect_ended();
}

TEST_F(deep_tree, decision_42_is_destroyed_in_any_order) {
    std::shuffle(scopes.begin(), scopes.end(), std::mt19937(1));
    scopes.clear();
    expect_ended();
}

TEST_F(deep_tree, decision_42_is_kept_by_its_last_operation) {
    scopes.front()->retry_now();
    for (auto& scope : scopes)
        scope.reset(); // the last operation has them all now
    expect_ended();
}

} // namespace
} // namespace asio_retry::test
