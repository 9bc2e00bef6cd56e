// An operation leaves the queue of its gate before its destruction begins: another thread may be granting it.

#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>

#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

using limit_of_one = concurrency_limit<aimd>;

std::shared_ptr<limit_of_one> a_full_limit() {
    auto limit = std::make_shared<limit_of_one>(aimd({.initial = 1, .least = 1, .greatest = 1}),
                                                queue_options{.greatest = 10, .longest_wait = 1h});
    limit->admit(1, {});
    return limit;
}

/// How many operations waited when parts of an operation were destroyed.
struct end_of_context {
    bool has_begun = false;
    std::uint32_t most_queued = 0;
    int destroyed = 0;
};

/// A handler that looks at the queue whenever one of its copies is destroyed, those that were moved from too.
class watching_handler {
public:
    watching_handler(std::shared_ptr<limit_of_one> limit, end_of_context& end)
        : limit_(std::move(limit))
        , end_(&end) {}
    watching_handler(watching_handler const&) = default;
    ~watching_handler() {
        if (!end_->has_begun)
            return;
        ++end_->destroyed;
        end_->most_queued = std::max(end_->most_queued, limit_->queued());
    }
    template <typename... Args>
    void operator()(Args const&...) {
        ADD_FAILURE() << "it was called";
    }

private:
    std::shared_ptr<limit_of_one> limit_;
    end_of_context* end_;
};

retry_policy queueing_at(std::shared_ptr<limit_of_one> limit) {
    return retry_policy().max_attempts(1).gate(std::move(limit));
}

template <typename Begin>
void expect_left_first(Begin begin) {
    auto const limit = a_full_limit();
    end_of_context end;
    {
        asio::io_context io;
        begin(io, queueing_at(limit), watching_handler(limit, end));
        io.poll();
        EXPECT_EQ(limit->queued(), 1u);
        end.has_begun = true;
    }
    EXPECT_GT(end.destroyed, 0);
    EXPECT_EQ(end.most_queued, 0u);
    EXPECT_EQ(limit->queued(), 0u);
    EXPECT_EQ(limit->in_flight(), 1u); // that of the test
}

TEST(queues_at_the_end, decision_69_operation_leaves_before_its_destruction) {
    expect_left_first([](asio::io_context& io, retry_policy policy, watching_handler handler) {
        async_retry(io, [] { return error_code(); }, std::move(policy), std::move(handler));
    });
}

TEST(queues_at_the_end, decision_69_operation_on_a_strand_leaves_before_its_destruction) {
    expect_left_first([](asio::io_context& io, retry_policy policy, watching_handler handler) {
        async_retry(
            io, [] { return error_code(); }, std::move(policy),
            asio::bind_executor(asio::make_strand(io), std::move(handler)));
    });
}

TEST(queues_at_the_end, decision_69_coroutine_leaves_before_its_destruction) {
    expect_left_first([](asio::io_context& io, retry_policy policy, watching_handler handler) {
        auto nothing = []() -> asio::awaitable<void> { co_return; };
        asio::co_spawn(io, async_retry(nothing, std::move(policy)), std::move(handler));
    });
}

} // namespace
} // namespace asio_retry::test
