// What two threads do to the waits of a context at the same time, in one order of steps that they seldom take.
//
// The timer of the waits is the library's, but between its steps it does what the test says, as another thread
// might. So nothing of the library is linked that was compiled with the other timer.
#include "time/wake_up_timer.hpp"

#include <functional>
#include <utility>

namespace asio_retry::detail {

class scheduled_waits;

}

namespace asio_retry::test {
namespace {

std::function<void()> before_disarming, after_looking_at_the_timer;

void happen(std::function<void()>& what) {
    if (auto const now = std::exchange(what, nullptr))
        now();
}

} // namespace
} // namespace asio_retry::test

namespace asio_retry::detail {

template <>
bool wake_up_timer<scheduled_waits>::fires_by(time_point time) const noexcept {
    time_point const armed_for = armed_for_;
    test::happen(test::after_looking_at_the_timer);
    return armed_for <= time && armed_for != time_point::max();
}

template <>
void wake_up_timer<scheduled_waits>::disarm() noexcept {
    test::happen(test::before_disarming);
    if (armed_for_.load() == time_point::max())
        return;
    armed_for_ = time_point::max();
    timer_->cancel();
}

} // namespace asio_retry::detail

#include "time/scheduled_waits.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <chrono>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct noted_wait final : detail::wait_node {
    bool has_ended = false;

private:
    bool on_expiry() override { return has_ended = true; }
    void on_shutdown() noexcept override {}
};

class interleaved_waits : public testing::Test {
protected:
    boost::asio::io_context io;
    detail::scheduled_waits waits{io, false};
    noted_wait first, second;
    time_point const soon = waits.now() + 1ms;

    ~interleaved_waits() override { waits.shut_down(); }
};

// Who takes back the last wait has seen that no other has arrived, which then does, and finds the timer armed:
// that looks for it when it is disarmed.
TEST_F(interleaved_waits, one_that_arrives_before_the_timer_is_disarmed_ends) {
    ASSERT_TRUE(waits.schedule(first, soon));
    before_disarming = [this] { waits.schedule(second, soon + 1ms); };
    EXPECT_TRUE(waits.cancel(first));
    EXPECT_FALSE(before_disarming);
    io.run();
    EXPECT_TRUE(second.has_ended);
}

// Who begins a wait has found the timer armed, which then is disarmed, with the last wait that there was.
TEST_F(interleaved_waits, one_that_arrives_after_the_timer_was_disarmed_ends) {
    ASSERT_TRUE(waits.schedule(first, soon));
    after_looking_at_the_timer = [this] {
        waits.cancel(first);
        io.poll();
        io.restart();
    };
    ASSERT_TRUE(waits.schedule(second, soon + 1ms));
    EXPECT_FALSE(after_looking_at_the_timer);
    io.run();
    EXPECT_TRUE(second.has_ended);
}

} // namespace
} // namespace asio_retry::test
