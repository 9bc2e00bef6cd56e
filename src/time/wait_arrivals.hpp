#pragma once

#include <asio_retry/detail/time/wait_node.hpp>

#include <atomic>

namespace asio_retry::detail {

/// Waits that have begun and are not in a wheel yet. Any thread adds a wait without a lock. The thread that
/// takes them has a lock.
///
/// They are linked by their hooks, the latest first. So they count as linked, and no wait needs more memory.
class wait_arrivals {
public:
    wait_arrivals() noexcept = default;
    wait_arrivals(wait_arrivals const&) = delete;
    wait_arrivals& operator=(wait_arrivals const&) = delete;

    bool empty() const noexcept { return latest_.load() == nullptr; }

    /// Returns roughly how many there are now. Do not use `wait` afterwards: another thread may have ended it.
    /// Precondition: the wait is in no list.
    unsigned add(wait_node& wait) noexcept {
        list_node* const node = wait_node::node_of(wait);
        list_node* before = latest_.load(std::memory_order_relaxed);
        do
            node->next_node = before ? before : &first_;
        while (!latest_.compare_exchange_weak(before, node));
        return count_.fetch_add(1, std::memory_order_relaxed) + 1;
    }

    /// Hands over all waits in the order in which they were added. They are in no list then.
    template <typename Take>
    void take_all(Take take) noexcept {
        if (empty())
            return;
        list_node* earliest = in_order(latest_.exchange(nullptr));
        count_.store(0, std::memory_order_relaxed); // waits that are being added may be counted or not
        while (earliest != &first_) {
            list_node* const node = earliest;
            earliest = node->next_node;
            node->next_node = nullptr;
            take(*wait_node::value_of<wait_node>(node));
        }
    }

private:
    list_node* in_order(list_node* latest) noexcept {
        list_node* earliest = &first_;
        while (latest != &first_) {
            list_node* const before = latest->next_node;
            latest->next_node = earliest;
            earliest = latest;
            latest = before;
        }
        return earliest;
    }

    std::atomic<list_node*> latest_ = nullptr;
    std::atomic<unsigned> count_ = 0;
    list_node first_; // stands for the end: a null link would say that a node is in no list
};

} // namespace asio_retry::detail
