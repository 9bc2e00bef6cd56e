#include <asio_retry/detail/operation/coroutine_limit.hpp>

#include <asio_retry/virtual_time.hpp>

#include "support/hooked_executor.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

namespace asio_retry::detail {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// What the frame of a coroutine is to its limit.
struct frame {
    using executor_type = test::hooked_executor<asio::io_context::executor_type>;

    executor_type on;
    int limits = 0;
    int lost = 0;
    coroutine_limit<frame> limit{*this};

    executor_type const& executor() const noexcept { return on; }
    void on_limit() noexcept { ++limits; }
    void on_limit_dropped() noexcept { ++lost; }
};

class limit_of_a_coroutine : public testing::Test {
protected:
    std::function<void()> hook;
    std::optional<asio::io_context> io{std::in_place};
    std::optional<virtual_time> time{*io};
    std::unique_ptr<frame> owner{new frame{{io->get_executor(), hook}}};

    void arm(duration in) { ASSERT_TRUE(owner->limit.arm(scheduler(*io), time->now() + in)); }
    void pass(duration by) { time->advance(by); }
    void destroy_context() {
        time.reset();
        io.reset();
    }
    void expect(int limits, int lost) const {
        EXPECT_EQ(owner->limits, limits);
        EXPECT_EQ(owner->lost, lost);
    }
};

TEST_F(limit_of_a_coroutine, is_noticed_each_time_it_is_reached) {
    for (int i = 1; i != 4; ++i) {
        arm(1s);
        pass(999ms);
        expect(i - 1, 0);
        pass(1ms);
        expect(i, 0);
        EXPECT_TRUE(owner->limit.disarm());
    }
}

TEST_F(limit_of_a_coroutine, is_taken_back) {
    arm(1s);
    EXPECT_TRUE(owner->limit.disarm());
    pass(2s);
    expect(0, 0);
}

TEST_F(limit_of_a_coroutine, is_not_taken_back_once_its_notice_is_under_way) {
    arm(1s);
    hook = [this] { EXPECT_FALSE(owner->limit.disarm()); };
    pass(1s);
    expect(1, 0);
}

TEST_F(limit_of_a_coroutine, ends_with_the_frame) {
    arm(1s);
    owner.reset();
    EXPECT_EQ(scheduler(*io).pending(), 0u);
    pass(2s);
}

TEST_F(limit_of_a_coroutine, has_nobody_to_tell_if_the_frame_ends_before_its_notice_arrives) {
    arm(1s);
    hook = [this] {
        hook = nullptr;
        asio::post(*io, [this] { owner.reset(); }); // before it
    };
    pass(1s);
    EXPECT_EQ(owner, nullptr);
}

// As on another thread, while the frame ends on its own.
TEST_F(limit_of_a_coroutine, has_nobody_to_tell_if_the_frame_ends_while_the_notice_is_queued) {
    arm(1s);
    hook = [this] { owner.reset(); };
    pass(1s);
    EXPECT_EQ(owner, nullptr);
}

TEST_F(limit_of_a_coroutine, has_nobody_to_tell_if_the_frame_ends_while_it_cannot_be_queued) {
    arm(1s);
    hook = [this] {
        owner.reset();
        throw std::runtime_error("no");
    };
    pass(1s);
    EXPECT_EQ(owner, nullptr);
    hook = nullptr;
    EXPECT_EQ(scheduler(*io).pending(), 0u);
}

TEST_F(limit_of_a_coroutine, is_noticed_when_there_is_memory_again) {
    arm(1s);
    hook = test::out_of_memory;
    EXPECT_THROW(pass(1s), std::bad_alloc);
    expect(0, 0);
    hook = nullptr;
    pass(1s);
    expect(1, 0);
}

TEST_F(limit_of_a_coroutine, is_noticed_at_once_where_the_executor_takes_nothing) {
    arm(1s);
    hook = [] { throw std::runtime_error("no"); };
    pass(1s);
    expect(1, 0);
}

TEST_F(limit_of_a_coroutine, is_lost_with_its_context) {
    arm(1s);
    destroy_context();
    expect(0, 1);
}

TEST_F(limit_of_a_coroutine, is_lost_with_its_context_while_its_notice_is_queued) {
    arm(1s);
    hook = [this] {
        hook = nullptr;
        io->stop();
    };
    pass(1s);
    expect(0, 0);
    destroy_context();
    expect(0, 1);
}

// The coroutine may wait for nothing but the notice then.
TEST_F(limit_of_a_coroutine, is_lost_with_its_context_while_there_is_no_memory_for_its_notice) {
    arm(1s);
    hook = test::out_of_memory;
    EXPECT_THROW(pass(1s), std::bad_alloc);
    expect(0, 0);
    destroy_context();
    expect(0, 1);
}

} // namespace
} // namespace asio_retry::detail
