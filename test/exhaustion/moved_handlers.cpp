#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>

#include "support/failing_allocation.hpp"

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <new>
#include <utility>

namespace asio_retry::test {
namespace {

/// For allocators that belong to something.
class counted_memory final : public std::pmr::memory_resource {
public:
    int blocks = 0;

private:
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        failing_allocation::pause const not_of_this;
        ++blocks;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* block, std::size_t size, std::size_t alignment) override {
        --blocks;
        std::pmr::new_delete_resource()->deallocate(block, size, alignment);
    }
    bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
};

// Where a slot has no memory, Asio's operation has the handler already, and asks what is left of it for its
// allocator.
template <typename Start>
void start_with_each_allocation_failing(Start start) {
    bool short_of_memory = true;
    for (std::uint64_t nth = 1; short_of_memory; ++nth) {
        boost::asio::io_context io;
        boost::asio::steady_timer timer(io, duration::zero());
        boost::asio::cancellation_signal signal;
        counted_memory memory_of_handler;
        std::pmr::polymorphic_allocator<> const allocator(&memory_of_handler);
        int calls = 0;
        bool is_refused = false;
        auto const count = [&](error_code) { ++calls; };
        auto const once = [&](auto token) { return timer.async_wait(std::move(token)); };
        {
            failing_allocation const failing(memory::global, shortage::once, nth);
            try {
                start(io, once,
                      boost::asio::bind_cancellation_slot(signal.slot(),
                                                          boost::asio::bind_allocator(allocator, count)));
            } catch (std::bad_alloc const&) {
                is_refused = true;
            }
            short_of_memory = failing.happened();
        }
        io.run();
        EXPECT_EQ(calls, is_refused ? 0 : 1) << "allocation " << nth;
        EXPECT_EQ(memory_of_handler.blocks, 0) << "allocation " << nth;
    }
}

TEST(moved_handlers, of_a_retry_give_back_their_memory) {
    start_with_each_allocation_failing([](auto& io, auto const& once, auto handler) {
        async_retry(io, once, retry_policy().max_attempts(1), std::move(handler));
    });
}

TEST(moved_handlers, of_a_hedge_give_back_their_memory) {
    start_with_each_allocation_failing([](auto& io, auto const& once, auto handler) {
        async_hedge(io, once, hedge_policy(std::chrono::hours(1)).max_attempts(1), std::move(handler));
    });
}

} // namespace
} // namespace asio_retry::test
