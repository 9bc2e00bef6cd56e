#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include "support/failing_allocation.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>

// What an awaitable that a time limit or a scope may interrupt allocates where several threads may run.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class awaited_costs : public testing::Test {
protected:
    asio::io_context io;
    retry_scope scope{io};
    retry_policy const limited = retry_policy().attempt_timeout(1h);

    static asio::awaitable<void> turn() { co_await asio::post(asio::use_awaitable); }

    /// First tries, one after the other: in the scope, or else with a time limit.
    asio::awaitable<void> first_tries(bool in_scope, int count) {
        for (int i = 0; i != count; ++i) {
            if (in_scope)
                co_await async_retry(scope, turn, retry_policy());
            else
                co_await async_retry(turn, limited);
        }
    }

    template <typename Executor>
    void run(Executor const& executor, bool in_scope, int count) {
        asio::co_spawn(executor, first_tries(in_scope, count), [](std::exception_ptr const& failure) {
            if (failure)
                std::rethrow_exception(failure);
        });
        io.run();
        io.restart();
    }

    template <typename Executor>
    double allocations_of_one(Executor const& executor, bool in_scope) {
        constexpr int count = 1000;
        run(executor, in_scope, 10); // to warm up
        failing_allocation const none(memory::global, shortage::once,
                                      std::numeric_limits<std::uint64_t>::max());
        run(executor, in_scope, count);
        return static_cast<double>(none.count()) / count;
    }
};

// An attempt in a coroutine of its own took seven, and five more for each failure.
TEST_F(awaited_costs, are_those_of_a_strand_and_no_more_in_a_scope_than_with_a_time_limit) {
    double const limited_on_strand = allocations_of_one(asio::make_strand(io), false);
    double const limited_on_threads = allocations_of_one(io.get_executor(), false);
    double const scoped_on_threads = allocations_of_one(io.get_executor(), true);
    double const strand_itself = BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE != 0 ? 4 : 6;
    EXPECT_LT(limited_on_threads, limited_on_strand + strand_itself);
    EXPECT_LT(scoped_on_threads, limited_on_threads + 0.1);
}

} // namespace
} // namespace asio_retry::test
