#pragma once

#include "fleet/redis_process.hpp"

#include <asio_retry/random.hpp>

#include <chrono>
#include <thread>

namespace asio_retry::test {

/// The server hangs for a time in the range, or, unless that is wanted, is killed and comes back soon.
inline void hang_or_restart(fleet::redis_process& server, random& dice, bool must_hang, duration least,
                            duration greatest) {
    using namespace std::chrono_literals;
    if (must_hang || dice.uniform(0, 2) == 0) {
        server.pause();
        std::this_thread::sleep_for(dice.uniform(least, greatest));
        server.go_on();
    } else {
        server.kill();
        std::this_thread::sleep_for(dice.uniform(duration(0ms), duration(300ms)));
        server.restart();
    }
}

} // namespace asio_retry::test
