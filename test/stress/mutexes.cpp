// Threads that lock, try to lock, hold for as long as it happens and leave, at random.
#include "stress/watchdog.hpp"

#include <asio_retry/detail/time/brief_mutex.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

using detail::brief_mutex;

class mutexes : public testing::TestWithParam<int> {
protected:
    std::uint64_t const seed = std::random_device()();
    testing::ScopedTrace const trace{__FILE__, __LINE__, "seed " + std::to_string(seed)};
    watchdog dog{[](std::ostream& out) { out << "threads lock a few mutexes"; }};

    template <typename Act>
    void let_threads_act(Act act) {
        std::vector<std::thread> threads;
        for (int i = 0; i != GetParam(); ++i)
            threads.emplace_back([&, i] { act(std::mt19937_64(seed + static_cast<unsigned>(i))); });
        for (std::thread& thread : threads)
            thread.join();
    }

    /// For about so long, more or less.
    static void hold(std::mt19937_64& random) {
        if (random() % 256 == 0)
            std::this_thread::yield();
        for (std::atomic<unsigned> rest = random() % 4 ? 0 : random() % 512; rest > 0;)
            rest -= 1;
    }
};

// What they guard says so, and ThreadSanitizer besides.
TEST_P(mutexes, of_threads_are_had_by_one_at_a_time) {
    struct guarded {
        brief_mutex mutex;
        int in = 0;
        std::uint64_t times = 0;
    };
    std::array<guarded, 3> all;
    std::atomic<std::uint64_t> locked = 0;
    std::atomic<int> together = 0;
    let_threads_act([&](std::mt19937_64 random) {
        for (int i = 0; i != 20'000; ++i) {
            guarded& one = all[static_cast<std::size_t>(random() % all.size())];
            std::unique_lock lock(one.mutex, std::defer_lock);
            if (random() % 8 == 0 ? !lock.try_lock() : (lock.lock(), false))
                continue;
            ++one.times;
            if (++one.in != 1)
                ++together;
            hold(random);
            --one.in;
            ++locked;
            dog.moved();
        }
    });
    std::uint64_t times = 0;
    for (guarded& one : all) {
        times += one.times;
        EXPECT_TRUE(one.mutex.try_lock()) << "nobody has it";
        one.mutex.unlock();
    }
    EXPECT_EQ(times, locked);
    EXPECT_EQ(together, 0);
}

// A sanitizer of memory or of threads sees who touches it afterwards.
TEST_P(mutexes, are_destroyed_by_the_last_that_had_them) {
    struct owned {
        brief_mutex mutex;
        int owners;
        explicit owned(int threads)
            : owners(threads) {}
    };
    std::vector<owned*> all(1'000);
    for (owned*& one : all)
        one = new owned(GetParam());
    std::atomic<std::size_t> destroyed = 0;
    let_threads_act([&](std::mt19937_64 random) {
        for (owned* const one : all) {
            one->mutex.lock();
            hold(random);
            bool const is_last = --one->owners == 0;
            one->mutex.unlock();
            if (is_last) {
                delete one;
                ++destroyed;
            }
            dog.moved();
        }
    });
    EXPECT_EQ(destroyed, all.size());
}

INSTANTIATE_TEST_SUITE_P(few_and_many, mutexes, testing::Values(2, 3, 8));

} // namespace
} // namespace asio_retry::test
