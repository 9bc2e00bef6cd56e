#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include "support/counting_allocator.hpp"
#include "support/failing_allocation.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <new>
#include <optional>

namespace asio_retry::test {
namespace {

// The attempt may use it on the executor meanwhile.
TEST(scope_notices, without_memory_leave_the_allocator_of_the_handler_alone) {
    asio::io_context io;
    retry_scope scope(io);
    memory_of_handlers of_handler;
    std::optional<error_code> result;
    asio::any_completion_handler<void(error_code)> pending;
    async_retry(
        scope,
        [&](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&](auto handler) {
                    asio::any_completion_handler<void(error_code)>(std::move(handler)).swap(pending);
                },
                token);
        },
        retry_policy(),
        asio::bind_allocator(counting_allocator<void*>(of_handler), [&](error_code ec) { result = ec; }));
    std::size_t const before = of_handler.made;
    {
        failing_allocation const failing(memory::global, shortage::once, 1);
        EXPECT_THROW(scope.cancel(), std::bad_alloc);
        EXPECT_TRUE(failing.happened());
    }
    EXPECT_EQ(of_handler.made, before);
    io.poll();
    std::move(pending)(refused());
    io.run();
    EXPECT_EQ(result, aborted());
}

} // namespace
} // namespace asio_retry::test
