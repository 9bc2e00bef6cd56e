#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"
#include "support/test_wait.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace asio_retry {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

using test::elements;
using test::test_wait;

TEST(retry_scheduler, waits_end_in_order_never_early_and_equal_ones_as_they_began) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    auto const begin = waits.now();
    std::deque<test_wait> nodes(6);
    std::vector<int> order;
    std::vector<duration> late;
    std::vector<duration> const after{4ms, 2ms, 6ms, 2ms, 1ms, 2ms};
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        nodes[i].expired = [&, i] {
            order.push_back(static_cast<int>(i));
            late.push_back(waits.now() - (begin + after[i]));
        };
        EXPECT_TRUE(waits.schedule(nodes[i], begin + after[i]));
    }
    EXPECT_EQ(waits.pending(), 6u);
    io.run();
    EXPECT_THAT(order, elements(4, 1, 3, 5, 0, 2));
    EXPECT_THAT(late, testing::Each(testing::Ge(0ns)));
    EXPECT_EQ(waits.pending(), 0u);
}

TEST(retry_scheduler, cancel_takes_a_wait_back_once) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait node;
    node.expired = [] { FAIL() << "taken back"; };
    waits.schedule(node, waits.now() + 1h);
    EXPECT_TRUE(waits.cancel(node));
    EXPECT_FALSE(waits.cancel(node));
    EXPECT_EQ(waits.pending(), 0u);
}

// Decision 13: when no wait remains the timer is cancelled, so run() returns at once.
TEST(retry_scheduler, decision_13_run_returns_when_no_wait_remains) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait first, second;
    waits.schedule(first, waits.now() + 1h);
    waits.schedule(second, waits.now() + 2h);
    io.poll();
    EXPECT_FALSE(io.stopped());
    waits.cancel(first);
    waits.cancel(second);
    io.run(); // would last for an hour
    EXPECT_TRUE(io.stopped());
}

TEST(retry_scheduler, an_earlier_wait_rearms_the_timer) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait later, sooner;
    bool ended = false;
    sooner.expired = [&] {
        ended = true;
        waits.cancel(later);
    };
    waits.schedule(later, waits.now() + 1h);
    io.poll();
    waits.schedule(sooner, waits.now() + 1ms);
    io.run();
    EXPECT_TRUE(ended);
}

TEST(retry_scheduler, a_later_wait_does_not_rearm_the_timer) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait sooner, later;
    sooner.expired = [&] { waits.cancel(later); };
    waits.schedule(sooner, waits.now() + 1ms);
    waits.schedule(later, waits.now() + 1h);
    io.run(); // would last for an hour
    EXPECT_EQ(waits.pending(), 0u);
}

// The time of an early end is the beginning of the clock, which is no time that anybody waits for.
TEST(retry_scheduler, a_wait_until_the_beginning_of_the_clock_is_one_like_another) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait node;
    int ended = 0;
    node.expired = [&] { ++ended; };
    waits.schedule(node, time_point::min());
    EXPECT_FALSE(node.was_ended_early());
    EXPECT_EQ(waits.pending(), 1u);
    EXPECT_TRUE(waits.cancel(node));
    EXPECT_EQ(waits.pending(), 0u);
    waits.schedule(node, time_point::min());
    io.run();
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(waits.pending(), 0u);
}

TEST(retry_scheduler, a_callback_may_schedule_and_cancel) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait node, other;
    int ends = 0;
    node.expired = [&] {
        if (++ends < 3)
            waits.schedule(node, waits.now() + 1us);
        else
            EXPECT_TRUE(waits.cancel(other));
    };
    waits.schedule(other, waits.now() + 1h);
    waits.schedule(node, waits.now());
    io.run();
    EXPECT_EQ(ends, 3);
}

TEST(retry_scheduler, a_wait_that_there_is_no_memory_to_end_is_ended_a_little_later) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait first, other;
    int tries = 0;
    bool ended = false;
    first.expired = [&] { first.has_memory = ++tries == 3; };
    other.expired = [&] { ended = true; };
    auto const now = waits.now();
    waits.schedule(first, now);
    waits.schedule(other, now);
    io.run();
    EXPECT_EQ(tries, 3);
    EXPECT_TRUE(ended);
    EXPECT_GE(waits.now() - now, 2ms);
    EXPECT_EQ(waits.pending(), 0u);
}

// The timer is held back: it does not spin.
TEST(retry_scheduler, without_memory_the_next_try_comes_after_a_pause) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait node;
    int tries = 0;
    node.expired = [&] { node.has_memory = ++tries == 5; };
    waits.schedule(node, waits.now());
    EXPECT_LE(io.run(), 20u);
    EXPECT_EQ(tries, 5);
}

// Nor does the turn of another wait make the pause shorter.
TEST(retry_scheduler, without_memory_nothing_is_tried_during_the_pause) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    std::deque<test_wait> others(4);
    test_wait node;
    std::vector<time_point> tries;
    node.expired = [&] {
        tries.push_back(waits.now());
        node.has_memory = tries.size() == others.size();
        if (!node.has_memory)
            asio::post(io, [&] { waits.end_early(others[tries.size()], io); });
    };
    for (test_wait& other : others) {
        other.has_memory = true;
        waits.schedule(other, waits.now() + 1h);
    }
    waits.cancel(others[0]);
    waits.schedule(node, waits.now());
    io.run();
    ASSERT_EQ(tries.size(), others.size());
    for (std::size_t i = 1; i != tries.size(); ++i)
        EXPECT_GE(tries[i] - tries[i - 1], 1ms);
}

TEST(retry_scheduler, ends_a_wait_early_in_a_turn_of_the_context) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait first, second, other; // which keeps the timer as it is
    std::vector<int> ended;
    first.expired = [&] { ended.push_back(1); };
    second.expired = [&] { ended.push_back(2); };
    for (test_wait* const node : {&other, &first, &second})
        waits.schedule(*node, waits.now() + 1h);
    EXPECT_TRUE(waits.end_early(second, io));
    EXPECT_TRUE(waits.end_early(first, io));
    EXPECT_THAT(ended, testing::IsEmpty());
    EXPECT_EQ(waits.pending(), 1u);
    io.poll();
    EXPECT_THAT(ended, elements(2, 1));
    EXPECT_TRUE(second.was_ended_early());
    EXPECT_FALSE(waits.end_early(first, io)) << "it is over";

    for (test_wait* const node : {&first, &second}) {
        waits.schedule(*node, waits.now() + 1h);
        EXPECT_TRUE(waits.end_early(*node, io)) << "and again, in another turn";
    }
    EXPECT_TRUE(waits.cancel(second));
    EXPECT_FALSE(waits.cancel(second));
    io.poll();
    EXPECT_THAT(ended, elements(2, 1, 1));
    waits.cancel(other);
}

TEST(retry_scheduler, without_memory_an_early_end_comes_a_little_later) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait node;
    int tries = 0;
    node.expired = [&] { node.has_memory = ++tries == 3; };
    waits.schedule(node, waits.now() + 1h);
    waits.end_early(node, io);
    io.run();
    EXPECT_EQ(tries, 3);
    EXPECT_TRUE(node.was_ended_early());
}

// A virtual_time has nothing to wait for.
TEST(retry_scheduler, under_virtual_time_want_of_memory_is_an_exception_and_the_next_run_ends_the_wait) {
    asio::io_context io;
    virtual_time time(io);
    retry_scheduler& waits = scheduler(io);
    test_wait node;
    int tries = 0;
    node.expired = [&] { node.has_memory = ++tries == 2; };
    waits.schedule(node, waits.now() + 1h);
    EXPECT_THROW(time.run(), std::bad_alloc);
    EXPECT_EQ(waits.pending(), 1u);
    time.run();
    EXPECT_EQ(tries, 2);
    EXPECT_EQ(waits.pending(), 0u);
}

// The others are ended all the same.
TEST(retry_scheduler, what_a_wait_throws_comes_out_of_the_context) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    test_wait throwing, other;
    bool ended = false;
    throwing.expired = [] { throw std::runtime_error("a handler"); };
    other.expired = [&] { ended = true; };
    auto const now = waits.now();
    waits.schedule(throwing, now);
    waits.schedule(other, now);
    EXPECT_THROW(io.run(), std::runtime_error);
    EXPECT_EQ(waits.pending(), 1u);
    io.run();
    EXPECT_TRUE(ended);
}

/// How many of 200 waits had ended whenever another handler ran. The end of each 64th takes so long.
std::vector<int> ended_when_others_ran(asio::io_context& io, duration takes = {}) {
    std::deque<test_wait> nodes(200);
    std::vector<int> result;
    int ended = 0;
    auto const now = scheduler(io).now();
    for (test_wait& node : nodes) {
        node.expired = [&] {
            if (ended++ % 64 != 0)
                return;
            asio::post(io, [&] { result.push_back(ended); });
            for (auto const begin = scheduler(io).now(); scheduler(io).now() < begin + takes;) {
            }
        };
        scheduler(io).schedule(node, now);
    }
    io.run();
    return result;
}

// The scheduler does not starve the other handlers of its context.
TEST(retry_scheduler, at_most_64_waits_end_in_a_turn) {
    asio::io_context io;
    EXPECT_THAT(ended_when_others_ran(io), elements(64, 128, 192, 200));
}

// Nor does it by posting its turns, which takes no timer. That for the rest of a turn, should it throw or
// block, is armed once for all of them.
TEST(retry_scheduler, turns_that_are_posted_end_at_most_64_waits_too) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    waits.go_on_in(io);
    EXPECT_THAT(ended_when_others_ran(io), elements(64, 128, 192, 200));
    EXPECT_EQ(waits.pending(), 0u);
}

// The timer, which would go on if a turn blocked, comes when the next one is queued already.
TEST(retry_scheduler, turns_that_are_posted_and_take_long_end_at_most_64_waits_too) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    waits.go_on_in(io);
    EXPECT_THAT(ended_when_others_ran(io, 3ms), elements(64, 128, 192, 200));
    EXPECT_EQ(waits.pending(), 0u);
}

// It stays in the queue of a context that is stopped, and another turn does not wait for it.
TEST(retry_scheduler, a_turn_that_was_posted_may_be_destroyed_with_its_context) {
    int shut_down = 0;
    std::deque<test_wait> nodes(200);
    {
        asio::io_context io;
        retry_scheduler& waits = scheduler(io);
        waits.go_on_in(io);
        auto const now = waits.now();
        for (test_wait& node : nodes) {
            node.expired = [&] { io.stop(); };
            node.shut_down = [&] { ++shut_down; };
            waits.schedule(node, now);
        }
        io.run();
        EXPECT_EQ(waits.pending(), 136u);
    }
    EXPECT_EQ(shut_down, 136);
}

// The waits that began last are over first, and yet do not wake the context up. A busy machine costs a turn now
// and then, and io_uring one for each time that the timer is armed, but nothing one for each of them.
TEST(retry_scheduler, many_waits_share_a_wake_up_within_the_slack) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io).slack(100ms);
    std::deque<test_wait> nodes(76);
    std::vector<duration> late;
    auto const begin = waits.now();
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        auto const expiry = begin + (i < 16 ? duration(250ms) : 20ms + i * 1ms);
        nodes[i].expired = [&, expiry] { late.push_back(waits.now() - expiry); };
        waits.schedule(nodes[i], expiry);
    }
    EXPECT_LE(io.run(), 20u) << "for 60 waits that are over at different times";
    EXPECT_EQ(late.size(), nodes.size());
    EXPECT_THAT(late, testing::Each(testing::Ge(0ns)));
}

/// A wait of a millisecond, and others of an hour, for which the timer is armed, as they came first.
struct one_among_others {
    explicit one_among_others(std::size_t count)
        : others(count) {
        node.expired = [this] { ended = true; };
        for (test_wait& other : others)
            waits.schedule(other, waits.now() + 1h);
        waits.schedule(node, waits.now() + 1ms);
    }

    void run_to_its_end() {
        while (!ended)
            io.run_one();
    }

    asio::io_context io;
    retry_scheduler& waits = scheduler(io).slack(1h);
    std::deque<test_wait> others;
    test_wait node;
    bool ended = false;
};

TEST(retry_scheduler, waits_are_exact_from_when_the_slack_is_taken_away) {
    one_among_others all(20);
    all.waits.slack(0s);
    all.run_to_its_end();
    for (test_wait& other : all.others)
        EXPECT_TRUE(all.waits.cancel(other));
}

TEST(retry_scheduler, waits_are_exact_from_when_few_are_left) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io).slack(1h);
    std::deque<test_wait> nodes(40);
    int ended = 0;
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        nodes[i].expired = [&] { ++ended; };
        waits.schedule(nodes[i], waits.now() + (i < 16 ? 2h : 1ms));
    }
    for (std::size_t i = 0; i != 39; ++i)
        waits.cancel(nodes[i]);
    io.run();
    EXPECT_EQ(ended, 1);
}

TEST(retry_scheduler, waits_are_exact_from_when_sixteen_are_left) {
    one_among_others all(40);
    for (std::size_t i = 15; i != all.others.size(); ++i)
        all.waits.cancel(all.others[i]);
    EXPECT_EQ(all.waits.pending(), 16u);
    all.run_to_its_end();
    for (test_wait& other : all.others)
        all.waits.cancel(other);
}

TEST(retry_scheduler, a_wait_is_not_late_for_the_slack_because_another_threw) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io).slack(1h);
    test_wait throwing, other;
    bool ended = false;
    throwing.expired = [] { throw std::runtime_error("a handler"); };
    other.expired = [&] { ended = true; };
    auto const now = waits.now();
    waits.schedule(throwing, now);
    waits.schedule(other, now);
    EXPECT_THROW(io.run(), std::runtime_error);
    io.run();
    EXPECT_TRUE(ended);
}

// What a wait leads to runs in the turn of the scheduler. While it blocks, another thread goes on.
TEST(retry_scheduler, a_wait_whose_end_blocks_does_not_hold_up_the_others) {
    asio::io_context io;
    retry_scheduler& waits = scheduler(io);
    std::deque<test_wait> nodes(30);
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t ended = 0;
    bool others_ended = false;
    auto const now = waits.now();
    for (test_wait& node : nodes) {
        node.expired = [&] {
            std::unique_lock lock(mutex);
            if (++ended == 1)
                others_ended = changed.wait_for(lock, 1min, [&] { return ended == nodes.size(); });
            changed.notify_all();
        };
        waits.schedule(node, now);
    }
    std::thread other([&] { io.run(); });
    io.run();
    other.join();
    EXPECT_TRUE(others_ended);
}

// Decision 25: a destroyed context destroys what waits, once, and calls nothing.
TEST(retry_scheduler, decision_25_shutdown_reports_each_wait_once) {
    int shut_down = 0;
    std::deque<test_wait> nodes(100);
    test_wait late;
    {
        asio::io_context io;
        retry_scheduler& waits = scheduler(io);
        for (test_wait& node : nodes) {
            node.expired = [] { FAIL() << "called"; };
            node.shut_down = [&] {
                ++shut_down;
                EXPECT_FALSE(waits.schedule(late, waits.now())) << "nothing begins during the shutdown";
            };
            waits.schedule(node, waits.now() + 1h);
        }
        io.poll();
    }
    EXPECT_EQ(shut_down, 100);
}

TEST(retry_scheduler, decision_25_shutdown_reports_what_was_ended_early_too) {
    std::vector<int> shut_down;
    std::deque<test_wait> nodes(3);
    {
        asio::io_context io;
        retry_scheduler& waits = scheduler(io);
        for (int i = 0; i != 3; ++i) {
            test_wait& node = nodes[static_cast<std::size_t>(i)];
            node.shut_down = [&, i] { shut_down.push_back(i); };
            waits.schedule(node, i == 2 ? time_point::max() : waits.now() + 1h);
        }
        waits.end_early(nodes[1], io);
    }
    EXPECT_THAT(shut_down, testing::UnorderedElementsAre(0, 1, 2));
}

// The timer belongs to the context, not to the strand of whoever waits first.
TEST(retry_scheduler, waits_of_a_thread_pool_end_on_its_threads) {
    std::deque<test_wait> nodes(200);
    std::atomic<int> ended = 0;
    std::atomic<bool> elsewhere = false;
    asio::thread_pool pool(2);
    retry_scheduler& waits = scheduler(pool);
    for (test_wait& node : nodes)
        node.expired = [&] {
            ++ended;
            if (!pool.get_executor().running_in_this_thread())
                elsewhere = true;
        };
    auto const schedule_half = [&](std::size_t parity) {
        for (std::size_t i = parity; i < nodes.size(); i += 2)
            waits.schedule(nodes[i], waits.now() + std::chrono::microseconds(i * 37 % 900));
    };
    std::thread other([&] { schedule_half(1); });
    schedule_half(0);
    other.join();
    pool.join();
    EXPECT_EQ(ended, 200);
    EXPECT_FALSE(elsewhere);
}

TEST(retry_scheduler, one_scheduler_per_context) {
    asio::io_context a, b;
    EXPECT_EQ(&scheduler(a), &scheduler(a));
    EXPECT_NE(&scheduler(a), &scheduler(b));
}

TEST(retry_scheduler, settings_chain_and_refuse_nonsense) {
    asio::io_context io;
    EXPECT_EQ(scheduler(io).slack(), 1ms);
    EXPECT_EQ(scheduler(io).slack(5ms).seed(42).slack(), 5ms);
    EXPECT_THROW(scheduler(io).slack(-1ns), std::invalid_argument);
}

// Decision 3: sequences of separate operations are independent, and a seed repeats them.
TEST(retry_scheduler, decision_3_streams_are_independent_and_repeatable) {
    asio::io_context a, b, c, d;
    auto const draw = [](asio::io_context& io) {
        std::vector<std::uint64_t> drawn;
        for (int i = 0; i != 3; ++i)
            drawn.push_back(scheduler(io).next_random()());
        return drawn;
    };
    scheduler(a).seed(7);
    scheduler(b).seed(7);
    auto const first = draw(a);
    EXPECT_EQ(first, draw(b));
    EXPECT_NE(first[0], first[1]);
    EXPECT_NE(first, draw(a)) << "streams go on";
    EXPECT_NE(draw(c), draw(d)) << "unseeded contexts differ";
}

TEST(retry_scheduler, a_seed_begins_its_streams_anew) {
    asio::io_context io;
    scheduler(io).seed(7);
    auto const first = scheduler(io).next_random()();
    scheduler(io).next_random();
    EXPECT_EQ(scheduler(io).seed(7).next_random()(), first);
    EXPECT_EQ(first, random(7, 0)());
    EXPECT_NE(scheduler(io).seed(8).next_random()(), first);
}

TEST(retry_scheduler, it_is_known_whether_any_is_seeded) {
    EXPECT_FALSE(retry_scheduler::any_seeded());
    {
        asio::io_context once, twice, never;
        scheduler(never);
        scheduler(once).seed(1);
        EXPECT_TRUE(retry_scheduler::any_seeded());
        scheduler(twice).seed(1).seed(2);
    }
    EXPECT_FALSE(retry_scheduler::any_seeded());
}

TEST(retry_scheduler, what_is_drawn_after_a_fork_is_new_unless_seeded) {
    asio::io_context unseeded, seeded;
    scheduler(seeded).seed(7);
    std::uint64_t const expected = [] {
        asio::io_context same;
        return scheduler(same).seed(7).next_random()();
    }();
    std::uint64_t const before = scheduler(unseeded).next_random()();
    unseeded.notify_fork(asio::io_context::fork_child);
    seeded.notify_fork(asio::io_context::fork_child);
    EXPECT_NE(scheduler(unseeded).next_random()(), before);
    EXPECT_EQ(scheduler(seeded).next_random()(), expected);
}

#ifndef _WIN32 // which has no fork

/// What a forked child draws first; the context has been told of the fork, or its child's has not.
std::uint64_t drawn_in_forked_child(asio::io_context& io, bool is_told = true) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    io.notify_fork(asio::io_context::fork_prepare);
    if (::fork() == 0) {
        if (is_told)
            io.notify_fork(asio::io_context::fork_child);
        std::uint64_t const drawn = scheduler(io).next_random()();
        bool const written = ::write(ends[1], &drawn, sizeof drawn) == sizeof drawn;
        ::_exit(written ? 0 : 1);
    }
    io.notify_fork(asio::io_context::fork_parent);
    std::uint64_t drawn = 0;
    EXPECT_EQ(::read(ends[0], &drawn, sizeof drawn), static_cast<::ssize_t>(sizeof drawn));
    ::wait(nullptr);
    ::close(ends[0]);
    ::close(ends[1]);
    return drawn;
}

TEST(retry_scheduler, forked_child_draws_other_numbers_than_its_parent_unless_seeded) {
    asio::io_context unseeded, seeded;
    scheduler(unseeded);
    scheduler(seeded).seed(7);
    std::uint64_t const expected = drawn_in_forked_child(unseeded, false);
    std::uint64_t const child = drawn_in_forked_child(unseeded);
    EXPECT_NE(child, expected);
    EXPECT_NE(child, drawn_in_forked_child(unseeded)) << "nor do two children draw the same";
    EXPECT_EQ(scheduler(unseeded).next_random()(), expected) << "to the parent nothing happens";
    std::uint64_t const seeded_child = drawn_in_forked_child(seeded);
    EXPECT_EQ(seeded_child, scheduler(seeded).next_random()());
}

#endif

// A thread remembers what it has looked up.
TEST(retry_scheduler, a_context_at_the_same_address_has_one_of_its_own) {
    std::optional<asio::io_context> io;
    for (int i = 0; i != 2; ++i) {
        io.emplace();
        EXPECT_EQ(scheduler(*io).slack(), 1ms);
        EXPECT_EQ(&scheduler(*io), &asio::use_service<retry_scheduler>(*io));
        scheduler(*io).slack(7ms);
    }
}

} // namespace
} // namespace asio_retry
