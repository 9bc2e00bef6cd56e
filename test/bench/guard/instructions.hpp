#pragma once

#include <cstddef>

namespace asio_retry::bench {

/// Begins that many waits on one scheduler and takes them all back, in another order.
void schedule_and_cancel(std::size_t count);

} // namespace asio_retry::bench

/// Only what runs inside this function is counted.
extern "C" void measured_work(void (*work)(void*), void* state);

namespace asio_retry::bench {

template <typename Work>
void measure(Work work) {
    measured_work([](void* state) { (*static_cast<Work*>(state))(); }, &work);
}

} // namespace asio_retry::bench
