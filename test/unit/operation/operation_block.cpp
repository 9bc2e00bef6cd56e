#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <memory>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct live_blocks {
    std::size_t count = 0;
    std::size_t bytes = 0;
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
        ++live->count;
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

// With the executor of an io_context, an operation of two pointers and a handler of two.
TEST(operation_block, is_one_of_at_most_232_bytes_while_it_waits) {
    boost::asio::io_context io;
    virtual_time time(io);
    live_blocks live;
    int attempts = 0;
    bool ended = false;
    async_retry(
        io.get_executor(),
        [&io, &attempts](auto token) {
            return boost::asio::async_initiate<decltype(token), void(error_code)>(
                [&io, &attempts](auto handler) {
                    ++attempts;
                    boost::asio::post(io, [handler = std::move(handler)]() mutable {
                        std::move(handler)(make_error_code(boost::asio::error::connection_refused));
                    });
                },
                token);
        },
        retry_policy().backoff(constant(1s)).max_attempts(3),
        boost::asio::bind_allocator(noting_allocator<char>(live), [&ended](error_code) { ended = true; }));
    for (int waits = 1; waits != 3; ++waits) {
        io.poll();
        io.restart();
        EXPECT_EQ(attempts, waits);
        EXPECT_EQ(live.count, 1u);
        EXPECT_LE(live.bytes, 232u);
        time.advance(1s);
        io.restart();
    }
    time.run();
    EXPECT_TRUE(ended);
    EXPECT_EQ(live.count, 0u);
}

} // namespace
} // namespace asio_retry::test
