#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include "support/failing_allocation.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/errc.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <thread>
#include <utility>

namespace asio_retry::test {
namespace {

/// A report of an operation that succeeded, which the next one may have no memory for.
class used_report : public testing::Test {
protected:
    used_report() {
        retry([] { return 1; }, policy.max_attempts(1)); // what is made once
        report.ended = true;
        report.reason = stop_reason::succeeded;
        report.attempts = 7;
        report.last_error = asio::error::connection_refused;
    }

    auto with_both() {
        return with_hooks(with_report([this] { ++calls; }, report), nullptr, [this](stop_reason reason) {
            ++ends;
            EXPECT_TRUE(report.ended);
            EXPECT_EQ(report.reason, reason);
        });
    }

    void expect_an_end_without_an_attempt() const {
        EXPECT_EQ(calls, 0);
        EXPECT_EQ(ends, 1);
        EXPECT_TRUE(report.ended);
        EXPECT_EQ(report.reason, stop_reason::not_retryable);
        EXPECT_EQ(report.attempts, 0u);
        EXPECT_EQ(report.elapsed, duration::zero());
        EXPECT_EQ(report.last_error, error_code());
        EXPECT_TRUE(report.history.empty());
    }

    retry_policy const policy;
    retry_report report;
    int calls = 0;
    int ends = 0;
};

TEST_F(used_report, tells_of_a_blocking_retry_that_had_no_memory_for_it) {
    auto operation = with_both();
    failing_allocation const failing(memory::global, shortage::once, 1);
    EXPECT_THROW(retry(std::move(operation), policy), std::bad_alloc);
    ASSERT_TRUE(failing.happened());
    expect_an_end_without_an_attempt();
}

// The first allocation is the block of the operation.
TEST_F(used_report, tells_of_a_retry_that_had_no_memory_for_it) {
    asio::io_context io;
    std::optional<std::exception_ptr> thrown;
    auto const on_done = [&](std::exception_ptr const& e) { thrown = e; };
    auto operation = with_both();
    {
        failing_allocation const failing(memory::global, shortage::once, 2);
        async_retry(io, std::move(operation), policy, on_done);
        EXPECT_TRUE(failing.happened());
    }
    io.run();
    ASSERT_TRUE(thrown && *thrown);
    EXPECT_THROW(std::rethrow_exception(*thrown), std::bad_alloc);
    expect_an_end_without_an_attempt();
}

// The block, the slot's, what the hooks need; in a thread of its own, where Asio has kept no memory.
TEST_F(used_report, tells_of_a_retry_that_had_no_memory_to_be_cancelled) {
    for (std::uint64_t number = 2; number != 5; ++number) {
        std::thread([&] {
            asio::io_context io;
            scheduler(io);
            asio::cancellation_signal signal;
            std::optional<std::exception_ptr> thrown;
            auto on_done =
                asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { thrown = e; });
            auto operation = with_both();
            ends = 0;
            bool has_failed = false;
            {
                failing_allocation const failing(memory::global, shortage::once, number);
                async_retry(io, std::move(operation), policy, std::move(on_done));
                has_failed = failing.happened();
            }
            io.run();
            ASSERT_TRUE(thrown);
            EXPECT_EQ(*thrown != nullptr, has_failed && calls == 0) << number;
            if (*thrown)
                expect_an_end_without_an_attempt();
            calls = 0;
        }).join();
    }
}

} // namespace
} // namespace asio_retry::test
