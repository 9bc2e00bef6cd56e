#include <operation/coroutine_notice.hpp>

#include "support/hooked_executor.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <vector>

namespace asio_retry::detail {
namespace {

namespace asio = boost::asio;

/// What the frame of a coroutine is to its notice.
struct frame {
    using executor_type = test::hooked_executor<asio::io_context::executor_type>;

    executor_type on;
    std::vector<int>& taken;
    std::vector<int>& dropped;
    coroutine_notice<frame, int>::place notice = nullptr;

    ~frame() {
        abandon();
        delete notice.load();
    }
    bool abandon() noexcept { return coroutine_notice<frame, int>::abandon(notice); }
    void on_turn(int turn) { taken.push_back(turn); }
    void on_turn_dropped(int turn) noexcept { dropped.push_back(turn); }
};

using turns = std::vector<int>;

class notice_of_a_coroutine : public testing::Test {
protected:
    std::function<void()> hook;
    std::optional<asio::io_context> io{std::in_place};
    turns taken;
    turns dropped;
    std::unique_ptr<frame> owner = make_frame();

    std::unique_ptr<frame> make_frame() {
        return std::unique_ptr<frame>(new frame{{io->get_executor(), hook}, taken, dropped});
    }
    void post(int turn) { coroutine_notice<frame, int>::post(owner->notice, *owner, owner->on, turn); }
    void run() {
        io->restart();
        io->run();
    }
    void expect(turns const& expected_taken, turns const& expected_dropped) const {
        EXPECT_EQ(taken, expected_taken);
        EXPECT_EQ(dropped, expected_dropped);
    }
};

TEST_F(notice_of_a_coroutine, is_abandoned_only_while_it_is_queued) {
    EXPECT_FALSE(owner->abandon());
    post(1);
    EXPECT_TRUE(owner->abandon());
    EXPECT_FALSE(owner->abandon());
    run();
    expect({}, {});
    for (int i = 2; i != 4; ++i) {
        post(i);
        run();
        EXPECT_FALSE(owner->abandon());
    }
    expect({2, 3}, {});
}

// As on another thread, while the frame ends on its own.
TEST_F(notice_of_a_coroutine, has_nobody_to_tell_if_the_frame_ends_while_it_is_or_cannot_be_queued) {
    for (bool const can_be_queued : {true, false}) {
        hook = [&] {
            owner.reset();
            if (!can_be_queued)
                throw std::runtime_error("no");
        };
        owner = make_frame();
        post(1);
        run();
        EXPECT_EQ(owner, nullptr);
        expect({}, {});
    }
}

TEST_F(notice_of_a_coroutine, can_be_posted_again_when_there_is_memory_again) {
    hook = test::out_of_memory;
    EXPECT_THROW(post(1), std::bad_alloc);
    EXPECT_FALSE(owner->abandon());
    hook = nullptr;
    post(2);
    run();
    expect({2}, {});
}

TEST_F(notice_of_a_coroutine, is_dropped_with_its_context) {
    post(1);
    io.reset();
    expect({}, {1});
}

} // namespace
} // namespace asio_retry::detail
