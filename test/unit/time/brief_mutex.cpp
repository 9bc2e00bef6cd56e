#include <asio_retry/detail/time/brief_mutex.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace asio_retry::detail {
namespace {

TEST(brief_mutex, is_not_taken_by_who_only_tries_while_another_has_it) {
    brief_mutex mutex;
    EXPECT_TRUE(mutex.try_lock());
    EXPECT_FALSE(mutex.try_lock());
    mutex.unlock();
    std::unique_lock const lock(mutex, std::try_to_lock);
    EXPECT_TRUE(lock.owns_lock());
}

TEST(brief_mutex, is_had_by_one_thread_at_a_time) {
    constexpr int each = 10'000;
    brief_mutex mutex;
    int in = 0;
    int times = 0;
    int greatest = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i != 4; ++i)
        threads.emplace_back([&] {
            for (int time = 0; time != each; ++time) {
                std::lock_guard const lock(mutex);
                greatest = std::max(greatest, ++in);
                ++times;
                if (time % 64 == 0)
                    std::this_thread::yield();
                --in;
            }
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(times, 4 * each);
    EXPECT_EQ(greatest, 1);
}

// They sleep by then.
TEST(brief_mutex, is_handed_to_all_that_have_waited_for_long) {
    constexpr int waiting = 3;
    for (int round = 0; round != 100; ++round) {
        brief_mutex mutex;
        std::atomic<int> come = 0;
        int had = 0;
        mutex.lock();
        std::vector<std::thread> threads;
        for (int i = 0; i != waiting; ++i)
            threads.emplace_back([&] {
                ++come;
                std::lock_guard const lock(mutex);
                EXPECT_EQ(come, waiting);
                ++had;
            });
        while (come != waiting)
            std::this_thread::yield();
        for (int i = 0; i != 200; ++i)
            std::this_thread::yield();
        EXPECT_FALSE(mutex.try_lock()) << "somebody waits for it, and one has it";
        EXPECT_EQ(had, 0);
        mutex.unlock();
        for (std::thread& thread : threads)
            thread.join();
        EXPECT_EQ(had, waiting);
    }
}

} // namespace
} // namespace asio_retry::detail
