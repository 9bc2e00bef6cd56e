#include "support/failing_allocation.hpp"
#include "support/policies.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct one_at_a_time {
    std::uint32_t limit() const noexcept { return 1; }
    void update(duration, std::uint32_t, bool) noexcept {}
};

/// Three operations wait for one place and for times of their own, while an allocation fails.
class queues_without_memory : public testing::TestWithParam<shortage> {
protected:
    static void expect_an_end_of_each() {
        bool is_over = false;
        for (std::uint64_t nth = 1; !is_over; ++nth) {
            ASSERT_LT(nth, 500u);
            auto const limit = std::make_shared<concurrency_limit<one_at_a_time>>(
                one_at_a_time(), queue_options{.greatest = 10});
            retry_policy const policy =
                retry_policy().max_attempts(1).wait_when_refused().total_timeout(1h).gate(
                    all_gates({limit, std::make_shared<rate_limit>(10, 1s)}));
            int calls = 0, started = 0;
            asio::io_context io(1);
            virtual_time time(io);
            auto const attempt = [&io](auto token) {
                return asio::async_initiate<decltype(token), void(error_code)>(
                    [&io](auto handler) {
                        asio::post(
                            io, [handler = std::move(handler)]() mutable { std::move(handler)(error_code()); });
                    },
                    token);
            };
            {
                failing_allocation const failing(memory::global, GetParam(), nth);
                for (int i = 0; i != 3; ++i)
                    try {
                        async_retry(io, attempt, policy, [&](error_code) { ++calls; });
                        ++started;
                    } catch (std::bad_alloc const&) { // that operation has not begun
                    }
                try {
                    time.advance(150ms);
                } catch (std::bad_alloc const&) {
                }
                is_over = !failing.happened();
            }
            time.run();
            EXPECT_EQ(calls, started) << nth;
            EXPECT_EQ(limit->in_flight(), 0u) << nth;
            EXPECT_EQ(limit->queued(), 0u) << nth;
        }
    }
};

TEST_P(queues_without_memory, decision_69_each_operation_ends_and_no_place_is_lost) {
    expect_an_end_of_each();
}

INSTANTIATE_TEST_SUITE_P(shortages, queues_without_memory, testing::Values(shortage::once, shortage::lasting));

} // namespace
} // namespace asio_retry::test
