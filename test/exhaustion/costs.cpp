#include "support/failing_allocation.hpp"
#include "support/scripted_operation.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_report.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// Two failures, two waits and a success, again and again.
class costs : public testing::Test {
protected:
    asio::io_context io;
    virtual_time time{io};
    script played;
    retry_policy const policy = retry_policy().backoff(constant(100ms)).jitter(no_jitter());

    auto operation() {
        return [this](auto token) { return async_scripted(io, played, std::move(token)); };
    }

    /// How often 100 operations allocate, when those before have left their memory for them.
    template <typename Start>
    std::uint64_t allocations_of(Start start, std::size_t failures = 2) {
        auto const play = [&] {
            for (int i = 0; i != 100; ++i) {
                played.errors.assign(failures, refused());
                played.attempts = 0;
                start();
                time.run();
                EXPECT_EQ(played.attempts, failures + 1);
            }
        };
        play();
        failing_allocation const counted(memory::global, shortage::once,
                                         std::numeric_limits<std::uint64_t>::max());
        play();
        return counted.count();
    }
};

TEST_F(costs, a_scope_costs_an_operation_no_allocation) {
    retry_scope parent(io.get_executor());
    retry_scope scope(parent);
    asio::any_io_executor const executor = io.get_executor();
    std::uint64_t const without =
        allocations_of([&] { async_retry(executor, operation(), policy, [](error_code, int) {}); });
    std::uint64_t const with =
        allocations_of([&] { async_retry(scope, operation(), policy, [](error_code, int) {}); });
    EXPECT_EQ(with, without);

    std::optional<retry_scope> own;
    std::uint64_t const control = allocations_of([&] {
        own.emplace(scope);
        async_retry(*own, operation(), policy, [](error_code, int) {});
    });
    EXPECT_GE(control, with + 100) << "a scope itself is allocated, and that is seen";
}

TEST_F(costs, a_gate_costs_a_success_at_the_first_try_nothing_and_a_failed_operation_one_allocation) {
    auto const on_done = [](error_code, int) {};
    retry_policy const gated = policy.gate(std::make_shared<retry_gate>());
    auto const with = [&](retry_policy const& p, std::size_t failures) {
        return allocations_of([&] { async_retry(io, operation(), p, on_done); }, failures);
    };
    EXPECT_EQ(with(gated, 0), with(policy, 0));
    EXPECT_EQ(with(gated, 2), with(policy, 2) + 100);
}

TEST_F(costs, a_report_that_is_used_again_costs_no_allocation) {
    retry_report report;
    std::uint64_t const without =
        allocations_of([&] { async_retry(io, operation(), policy, [](error_code, int) {}); });
    std::uint64_t const with = allocations_of(
        [&] { async_retry(io, with_report(operation(), report), policy, [](error_code, int) {}); });
    EXPECT_EQ(report.attempts, 3u);
    EXPECT_EQ(with, without);
}

} // namespace
} // namespace asio_retry::test
