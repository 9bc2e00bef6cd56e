#pragma once

#include <asio_retry/detail/time/wait_node.hpp>

#include "time/timing_wheel.hpp"

#include <atomic>

namespace asio_retry::detail {

/// Waits that have begun and are not in a wheel yet. Any thread adds one without a lock; who takes them has
/// one.
///
/// They are linked by their hooks, the latest first. So they count as linked, and no wait needs more memory.
class wait_arrivals {
public:
    wait_arrivals() noexcept = default;
    wait_arrivals(wait_arrivals const&) = delete;
    wait_arrivals& operator=(wait_arrivals const&) = delete;

    bool empty() const noexcept { return latest_.load() == nullptr; }

    /// Returns true now and then: they should be taken while they are still in a cache. Another thread may have
    /// taken this one already, and its wait be over. Precondition: the wait is nowhere.
    bool add(wait_node& wait) noexcept {
        node_ptr const node = traits::to_node_ptr(wait);
        node_ptr before = latest_.load(std::memory_order_relaxed);
        do
            links::set_next(node, before ? before : &first_);
        while (!latest_.compare_exchange_weak(before, node));
        return count_.fetch_add(1, std::memory_order_relaxed) % many == many - 1;
    }

    /// Hands over all of them in the order in which they were added. They are nowhere by then.
    template <typename Take>
    void take_all(Take take) noexcept {
        if (empty())
            return;
        node_ptr earliest = in_order(latest_.exchange(nullptr));
        while (earliest != &first_) {
            wait_node& wait = *traits::to_value_ptr(earliest);
            earliest = links::get_next(earliest);
            links::set_next(traits::to_node_ptr(wait), nullptr);
            take(wait);
        }
    }

private:
    using traits = timing_wheel::list::value_traits;
    using links = traits::node_traits;
    using node_ptr = links::node_ptr;

    static constexpr unsigned many = 64;

    node_ptr in_order(node_ptr latest) noexcept {
        node_ptr earliest = &first_;
        while (latest != &first_) {
            node_ptr const before = links::get_next(latest);
            links::set_next(latest, earliest);
            earliest = latest;
            latest = before;
        }
        return earliest;
    }

    std::atomic<node_ptr> latest_ = nullptr;
    std::atomic<unsigned> count_ = 0;
    links::node first_{}; // stands before the first: its link would be null, as that of a node which is nowhere
};

} // namespace asio_retry::detail
