#include "support/watched_turns.hpp"

#include <gtest/gtest.h>

// Real time, in which more and more waits are late on a busy machine: what is done at once stays the same.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using detail::scheduled_waits;

// Between two runs of another handler there is a turn of the timer and a posted one.
TEST(turns, decision_63_end_and_move_a_few_waits_however_many_there_are) {
    watched_turns turns(100'000);
    turns.run(600ms, 100ms);
    EXPECT_EQ(turns.ended(), 100'000u);
    EXPECT_GT(turns.moved(), 50'000u) << "they were in a slot of an upper level";
    EXPECT_LE(turns.most_ended(), 2 * scheduled_waits::waits_per_turn);
    EXPECT_LE(turns.most_moved(), 2 * scheduled_waits::moves_per_turn);
}

// There is a quarter of a second for it, which a busy machine may miss now and then.
TEST(turns, decision_63_move_waits_before_their_time_comes) {
    constexpr std::uint64_t count = 20'000;
    std::uint64_t moved_ahead = 0;
    for (int tries = 0; tries != 20 && moved_ahead < count / 2; ++tries) {
        watched_turns turns(count);
        turns.run(600ms, 50ms);
        moved_ahead = turns.moved_ahead();
    }
    EXPECT_GE(moved_ahead, count / 2);
}

/// Is over, and begins again.
class busy_wait final : public detail::wait_node {
public:
    explicit busy_wait(scheduled_waits& scheduler)
        : scheduler_(scheduler) {}
    int left = 10'000;

private:
    bool on_expiry() override { return --left == 0 || scheduler_.schedule_early(*this); }
    void on_shutdown() noexcept override {}

    scheduled_waits& scheduler_;
};

/// Notes how often the busy one has ended by then.
class noting_wait final : public detail::wait_node {
public:
    explicit noting_wait(busy_wait const& busy)
        : busy_(busy) {}
    int left = -1;

private:
    bool on_expiry() override {
        left = busy_.left;
        return true;
    }
    void on_shutdown() noexcept override {}

    busy_wait const& busy_;
};

// A request to a scope of many is one.
TEST(turns, decision_63_end_what_is_over_beside_what_goes_on_for_long) {
    boost::asio::io_context io(1);
    scheduled_waits waits(io, true);
    waits.set_context(io);
    busy_wait busy(waits);
    noting_wait over(busy);
    waits.schedule_early(busy);
    waits.schedule(over, waits.now());
    io.run();
    EXPECT_EQ(busy.left, 0);
    EXPECT_GE(over.left, 9'000) << "it did not have to wait for all of that";
    waits.shut_down();
}

TEST(turns, decision_63_find_the_wheel_where_the_clock_is_when_many_waits_begin) {
    watched_turns turns(20'000);
    turns.idle(600ms);
    turns.run(100ms, 50ms);
    EXPECT_LE(turns.moved(), 2'000u);
}

} // namespace
} // namespace asio_retry::test
