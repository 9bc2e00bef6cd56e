#pragma once

#include <asio_retry/duration.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace asio_retry::detail {

/// Finds which of `count` things, numbered from 0, is due first. It is a binary heap that knows the place of
/// each thing, so that each function takes O(log count) at most. Of things that are due at the same time, the
/// one inserted first is the first. Only the constructor allocates.
class due_heap {
public:
    explicit due_heap(std::size_t count)
        : where_(count, nowhere) {
        heap_.reserve(count);
    }

    bool empty() const noexcept { return heap_.empty(); }
    std::size_t size() const noexcept { return heap_.size(); }
    bool contains(std::uint32_t thing) const noexcept { return where_[thing] != nowhere; }

    /// The thing that is due first, and its time. Precondition: !empty()
    std::uint32_t first() const noexcept { return heap_.front().thing; }
    time_point first_time() const noexcept { return heap_.front().when; }

    /// Inserts a thing, or changes when it is due.
    void set(std::uint32_t thing, time_point when) noexcept {
        if (!contains(thing)) {
            where_[thing] = static_cast<std::uint32_t>(heap_.size());
            heap_.push_back({when, next_order_++, thing}); // the memory is reserved
        }
        settle({when, heap_[where_[thing]].order, thing}, where_[thing]);
    }

    /// Does nothing if it does not contain the thing.
    void erase(std::uint32_t thing) noexcept {
        if (!contains(thing))
            return;
        std::uint32_t const hole = std::exchange(where_[thing], nowhere);
        due const last = heap_.back();
        heap_.pop_back();
        if (last.thing != thing)
            settle(last, hole);
    }

private:
    static constexpr std::uint32_t nowhere = (std::numeric_limits<std::uint32_t>::max)();

    struct due {
        time_point when;
        std::uint64_t order; // the number of the insertion
        std::uint32_t thing;

        bool is_before(due const& other) const noexcept {
            return when < other.when || (when == other.when && order < other.order);
        }
    };

    /// Inserts `what` at the free index `at`, and moves it up or down to its place.
    void settle(due const& what, std::size_t at) noexcept {
        for (; at > 0 && what.is_before(heap_[(at - 1) / 2]); at = (at - 1) / 2)
            put(heap_[(at - 1) / 2], at);
        for (std::size_t below; (below = 2 * at + 1) < heap_.size(); at = below) {
            if (below + 1 < heap_.size() && heap_[below + 1].is_before(heap_[below]))
                ++below;
            if (!heap_[below].is_before(what))
                break;
            put(heap_[below], at);
        }
        put(what, at);
    }

    void put(due what, std::size_t at) noexcept {
        heap_[at] = what;
        where_[what.thing] = static_cast<std::uint32_t>(at);
    }

    std::uint64_t next_order_ = 0;
    std::vector<due> heap_;
    std::vector<std::uint32_t> where_;
};

} // namespace asio_retry::detail
