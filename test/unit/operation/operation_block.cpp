#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/counting_allocator.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

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

struct memory_and_ends : memory_of_handlers {
    int ended = 0;
};

struct noting_handler {
    using allocator_type = counting_allocator<char>;
    memory_and_ends* live;

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

    memory_and_ends live; // which the context gives back to
    boost::asio::io_context io;
    virtual_time time{io};
};

TEST_F(operation_block, is_one_of_at_most_256_bytes_while_it_waits) {
    for (int waits = 0; waits != 2; ++waits) {
        io.poll();
        io.restart();
        EXPECT_EQ(scheduler(io).pending(), 1u);
        EXPECT_EQ(live.blocks, 1u);
        EXPECT_LE(live.bytes, 256u);
        time.advance(1s);
        io.restart();
    }
    time.run();
    EXPECT_EQ(live.ended, 1);
    EXPECT_EQ(live.blocks, 0u);
}

TEST_F(operation_block, a_turn_that_follows_a_wait_is_in_memory_of_the_handler_too) {
    io.poll();
    io.restart();
    live.most = live.blocks.load();
    time.advance(1s);
    EXPECT_EQ(live.most, 2u);
    EXPECT_EQ(live.blocks, 1u);
    io.restart();
    time.run();
    EXPECT_EQ(live.ended, 1);
    EXPECT_EQ(live.blocks, 0u);
}

} // namespace
} // namespace asio_retry::test
