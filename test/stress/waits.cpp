// Waits that begin, end and are taken back at random, on threads that run the context and on others.
#include "stress/sanitized.hpp"
#include "stress/watchdog.hpp"

#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// A wait that somebody owns. Whoever finds it waiting may only take it back.
class owned_wait final : public detail::wait_node {
public:
    std::atomic<bool> waits = false;
    std::atomic<int> ends = 0;
    int begun = 0;
    int taken_back = 0;
    int memory_after = 0; ///< so many tries to end it
    bool lasts_long = false;

private:
    bool on_expiry() override {
        if (memory_after > 0 && memory_after-- > 0)
            return false;
        ends.fetch_add(1, std::memory_order_relaxed);
        waits.store(false, std::memory_order_release);
        return true;
    }
    void on_shutdown() noexcept override { waits.store(false, std::memory_order_release); }
};

/// A thread that has waits of its own.
class waiter {
public:
    waiter(asio::io_context& io, std::uint64_t seed, std::size_t waits, watchdog& dog)
        : io_(io)
        , scheduler_(scheduler(io))
        , random_(seed)
        , waits_(waits)
        , dog_(dog) {}

    void act(int times) {
        for (int i = 0; i != times; ++i) {
            act();
            dog_.moved();
        }
    }

    /// Until none waits. What would last for long is taken back.
    void finish() {
        for (owned_wait& wait : waits_)
            if (wait.lasts_long && wait.waits.load(std::memory_order_acquire))
                take_back(wait);
        for (owned_wait& wait : waits_)
            while (wait.waits.load(std::memory_order_acquire))
                std::this_thread::yield();
    }

    /// Every wait has ended once, or was taken back.
    void expect_ended() const {
        for (owned_wait const& wait : waits_)
            EXPECT_EQ(wait.begun, wait.ends + wait.taken_back);
    }

private:
    void act() {
        owned_wait& wait = waits_[static_cast<std::size_t>(random_() % waits_.size())];
        unsigned const what = random_() % 16;
        if (what == 0)
            scheduler_.slack(random_() % 2 ? 1ms : 0ms);
        else if (what == 1)
            static_cast<void>(scheduler_.pending());
        else if (!wait.waits.load(std::memory_order_acquire))
            begin(wait);
        else if (what < 12)
            take_back(wait);
        else if (wait.waits.load(std::memory_order_acquire))
            scheduler_.end_early(wait, io_); // or it is over
    }

    void begin(owned_wait& wait) {
        wait.waits = true;
        ++wait.begun;
        wait.memory_after = random_() % 1000 == 0;
        wait.lasts_long = random_() % 8 == 0;
        time_point expiry = scheduler_.now() + std::chrono::microseconds(random_() % 300);
        if (wait.lasts_long)
            expiry = random_() % 2 ? time_point::max() : expiry + 1h;
        ASSERT_TRUE(scheduler_.schedule(wait, expiry));
    }

    void take_back(owned_wait& wait) {
        if (scheduler_.cancel(wait)) {
            ++wait.taken_back;
            wait.waits = false;
        }
    }

    asio::io_context& io_;
    retry_scheduler& scheduler_;
    std::mt19937_64 random_;
    std::deque<owned_wait> waits_;
    watchdog& dog_;
};

class waits : public testing::TestWithParam<std::size_t> {
protected:
    static constexpr int actions = ASIO_RETRY_TEST_SANITIZED ? 20'000 : 200'000;

    void let_threads_act(asio::io_context& io, int running, int outside,
                         std::deque<owned_wait>* left = nullptr) {
        watchdog dog([](std::ostream& out) { out << "waits begin and are taken back"; });
        std::deque<waiter> waiters;
        std::vector<std::thread> threads, runners;
        auto work = std::make_unique<asio::executor_work_guard<asio::io_context::executor_type>>(
            asio::make_work_guard(io));
        for (int i = 0; i != running; ++i)
            runners.emplace_back([&io] { io.run(); });
        for (int i = 0; i != outside; ++i)
            waiters.emplace_back(io, seed + static_cast<unsigned>(i), GetParam(), dog);
        for (waiter& one : waiters)
            threads.emplace_back([&one] {
                one.act(actions);
                one.finish();
            });
        for (std::thread& thread : threads)
            thread.join();
        if (left)
            for (owned_wait& wait : *left)
                while (wait.waits.load(std::memory_order_acquire))
                    std::this_thread::yield();
        EXPECT_EQ(scheduler(io).pending(), 0u);
        work.reset();
        for (std::thread& thread : runners)
            thread.join(); // for no timer is left
        for (waiter const& one : waiters)
            one.expect_ended();
    }

    std::uint64_t const seed = std::random_device()();
    testing::ScopedTrace const trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
};

TEST_P(waits, of_threads_end_once_or_are_taken_back) {
    asio::io_context io;
    let_threads_act(io, 2, 3);
}

// The mutex alone.
TEST_P(waits, decision_13_of_a_context_of_one_thread_may_be_taken_back_from_others) {
    asio::io_context io(1);
    let_threads_act(io, 1, 3);
}

TEST_P(waits, end_after_the_clock_was_restarted) {
    asio::io_context io;
    std::deque<owned_wait> left(GetParam());
    {
        virtual_time time(io);
        for (owned_wait& wait : left) {
            wait.waits = true;
            scheduler(io).schedule(wait, time.now() + 2ms);
        }
        time.advance(1ms);
    }
    io.restart();
    let_threads_act(io, 2, 2, &left);
    for (owned_wait const& wait : left)
        EXPECT_EQ(wait.ends, 1);
}

// Some are in the wheel by then and some have just arrived.
TEST_P(waits, decision_25_are_shut_down_with_their_context) {
    for (int round = 0; round != 20; ++round) {
        std::deque<owned_wait> left(3 * GetParam());
        std::optional<asio::io_context> context(std::in_place);
        asio::io_context& io = *context;
        std::atomic<std::size_t> next = 0;
        auto const begin = [&] {
            for (std::size_t i = next++; i < left.size(); i = next++) {
                left[i].waits = true;
                scheduler(io).schedule(left[i], scheduler(io).now() + 1h);
            }
        };
        std::thread other(begin);
        begin();
        other.join();
        EXPECT_EQ(scheduler(io).pending(), left.size());
        context.reset();
        for (owned_wait const& wait : left) {
            EXPECT_FALSE(wait.waits);
            EXPECT_EQ(wait.ends, 0);
        }
    }
}

// The timer is disarmed for want of waits, and just then there is one. Nothing else would wake the context up.
TEST(waits_of_two, end_though_the_other_is_taken_back_when_they_begin) {
    constexpr int rounds = 1'000;
    asio::io_context io;
    retry_scheduler& scheduler = asio_retry::scheduler(io);
    watchdog dog([](std::ostream& out) { out << "a wait begins when the last one is taken back"; });
    auto work = asio::make_work_guard(io);
    std::thread runner([&io] { io.run(); });
    owned_wait first, second;
    std::atomic<int> begun = 0, taken_back = 0;
    std::thread other([&] {
        for (int round = 1; round <= rounds; ++round) {
            while (begun.load() != round)
                std::this_thread::yield();
            for (std::atomic<int> pause = round % 64; pause > 0;)
                pause -= 1;
            if (scheduler.cancel(first))
                first.waits = false;
            taken_back = round;
        }
    });
    for (int round = 1; round <= rounds; ++round) {
        auto const expiry = scheduler.now() + 50us;
        first.waits = second.waits = true;
        scheduler.schedule(first, expiry);
        begun = round;
        for (std::atomic<int> pause = round * 7 % 64; pause > 0;)
            pause -= 1;
        scheduler.schedule(second, expiry + 1us);
        while (taken_back.load() != round || first.waits || second.waits)
            std::this_thread::yield();
        dog.moved();
    }
    other.join();
    EXPECT_EQ(second.ends, rounds);
    work.reset();
    runner.join();
}

INSTANTIATE_TEST_SUITE_P(few_and_many, waits, testing::Values(1, 2, 100));

TEST(virtual_time_of_two_threads, is_looked_at_while_it_is_moved) {
    asio::io_context io;
    virtual_time time(io);
    retry_scheduler& scheduler = asio_retry::scheduler(io);
    time_point const begin = time.now();
    std::atomic<bool> has_begun = false;
    bool only_forward = true;
    std::thread other([&] {
        for (time_point last = begin; last < begin + 1s;) {
            time_point const now = scheduler.now();
            only_forward = only_forward && now >= last;
            last = now;
            has_begun = true;
        }
    });
    while (!has_begun)
        std::this_thread::yield();
    for (int i = 0; i != 1000; ++i)
        time.advance(1ms);
    other.join();
    EXPECT_TRUE(only_forward);
    EXPECT_EQ(scheduler.now(), begin + 1s);
}

} // namespace
} // namespace asio_retry::test
