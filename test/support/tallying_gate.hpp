#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <cstdint>

namespace asio_retry::test {

/// Lets everything begin, and counts what runs and what has a lease, on any thread.
struct tallying_gate : retry_gate {
    bool acquire(failure_kind, time_point) noexcept override {
        ++leases;
        return true;
    }
    void give_back(failure_kind) noexcept override { --leases; }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        leases -= number != 1;
        ++running;
        return now;
    }
    void on_end(attempt_end const& end) noexcept override {
        leases += end.number != 1 && end.after == failure_kind::none; // another gate did not let it begin
        --running;
    }

    std::atomic<int> running = 0, leases = 0;
};

} // namespace asio_retry::test
