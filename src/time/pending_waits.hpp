#pragma once

#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/duration.hpp>

#include "time/timing_wheel.hpp"
#include "time/wait_arrivals.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace asio_retry::detail {

/// The waits of a context: new arrivals, waits in the wheel, and waits that were ended early. Thread safety:
/// `arrive` needs no mutex. All other functions need the owner's.
class pending_waits {
public:
    explicit pending_waits(time_point reached) noexcept
        : wheel_(reached) {}

    /// Adds a wait without the mutex. Returns how many waits have arrived and are not yet in the wheel.
    unsigned arrive(wait_node& node, time_point expiry) noexcept {
        assert(!node.is_linked());
        timing_wheel::set_expiry(node, expiry);
        return arrivals_.add(node);
    }

    bool any_arrived() const noexcept { return !arrivals_.empty(); }

    /// Puts the arrivals into the wheel, and returns their number. The functions below are about the wheel.
    unsigned admit() noexcept {
        unsigned count = 0;
        arrivals_.take_all([&](wait_node& node) {
            wheel_.insert(node);
            ++count;
        });
        return count;
    }

    bool empty() const noexcept { return wheel_.empty(); }
    std::size_t size() const noexcept { return wheel_.size(); }
    std::uint64_t moved() const noexcept { return wheel_.moved(); }
    bool any_ended_early() const noexcept { return !ended_early_.empty(); }

    void insert(wait_node& node, time_point expiry) noexcept {
        wheel_.insert(node, std::max(expiry, time_point::min() + duration(1))); // min() is for early ends
    }
    void erase(wait_node& node) noexcept {
        if (node.was_ended_early())
            ended_early_.erase(node);
        else
            wheel_.erase(node);
    }

    /// Puts back a wait that was taken.
    void put_back(wait_node& node) noexcept {
        if (node.was_ended_early())
            ended_early_.push_back(node);
        else
            wheel_.insert(node);
    }

    /// Precondition: the wait has been erased.
    void end_early(wait_node& node) noexcept {
        timing_wheel::set_early(node);
        ended_early_.push_back(node);
    }

    /// Takes a wait that is over or was ended early. Alternates between the two kinds, so that neither has to
    /// wait for many of the other. `moves`: see timing_wheel.
    wait_node* take_due(time_point limit, duration slack, unsigned& moves) noexcept {
        takes_early_ = !takes_early_;
        if (takes_early_ && any_ended_early())
            return take_ended_early();
        wait_node* const due = wheel_.take_due(limit, slack, moves);
        return due ? due : take_ended_early();
    }
    void prepare(time_point now, duration slack, unsigned& moves) noexcept {
        wheel_.prepare(now, slack, moves);
    }
    std::optional<time_point> next_preparation(duration slack) const noexcept {
        return wheel_.next_preparation(slack);
    }

    wait_node* take_any() noexcept {
        wait_node* const ended = take_ended_early();
        return ended ? ended : wheel_.take_any();
    }

    std::optional<time_point> next_expiry(std::size_t looks) const noexcept {
        return wheel_.next_expiry(looks);
    }

    void restart(time_point reached) noexcept { wheel_.restart(reached); }

private:
    wait_node* take_ended_early() noexcept {
        wait_node* const node = ended_early_.empty() ? nullptr : &ended_early_.front();
        if (node)
            ended_early_.pop_front();
        return node;
    }

    wait_arrivals arrivals_;
    timing_wheel wheel_;
    linked_list<wait_node> ended_early_;
    bool takes_early_ = false;
};

} // namespace asio_retry::detail
