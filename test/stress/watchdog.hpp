#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <mutex>
#include <thread>
#include <utility>

namespace asio_retry::test {

/// Ends the program, saying what hangs, when nothing has moved for a long time; slowness alone is none.
class watchdog {
public:
    explicit watchdog(std::function<void(std::ostream&)> describe,
                      std::chrono::seconds patience = std::chrono::seconds(120))
        : describe_(std::move(describe))
        , patience_(patience)
        , thread_([this] { watch(); }) {}

    ~watchdog() {
        {
            std::lock_guard const lock(mutex_);
            over_ = true;
        }
        end_.notify_all();
        thread_.join();
    }
    watchdog(watchdog const&) = delete;
    watchdog& operator=(watchdog const&) = delete;

    void moved() noexcept { moves_.fetch_add(1, std::memory_order_relaxed); }

private:
    void watch() {
        std::unique_lock lock(mutex_);
        for (std::uint64_t before = 0, now = 0;; before = now) {
            if (end_.wait_for(lock, patience_, [this] { return over_; }))
                return;
            now = moves_.load(std::memory_order_relaxed);
            if (now != before)
                continue;
            std::cerr << "nothing has moved for " << patience_.count() << " seconds: ";
            describe_(std::cerr);
            std::cerr << std::endl;
            std::abort();
        }
    }

    std::function<void(std::ostream&)> describe_;
    std::chrono::seconds patience_;
    std::atomic<std::uint64_t> moves_ = 1;
    std::mutex mutex_;
    std::condition_variable end_;
    bool over_ = false;
    std::thread thread_; // the last, since it uses the others
};

} // namespace asio_retry::test
