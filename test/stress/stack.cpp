#include "stress/sanitized.hpp"

#include <asio_retry/async_retry.hpp>

#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

// The sanitizers multiply the time, not the depth, and so does Wine, whose server takes part in each handler.
#if ASIO_RETRY_TEST_SANITIZED || defined(_WIN32)
constexpr std::size_t attempts = 200'000;
#else
constexpr std::size_t attempts = 10'000'000;
#endif

/// How far apart in memory the frames of the attempts have been.
class stack_gauge {
public:
    void sample() {
        // AddressSanitizer keeps variables elsewhere.
        auto const address = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        lowest_ = std::min(lowest_, address);
        highest_ = std::max(highest_, address);
    }
    std::uintptr_t growth() const { return highest_ - lowest_; }

private:
    std::uintptr_t lowest_ = UINTPTR_MAX;
    std::uintptr_t highest_ = 0;
};

template <typename Token>
auto async_inline_outcome(stack_gauge& gauge, bool fails, Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [](auto handler, stack_gauge* g, bool f) {
            g->sample();
            std::move(handler)(f ? refused() : error_code());
        },
        token, &gauge, fails);
}

/// Another handler of the context, which the retries must let run.
struct bystander {
    asio::io_context& io;
    std::size_t& turns;
    bool const& over;
    void operator()() const {
        ++turns;
        if (!over)
            asio::post(io, *this);
    }
};

// Decision 5: a delay of zero lets others run, and the stack does not grow.
TEST(stack, decision_5_ten_million_inline_failures_with_zero_delay) {
    asio::io_context io;
    stack_gauge gauge;
    std::size_t made = 0, turns = 0;
    bool over = false;
    auto const policy = retry_policy().backoff(constant(0ns)).jitter(no_jitter()).unlimited_attempts();
    async_retry(
        io, [&](auto token) { return async_inline_outcome(gauge, ++made < attempts, std::move(token)); },
        policy, [&](error_code ec) { over = !ec; });
    asio::post(io, bystander{io, turns, over});
    io.run();
    EXPECT_TRUE(over);
    EXPECT_EQ(made, attempts);
    EXPECT_GT(turns, attempts / 2);
    EXPECT_LT(gauge.growth(), 64u * 1024u);
}

TEST(stack, decision_5_ten_million_inline_successes) {
    asio::io_context io;
    stack_gauge gauge;
    std::size_t left = attempts, turns = 0;
    bool over = false;
    retry_policy const policy;
    struct chain {
        asio::io_context& io;
        stack_gauge& gauge;
        std::size_t& left;
        bool& over;
        retry_policy const& policy;
        void operator()(error_code ec = {}) const {
            EXPECT_FALSE(ec);
            if (left-- == 0) {
                over = true;
                return;
            }
            async_retry(
                io, [g = &gauge](auto token) { return async_inline_outcome(*g, false, std::move(token)); },
                policy, *this);
        }
    };
    asio::post(io, bystander{io, turns, over});
    asio::post(io, [c = chain{io, gauge, left, over, policy}] { c(); });
    io.run();
    EXPECT_TRUE(over);
    EXPECT_GT(turns, attempts / 2);
    EXPECT_LT(gauge.growth(), 64u * 1024u);
}

// The same for awaitable attempts that never suspend.
TEST(stack, decision_5_awaitable_attempts_that_never_suspend) {
    asio::io_context io;
    stack_gauge gauge;
    std::size_t made = 0;
    bool over = false;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto const policy = retry_policy().backoff(constant(0ns)).jitter(no_jitter()).unlimited_attempts();
            auto const operation = [&]() -> asio::awaitable<error_code> {
                gauge.sample();
                co_return ++made < attempts / 10 ? refused() : error_code();
            };
            co_await async_retry(operation, policy, asio::use_awaitable);
            over = true;
        },
        asio::detached);
    io.run();
    EXPECT_TRUE(over);
    EXPECT_LT(gauge.growth(), 64u * 1024u);
}

} // namespace
} // namespace asio_retry::test
