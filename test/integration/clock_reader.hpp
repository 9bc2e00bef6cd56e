#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <thread>

namespace asio_retry::test {

/// A thread that reads its own CPU clock a tenth of the time, and does nothing else. What passes between two
/// reads was taken by interrupts or by the host of a virtual machine; the system counts it as the thread's all
/// the same.
class clock_reader {
public:
    static constexpr std::chrono::milliseconds long_pause{4};

    /// Pauses longer than `long_pause`.
    std::size_t long_pauses() const noexcept { return long_; }

private:
    static std::chrono::nanoseconds cpu_time() noexcept {
        std::timespec now{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
    }

    void read(std::stop_token stop) {
        using namespace std::chrono_literals;
        while (!stop.stop_requested()) {
            auto const began = cpu_time();
            for (auto last = began; last < began + 2ms;) {
                auto const now = cpu_time();
                long_ += now - last > long_pause;
                last = now;
            }
            std::this_thread::sleep_for(18ms);
        }
    }

    std::atomic<std::size_t> long_ = 0;
    std::jthread thread_{[this](std::stop_token stop) { read(std::move(stop)); }};
};

} // namespace asio_retry::test
