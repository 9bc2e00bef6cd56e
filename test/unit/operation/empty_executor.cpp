#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>

#include "support/refuses.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;

/// Of a server that has not been started, say.
TEST(decision_40, an_empty_executor_is_refused_by_an_operation) {
    asio::any_io_executor const none;
    retry_policy const policy;
    auto const refused =
        refuses("asio_retry: async_retry.executor = empty: must belong to an execution context");
    EXPECT_THAT(calling([&] { async_retry(none, [] { return 1; }, policy, asio::detached); }), refused);
    EXPECT_THAT(calling([&] { (void)async_retry(none, [] { return 1; }, policy); }), refused);
    auto const awaited = []() -> asio::awaitable<void> { co_return; };
    EXPECT_THAT(calling([&] { async_retry(none, awaited, policy, asio::detached); }), refused);
    EXPECT_THAT(calling([&] { (void)async_retry(none, awaited, policy, asio::use_awaitable); }), refused);
    EXPECT_THAT(calling([&] {
                    async_hedge(none, [] { return 1; }, hedge_policy(std::chrono::seconds(1)), asio::detached);
                }),
                refuses("asio_retry: async_hedge.executor = empty: must belong to an execution context"));
}

} // namespace
} // namespace asio_retry::test
