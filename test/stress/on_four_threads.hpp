#pragma once

#include <asio_retry/random.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace asio_retry::test {

inline constexpr int thread_count = 4;

/// Calls `work(thread's number, its generator)` on four threads that begin together.
inline void on_four_threads(std::function<void(int, random&)> const& work) {
    std::atomic<int> waiting = thread_count;
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i)
        threads.emplace_back([&, i] {
            random dice(static_cast<std::uint64_t>(i) + 1);
            --waiting;
            while (waiting > 0)
                std::this_thread::yield();
            work(i, dice);
        });
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace asio_retry::test
