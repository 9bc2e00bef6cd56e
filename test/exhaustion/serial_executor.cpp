#include <asio_retry/detail/handler/operation_executors.hpp>
#include <handler/serial_executor.hpp>

#include "support/failing_allocation.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <new>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;

using serial = detail::serial_executor<asio::io_context::executor_type>;

// An awaited attempt copies its executor eight times.
TEST(serial_executor, is_copied_without_memory) {
    asio::io_context io;
    asio::any_io_executor const one = detail::strand_of<asio::any_io_executor>::make(io.get_executor());
    failing_allocation const counting(memory::global, shortage::once, 1000);
    asio::any_io_executor const copy = one;
    EXPECT_EQ(counting.count(), 0u);
    EXPECT_EQ(copy, one);
}

TEST(serial_executor, needs_no_memory_for_what_it_runs_at_once) {
    asio::io_context io;
    serial const one(io.get_executor());
    std::uint64_t allocations = 1;
    asio::post(io, [&] {
        failing_allocation const counting(memory::global, shortage::once, 1000);
        int calls = 0;
        for (int i = 0; i != 3; ++i)
            one.execute([&calls] { ++calls; });
        allocations = counting.count() + (calls != 3);
    });
    io.run();
    EXPECT_EQ(allocations, 0u);
}

// There is memory for the turn, so a function is refused when it is given, or runs.
TEST(serial_executor, keeps_no_function_that_it_had_no_memory_for) {
    asio::io_context io;
    serial const one(io.get_executor());
    int ran = 0;
    auto const queued = asio::require(one, asio::execution::blocking.never);
    {
        failing_allocation const fails(memory::global, shortage::lasting, 1);
        EXPECT_THROW(queued.execute([&] { ++ran; }), std::bad_alloc);
    }
    {
        failing_allocation const fails(memory::global, shortage::lasting, 2);
        queued.execute([&] { ++ran; });
        EXPECT_EQ(fails.count(), 1u);
    }
    io.run();
    EXPECT_EQ(ran, 1);
}

} // namespace
} // namespace asio_retry::test
