#pragma once

#include <atomic>

namespace asio_retry::detail {

/// Lets one thread at a time into an operation; whoever finds it occupied queues again behind the occupant.
///
/// The initiating function, the end of an attempt and the notices of a time limit or a scope may meet on the
/// threads of a context; an executor that is no strand does not keep them apart. The occupant also pins the
/// operation in memory.
class occupancy {
public:
    bool try_enter() noexcept {
        auto expected = state::free;
        return state_.compare_exchange_strong(expected, state::occupied, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }

    /// Returns false, and stays, if the owner was dropped meanwhile.
    [[nodiscard]] bool leave() noexcept {
        auto expected = state::occupied;
        return state_.compare_exchange_strong(expected, state::free, std::memory_order_release,
                                              std::memory_order_acquire);
    }

    /// Notes for the occupant that nobody will carry the operation on; false if there is no occupant.
    bool drop_owner() noexcept {
        auto expected = state::occupied;
        return state_.compare_exchange_strong(expected, state::dropped, std::memory_order_acq_rel);
    }

    /// The occupant takes note of a dropped owner, and stays.
    bool take_dropped() noexcept {
        auto expected = state::dropped;
        return state_.compare_exchange_strong(expected, state::occupied, std::memory_order_acq_rel);
    }

    void vacate() noexcept { state_.store(state::free, std::memory_order_release); }

private:
    enum class state : unsigned char { free, occupied, dropped };

    std::atomic<state> state_ = state::occupied; // by the initiating function
};

} // namespace asio_retry::detail
