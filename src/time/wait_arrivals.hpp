#pragma once

#include <asio_retry/detail/time/wait_node.hpp>

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

    /// Returns how many there are now, about. Another thread may have taken this one already, and its wait be
    /// over. Precondition: the wait is nowhere.
    unsigned add(wait_node& wait) noexcept {
        list_node* const node = wait_node::node_of(wait);
        list_node* before = latest_.load(std::memory_order_relaxed);
        do
            node->next_node = before ? before : &first_;
        while (!latest_.compare_exchange_weak(before, node));
        return count_.fetch_add(1, std::memory_order_relaxed) + 1;
    }

    /// Hands over all of them in the order in which they were added. They are nowhere by then.
    template <typename Take>
    void take_all(Take take) noexcept {
        if (empty())
            return;
        list_node* earliest = in_order(latest_.exchange(nullptr));
        count_.store(0, std::memory_order_relaxed); // those that are being added will be counted or not
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
    list_node first_; // stands before the first: its link would be null, as that of a node which is nowhere
};

} // namespace asio_retry::detail
