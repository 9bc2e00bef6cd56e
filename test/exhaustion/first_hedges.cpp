#include <asio_retry/async_hedge.hpp>

#include "support/failing_allocation.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/errc.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

// Nobody else would tell it.
TEST(first_hedges, the_attempt_that_runs_is_told_to_stop_where_there_is_no_memory_to_wait_beside_it) {
    boost::asio::io_context io;
    std::optional<failing_allocation> failing;
    bool was_told = false;
    auto const lasts = [&](auto token) {
        return boost::asio::async_initiate<decltype(token), void(error_code)>(
            [&](auto handler) {
                auto slot = boost::asio::get_associated_cancellation_slot(handler);
                slot.assign([&, kept = std::move(handler)](boost::asio::cancellation_type_t) mutable {
                    was_told = true;
                    std::move(kept)(boost::asio::error::operation_aborted);
                });
                failing.emplace(memory::global, shortage::once, 1); // that of the timer
            },
            token);
    };
    std::optional<error_code> result;
    async_hedge(io, lasts, hedge_policy(1h), [&](error_code ec) { result = ec; });
    EXPECT_TRUE(failing && failing->happened());
    failing.reset();
    io.poll();
    EXPECT_TRUE(was_told);
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, boost::system::errc::not_enough_memory);
}

// Asio destroys it. Of a typed executor, as in coroutines.cpp.
TEST(first_hedges, a_coroutine_that_had_no_memory_to_begin_has_failed) {
    bool succeeded = false, has_failed = false;
    for (std::uint64_t nth = 1; !succeeded; ++nth) {
        ASSERT_LT(nth, 50u);
        boost::asio::io_context io;
        bool began = false;
        auto const operation = [&]() -> boost::asio::awaitable<int, boost::asio::io_context::executor_type> {
            began = true;
            co_return 1;
        };
        std::exception_ptr failure;
        std::optional<int> result;
        hedge_policy const alone = hedge_policy(1h).max_attempts(1);
        {
            failing_allocation const failing(memory::global, shortage::once, nth);
            try {
                async_hedge(io, operation, alone, [&](std::exception_ptr const& thrown, int value) {
                    failure = thrown;
                    result = value;
                });
                io.poll();
            } catch (std::bad_alloc const&) {
                continue;
            }
            succeeded = !failing.happened();
        }
        ASSERT_TRUE(result) << nth;
        EXPECT_EQ(failure == nullptr, began) << nth;
        EXPECT_EQ(*result, began ? 1 : 0) << nth;
        has_failed = has_failed || failure;
    }
    EXPECT_TRUE(has_failed);
}

} // namespace
} // namespace asio_retry::test
