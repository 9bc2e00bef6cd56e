#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct live_blocks {
    std::size_t count = 0;
    std::size_t most = 0; // at once
    std::size_t bytes = 0;
    int ended = 0;
};

template <typename T>
struct noting_allocator {
    using value_type = T;
    live_blocks* live;

    explicit noting_allocator(live_blocks& l) noexcept
        : live(&l) {}
    template <typename U>
    noting_allocator(noting_allocator<U> const& other) noexcept
        : live(other.live) {}
    T* allocate(std::size_t n) {
        live->most = std::max(live->most, ++live->count);
        live->bytes += n * sizeof(T);
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T* memory, std::size_t n) noexcept {
        --live->count;
        live->bytes -= n * sizeof(T);
        std::allocator<T>().deallocate(memory, n);
    }
    friend bool operator==(noting_allocator const& a, noting_allocator const& b) noexcept {
        return a.live == b.live;
    }
};

// A pointer each, as the table of the layout has them.
struct refused_connect {
    boost::asio::io_context* io;

    template <typename Token>
    auto operator()(Token token) const {
        return boost::asio::async_initiate<Token, void(error_code)>(
            [io = io](auto handler) {
                boost::asio::post(*io, [handler = std::move(handler)]() mutable {
                    std::move(handler)(make_error_code(boost::asio::error::connection_refused));
                });
            },
            token);
    }
};

struct noting_handler {
    using allocator_type = noting_allocator<char>;
    live_blocks* live;

    allocator_type get_allocator() const noexcept { return allocator_type(*live); }
    void operator()(error_code) const { ++live->ended; }
};

// With the executor of an io_context.
class operation_block : public testing::Test {
protected:
    operation_block() {
        async_retry(io.get_executor(), refused_connect{&io},
                    retry_policy().backoff(constant(1s)).max_attempts(3), noting_handler{&live});
    }

    live_blocks live; // which the context gives back to
    boost::asio::io_context io;
    virtual_time time{io};
};

TEST_F(operation_block, is_one_of_at_most_216_bytes_while_it_waits) {
    for (int waits = 0; waits != 2; ++waits) {
        io.poll();
        io.restart();
        EXPECT_EQ(scheduler(io).pending(), 1u);
        EXPECT_EQ(live.count, 1u);
        EXPECT_LE(live.bytes, 216u);
        time.advance(1s);
        io.restart();
    }
    time.run();
    EXPECT_EQ(live.ended, 1);
    EXPECT_EQ(live.count, 0u);
}

TEST_F(operation_block, a_turn_that_follows_a_wait_is_in_memory_of_the_handler_too) {
    io.poll();
    io.restart();
    live.most = live.count;
    time.advance(1s);
    EXPECT_EQ(live.most, 2u);
    EXPECT_EQ(live.count, 1u);
    io.restart();
    time.run();
    EXPECT_EQ(live.ended, 1);
    EXPECT_EQ(live.count, 0u);
}

} // namespace
} // namespace asio_retry::test
