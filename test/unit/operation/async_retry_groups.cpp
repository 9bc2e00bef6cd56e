#include <asio_retry/async_retry.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <boost/asio/experimental/channel.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <list>
#include <vector>

// What Asio calls experimental, beside retries: groups of them, and channels as what is tried.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

class async_retry_groups : public testing::Test {
protected:
    /// A member of a group.
    auto retrying(script& s, retry_policy const& policy) {
        return async_retry(
            io, [this, &s](auto token) { return async_scripted(io, s, std::move(token)); }, policy,
            asio::deferred);
    }

    asio::io_context io;
    virtual_time time{io};
    time_point const begin = time.now();
    int completions = 0;
};

TEST_F(async_retry_groups, the_first_that_succeeds_cancels_the_other) {
    script slow = script::failures(1);
    script quick = script::failures(2);
    asio::experimental::make_parallel_group(retrying(slow, hourly()), retrying(quick, every_100ms()))
        .async_wait(asio::experimental::wait_for_one_success(),
                    [&](std::array<std::size_t, 2> order, error_code slow_ended, int, error_code quick_ended,
                        int attempts) {
                        ++completions;
                        EXPECT_EQ(order[0], 1u);
                        EXPECT_EQ(slow_ended, aborted());
                        EXPECT_FALSE(quick_ended);
                        EXPECT_EQ(attempts, 3);
                    });
    time.run();
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(slow.attempts, 1u);
    EXPECT_EQ(time.now() - begin, 200ms);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(async_retry_groups, a_range_of_them_ends_when_all_have) {
    std::list<script> scripts;
    std::vector<decltype(retrying(scripts.front(), every_100ms()))> members;
    for (std::size_t failures = 0; failures != 4; ++failures) // the last one gives up
        members.push_back(retrying(scripts.emplace_back(script::failures(failures)), every_100ms()));
    asio::experimental::make_parallel_group(std::move(members))
        .async_wait(asio::experimental::wait_for_all(),
                    [&](std::vector<std::size_t> const&, std::vector<error_code> const& errors,
                        std::vector<int> const& attempts) {
                        ++completions;
                        EXPECT_EQ(errors, (std::vector{error_code(), error_code(), error_code(), refused()}));
                        EXPECT_EQ(attempts, (std::vector{1, 2, 3, 3}));
                    });
    time.run();
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(time.now() - begin, 200ms);
}

TEST_F(async_retry_groups, a_channel_is_received_from_again_after_each_limit) {
    asio::experimental::channel<void(error_code, int)> channel(io, 1);
    auto const receive = [&](auto token) { return channel.async_receive(std::move(token)); };
    async_retry(io, receive, every_100ms().attempt_timeout(1s), [&](error_code ec, int received) {
        ++completions;
        EXPECT_FALSE(ec);
        EXPECT_EQ(received, 7);
    });
    time.advance(2s);
    EXPECT_EQ(completions, 0);
    EXPECT_TRUE(channel.try_send(error_code(), 7)); // to the second attempt, which began at 1.1 s
    time.run();
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(time.now() - begin, 2s);
}

TEST_F(async_retry_groups, a_channel_that_stays_full_ends_with_the_limit) {
    asio::experimental::channel<void(error_code, int)> channel(io, 1);
    ASSERT_TRUE(channel.try_send(error_code(), 1));
    auto const send = [&](auto token) { return channel.async_send(error_code(), 2, std::move(token)); };
    async_retry(io, send, every_100ms().attempt_timeout(1s), [&](error_code ec) {
        ++completions;
        EXPECT_EQ(ec, timed_out());
    });
    time.run();
    EXPECT_EQ(completions, 1);
    EXPECT_EQ(time.now() - begin, 3200ms);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

} // namespace
} // namespace asio_retry::test
