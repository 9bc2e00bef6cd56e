#pragma once

#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace asio_retry::test {

/// A clock for a blocking retry that moves only when it waits, or when the test moves it.
struct manual_waits {
    time_point time{std::chrono::hours(1)};
    std::vector<duration> delays;
    bool stop = false;
    std::uint64_t seed = 7;
    std::function<void()> on_wait = [] {};

    time_point now() const { return time; }
    void wait_until(time_point when) {
        delays.push_back(when - time);
        on_wait();
        if (!stop)
            time = when;
    }
    bool stopped() const { return stop; }
    random next_random() const { return random(seed); }
};

} // namespace asio_retry::test
