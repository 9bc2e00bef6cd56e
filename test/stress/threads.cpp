#include "stress/four_threads.hpp"

#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

TEST(four_threads, decision_18_cancels_go_through_the_executor) {
    constexpr int operations = 100'000;
    four_threads workload([](auto const& strand, auto const& signal) {
        asio::post(strand, [signal] { signal->emit(asio::cancellation_type::terminal); });
    });
    workload.run(operations);
    EXPECT_EQ(workload.completed(), operations);
    EXPECT_GT(workload.succeeded(), 0);
    EXPECT_GT(workload.aborted(), 0);
    EXPECT_GT(workload.failed(), 0);
    EXPECT_EQ(scheduler(workload.context()).pending(), 0u);
}

} // namespace
} // namespace asio_retry::test
