#pragma once

#include <asio_retry/detail/policy/linked_list.hpp>
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

/// Waits by expiry: a hierarchical timing wheel (Varghese and Lauck, 1987). Its ticks are nanoseconds, so that
/// it is exact. Waits move to lower levels only as far as the slack of the user requires it.
///
///     level 1   |          here         |          next         |  ...
///     level 0   |__|__|__|__|__|__|__|__|__|__|__|__|__|__|__|__|
///
/// - The slots of a level cover two slots of the level above: the slot of the reached time, and the next slot.
/// - A wait is in the level of the highest digit in which its expiry differs from the reached time.
/// - If its slot there is the next slot and has no waits, the wait goes to the level below, by this same rule.
/// - Time enters no slot that has waits, except in level 0: before, the waits have ended or moved down.
///
/// So waits can move down before they are needed, some at a time, and equal expiries keep their order. To
/// insert and to erase takes one step, however many waits there are.
///
/// `moves`: how many waits a function may still move to a lower level. If it becomes zero, there may be more to
/// do.
class timing_wheel {
public:
    explicit timing_wheel(time_point reached) noexcept
        : reached_(tick_of(reached)) {}

    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    /// How many waits have ever been moved to a lower level.
    std::uint64_t moved() const noexcept { return moved_; }

    /// Marks a wait that was taken back, to end early.
    static void set_early(wait_node& node) noexcept { node.expiry_ = wait_node::early; }

    /// Sets the expiry of a wait before `insert`.
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
        if (slot const* const emptied = slot::erase(node))
            set_vacant(position_of(*emptied));
    }

    /// The next wait that is over at `now`, or null. Waits of a slot that is no longer than `slack` are taken
    /// only when the whole slot is over.
    wait_node* take_due(time_point now, duration slack, unsigned& moves) noexcept {
        auto const first = reach(tick_of(now), slack, moves);
        return first ? take_front(*first) : nullptr;
    }

    /// Goes on to `now`, or to the first wait that is over before. Empties the next slots of upper levels
    /// before time enters them.
    void prepare(time_point now, duration slack, unsigned& moves) noexcept {
        reach(tick_of(now), slack, moves);
        for (unsigned number = levels::first_prepared; moves != 0 && number != levels::count; ++number) {
            wheel_level const& level = wheel_level_table[number];
            unsigned const next = (index_of(level, reached_) + 1) & level.last_slot;
            if (is_prepared(level, slack) && occupied_[number].contains(next))
                spread({number, next}, moves);
        }
    }

    /// When `prepare` has to be called. Earlier calls of `take_due` may have done its work.
    std::optional<time_point> next_preparation(duration slack) const noexcept {
        std::optional<time_point> first;
        for (unsigned number = levels::first_prepared; number != levels::count; ++number) {
            wheel_level const& level = wheel_level_table[number];
            if (occupied_[number].empty() || !is_prepared(level, slack))
                continue;
            time_point const entered_before = time_of(first_of(level).start - length_of(level));
            first = first ? std::min(*first, entered_before) : entered_before;
        }
        return first;
    }

    /// A time before which no wait is over. It is the expiry of the first wait, if that is in a slot of at most
    /// `looks` waits that is not being emptied.
    std::optional<time_point> next_expiry(std::size_t looks) const noexcept {
        if (occupied_levels_ == 0)
            return std::nullopt;
        auto const [at, start] = first_occupied();
        if (at.level == 0 || is_being_emptied(at))
            return time_of(start);
        tick least = std::numeric_limits<tick>::max();
        slot const& nodes = slots_[number_of(at)];
        for (wait_node* node = &nodes.front(); node; node = nodes.after(*node)) {
            if (looks-- == 0)
                return time_of(start);
            least = std::min(least, tick_of(node->expiry()));
        }
        return time_of(least);
    }

    /// Any wait, or null.
    wait_node* take_any() noexcept {
        if (occupied_levels_ != 0)
            return take_front(first_occupied().at);
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
        while (!all.empty())
            link(pop_front(all));
    }

private:
    using tick = std::uint64_t;
    using levels = wheel_levels;
    using slot = linked_list<wait_node>;

    struct position {
        unsigned level;
        unsigned index;
    };

    // time_point::max() means never, even if the clock has come to its end. Such waits are in no slot.
    static bool never_ends(wait_node const& node) noexcept { return node.expiry() == time_point::max(); }

    static constexpr tick bias = tick(1) << 63; // times before the clock's epoch come first

    static tick tick_of(time_point t) noexcept {
        return static_cast<tick>(t.time_since_epoch().count()) ^ bias;
    }
    static time_point time_of(tick t) noexcept {
        return time_point(duration(static_cast<duration::rep>(t ^ bias)));
    }

    struct beginning {
        position at;
        tick start;
    };

    static tick length_of(wheel_level const& level) noexcept { return tick(1) << level.first_bit; }

    static unsigned index_of(wheel_level const& level, tick when) noexcept {
        return static_cast<unsigned>(when >> level.first_bit) & level.last_slot;
    }

    static bool is_prepared(wheel_level const& level, duration slack) noexcept {
        return length_of(level) > static_cast<tick>(slack.count());
    }

    static unsigned number_of(position at) noexcept {
        return wheel_level_table[at.level].first_slot + at.index;
    }
    position position_of(slot const& nodes) const noexcept {
        auto const number = static_cast<unsigned>(&nodes - slots_.data());
        unsigned const level = level_of_wheel_block[number / wheel_block];
        return {level, number - wheel_level_table[level].first_slot};
    }

    position place_of(tick when) const noexcept {
        return place_from(level_of_wheel_bit[static_cast<unsigned>(std::bit_width((when ^ reached_) | 1) - 1)],
                          when);
    }

    /// The place of a time at this level or below. Precondition: the time is in the slot of the level above
    /// that the wheel has reached, or in the next one.
    position place_from(unsigned number, tick when) const noexcept {
        for (;; --number) {
            wheel_level const& level = wheel_level_table[number];
            position const at{number, index_of(level, when)};
            bool const is_next = (when >> level.first_bit) - (reached_ >> level.first_bit) == 1;
            if (!is_next || number == 0 || occupied_[number].contains(at.index))
                return at;
        }
    }

    /// Whether some waits have left the slot for levels below. Precondition: it is the first slot with waits.
    bool is_being_emptied(position at) const noexcept {
        return at.level != static_cast<unsigned>(std::countr_zero(occupied_levels_));
    }

    /// Precondition: the level has waits.
    beginning first_of(wheel_level const& level) const noexcept {
        tick const here = reached_ >> level.first_bit;
        unsigned const index =
            occupied_[level.number].first_from(static_cast<unsigned>(here) & level.last_slot);
        tick const ahead = (index - here) & level.last_slot;
        return {{level.number, index}, (here + ahead) << level.first_bit};
    }

    /// The first slot that has waits. Of slots that begin at the same time it is that of the highest level,
    /// which has to be emptied first. Precondition: some level has waits.
    beginning first_occupied() const noexcept {
        std::uint32_t rest = occupied_levels_;
        beginning first{{}, std::numeric_limits<tick>::max()};
        do {
            wheel_level const& level = wheel_level_table[static_cast<unsigned>(std::countr_zero(rest))];
            beginning const its_first = first_of(level);
            if (its_first.start <= first.start)
                first = its_first;
            if (((its_first.start ^ reached_) & level.other_slots_above) == 0)
                break; // all slots of the levels above begin later
            rest &= rest - 1;
        } while (rest != 0);
        return first;
    }

    void link(wait_node& node) noexcept {
        if (never_ends(node))
            return endless_.push_back(node);
        link_at(node, place_of(std::max(tick_of(node.expiry()), reached_)));
    }

    void link_at(wait_node& node, position at) noexcept {
        slots_[number_of(at)].push_back(node);
        occupied_[at.level].insert(at.index);
        occupied_levels_ |= 1u << at.level;
    }

    void set_vacant(position at) noexcept {
        occupied_[at.level].erase(at.index);
        if (occupied_[at.level].empty())
            occupied_levels_ &= ~(1u << at.level);
    }

    /// Goes on to `limit`, or up to the first slot whose waits are over, and returns that slot.
    std::optional<position> reach(tick limit, duration slack, unsigned& moves) noexcept {
        auto const longest = static_cast<tick>(std::max(slack, duration(1)).count());
        while (occupied_levels_ != 0) {
            auto const [at, start] = first_occupied();
            tick const length = length_of(wheel_level_table[at.level]);
            bool const is_short = length <= longest && !is_being_emptied(at);
            if (start > limit || (is_short && length - 1 > limit - start)) {
                reached_ = std::max(reached_, std::min(limit, start - 1));
                return std::nullopt;
            }
            if (is_short)
                return at;
            reached_ = std::max(reached_, start - 1);
            if (has_only_one_until(at, limit)) // the one wait need not be moved
                return at;
            if (moves == 0)
                return std::nullopt;
            spread(at, moves);
        }
        reached_ = std::max(reached_, limit);
        return std::nullopt;
    }

    /// Whether the slot has only one wait, none has left it, and that one is over. Precondition: it is the
    /// first slot with waits.
    bool has_only_one_until(position at, tick limit) const noexcept {
        slot const& nodes = slots_[number_of(at)];
        return !is_being_emptied(at) && !nodes.after(nodes.front()) && tick_of(nodes.front().expiry()) <= limit;
    }

    wait_node* take_front(position at) noexcept {
        slot& nodes = slots_[number_of(at)];
        wait_node& node = nodes.front();
        nodes.pop_front();
        if (nodes.empty())
            set_vacant(at);
        else
            prefetch_second(nodes);
        --size_;
        return &node;
    }

    /// Fetches the neighbour of the front wait into the cache: taking the front wait touches it.
#if defined(__GNUC__)
    [[gnu::always_inline]] // otherwise GCC leaves it out as a function without effect
#endif
    static void
    prefetch_second([[maybe_unused]] slot const& nodes) noexcept {
#if defined(__GNUC__)
        if (wait_node const* const second = nodes.after(nodes.front()))
            for (int line = 0; line != 4; ++line)
                __builtin_prefetch(reinterpret_cast<char const*>(second) + std::ptrdiff_t(64) * line, 1);
#endif
    }

    /// Empties the slot into the levels below, unless that takes too many moves. Precondition: it is the next
    /// slot of its level.
    void spread(position at, unsigned& moves) noexcept {
        slot& nodes = slots_[number_of(at)];
        for (; moves != 0 && !nodes.empty(); --moves) {
            ++moved_;
            wait_node& node = pop_front(nodes);
            link_at(node, place_from(at.level - 1, tick_of(node.expiry())));
        }
        if (nodes.empty())
            set_vacant(at);
    }

    static wait_node& pop_front(slot& nodes) noexcept {
        wait_node& node = nodes.front();
        nodes.pop_front();
        if (!nodes.empty())
            prefetch_second(nodes);
        return node;
    }

    std::array<slot, wheel_slots> slots_;
    std::array<slot_set, levels::count> occupied_;
    std::uint32_t occupied_levels_ = 0; // a bit for each level
    tick reached_;
    slot endless_;
    std::size_t size_ = 0;
    std::uint64_t moved_ = 0;
};

} // namespace asio_retry::detail
