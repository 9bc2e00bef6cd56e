#pragma once

#include <asio_retry/detail/time/linked_list.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/duration.hpp>

#include "time/slot_set.hpp"
#include "time/wheel_levels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// Waits, by expiry: a hierarchical timing wheel (Varghese and Lauck, 1987) whose ticks are nanoseconds, so
/// that it is exact to the end, and whose upper levels are left only as far as the slack of its user demands.
///
/// A level has slots, each as long as all of the level below. A wait is in the slot of the highest digit in
/// which its expiry differs from the time that the wheel has reached; so no slot is ever wrapped around, the
/// first occupied slot of the lowest occupied level has the first wait, and equal expiries keep their order. To
/// insert and to erase takes one step, however many waits there are.
class timing_wheel {
public:
    explicit timing_wheel(time_point reached) noexcept
        : reached_(tick_of(reached)) {}

    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    /// The wait has been taken back, to end early.
    static void set_early(wait_node& node) noexcept { node.expiry_ = wait_node::early; }

    /// For one that will be inserted.
    static void set_expiry(wait_node& node, time_point expiry) noexcept { node.expiry_ = expiry; }

    /// Precondition: the wait is in no wheel.
    void insert(wait_node& node) noexcept {
        assert(!node.is_linked());
        ++size_;
        link(node);
    }
    void insert(wait_node& node, time_point expiry) noexcept {
        set_expiry(node, expiry);
        insert(node);
    }

    /// Precondition: the wait is in this wheel.
    void erase(wait_node& node) noexcept {
        assert(node.is_linked() && size_ != 0);
        --size_;
        if (never_ends(node)) {
            slot::erase(node);
            return;
        }
        if (slot::erase(node))
            set_vacant(position_of(node));
    }

    /// The next wait that is over at `now`, or null. One that may still be late, being of a slot no longer than
    /// `slack` that has not ended yet, is left for later.
    wait_node* take_due(time_point now, duration slack) noexcept {
        tick const limit = tick_of(now);
        auto const longest = static_cast<tick>(std::max(slack, duration(1)).count());
        for (;;) {
            auto const first = first_occupied();
            if (!first) {
                reached_ = std::max(reached_, limit);
                return nullptr;
            }
            tick const start = start_of(*first);
            tick const length = length_of(first->level);
            bool const is_short = length <= longest;
            if (start > limit || (is_short && length - 1 > limit - start)) {
                reached_ = std::max(reached_, std::min(limit, start - 1));
                return nullptr;
            }
            if (is_short)
                return take_front(*first);
            reached_ = start;
            spread(*first);
        }
    }

    /// No wait is over before this; the first is at this time, if the slot that has it has at most `looks`
    /// waits.
    std::optional<time_point> next_expiry(std::size_t looks) const noexcept {
        auto const first = first_occupied();
        if (!first)
            return std::nullopt;
        tick const start = start_of(*first);
        if (first->level == 0)
            return time_of(start);
        tick least = std::numeric_limits<tick>::max();
        slot const& nodes = slot_at(*first);
        for (wait_node* node = &nodes.front(); node; node = nodes.after(*node)) {
            if (looks-- == 0)
                return time_of(start);
            least = std::min(least, tick_of(node->expiry()));
        }
        return time_of(least);
    }

    /// Any wait, or null.
    wait_node* take_any() noexcept {
        if (auto const first = first_occupied())
            return take_front(*first);
        if (endless_.empty())
            return nullptr;
        wait_node& node = endless_.front();
        endless_.pop_front();
        --size_;
        return &node;
    }

    /// The clock was set, perhaps back.
    void restart(time_point reached) noexcept {
        slot all;
        for (slot& nodes : slots_)
            all.append(nodes);
        occupied_ = {};
        occupied_levels_ = 0;
        reached_ = tick_of(reached);
        relink(all);
    }

private:
    using tick = std::uint64_t;
    using levels = wheel_levels;
    using slot = linked_list<wait_node>;

    struct position {
        unsigned level;
        unsigned index;
    };

    // Where the clock has come to its end, every wait that begins would be over at once, for ever.
    static bool never_ends(wait_node const& node) noexcept { return node.expiry() == time_point::max(); }

    static constexpr tick bias = tick(1) << 63; // times before the clock's epoch come first

    static tick tick_of(time_point t) noexcept {
        return static_cast<tick>(t.time_since_epoch().count()) ^ bias;
    }
    static time_point time_of(tick t) noexcept {
        return time_point(duration(static_cast<duration::rep>(t ^ bias)));
    }

    static tick length_of(unsigned level) noexcept { return tick(1) << levels::first_bits[level]; }

    position position_of(wait_node const& node) const noexcept {
        tick const when = std::max(tick_of(node.expiry()), reached_);
        wheel_digit const digit =
            wheel_digit_of_bit[static_cast<unsigned>(std::bit_width((when ^ reached_) | 1) - 1)];
        return {digit.level, static_cast<unsigned>(when >> digit.first_bit) & digit.last_slot};
    }

    slot& slot_at(position at) noexcept { return slots_[first_slot_of_wheel_level[at.level] + at.index]; }
    slot const& slot_at(position at) const noexcept {
        return slots_[first_slot_of_wheel_level[at.level] + at.index];
    }

    std::optional<position> first_occupied() const noexcept {
        if (occupied_levels_ == 0)
            return std::nullopt;
        auto const level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
        return position{level, occupied_[level].first()};
    }

    tick start_of(position at) const noexcept {
        tick const above = at.level + 1 == levels::count ? 0 : reached_ & ~(length_of(at.level + 1) - 1);
        return above | (tick(at.index) << levels::first_bits[at.level]);
    }

    void link(wait_node& node) noexcept {
        if (never_ends(node))
            return endless_.push_back(node);
        position const at = position_of(node);
        slot_at(at).push_back(node);
        occupied_[at.level].insert(at.index);
        occupied_levels_ |= 1u << at.level;
    }

    void set_vacant(position at) noexcept {
        occupied_[at.level].erase(at.index);
        if (occupied_[at.level].empty())
            occupied_levels_ &= ~(1u << at.level);
    }

    wait_node* take_front(position at) noexcept {
        slot& nodes = slot_at(at);
        wait_node& node = nodes.front();
        nodes.pop_front();
        if (nodes.empty())
            set_vacant(at);
        else
            prefetch_second(nodes);
        --size_;
        return &node;
    }

    /// The memory of the wait that will be the front one when this is: to take the front one touches its
    /// neighbour.
#if defined(__GNUC__)
    [[gnu::always_inline]] // else GCC takes it for a function without effect, and leaves it out
#endif
    static void
    prefetch_second([[maybe_unused]] slot const& nodes) noexcept {
#if defined(__GNUC__)
        if (wait_node const* const second = nodes.after(nodes.front()))
            for (int line = 0; line != 4; ++line)
                __builtin_prefetch(reinterpret_cast<char const*>(second) + std::ptrdiff_t(64) * line, 1);
#endif
    }

    /// Over the levels below, now that the slot has been reached.
    void spread(position at) noexcept {
        slot nodes(std::move(slot_at(at)));
        set_vacant(at);
        relink(nodes);
    }

    void relink(slot& nodes) noexcept {
        while (!nodes.empty()) {
            wait_node& node = nodes.front();
            nodes.pop_front();
            if (!nodes.empty())
                prefetch_second(nodes);
            link(node);
        }
    }

    std::array<slot, first_slot_of_wheel_level[levels::count]> slots_;
    std::array<slot_set, levels::count> occupied_;
    std::uint32_t occupied_levels_ = 0; // a bit each
    tick reached_;
    slot endless_;
    std::size_t size_ = 0;
};

} // namespace asio_retry::detail
