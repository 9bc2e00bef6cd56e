#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/gate_waiter.hpp>
#include <asio_retry/jitter.hpp>
#include <asio_retry/pushback.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>

namespace asio_retry::detail {

/// The state of a rule of `when` or `max_attempts_when`.
struct alignas(std::atomic<duration::rep>) rule_state { // aligned like the attempt_pulse that may follow
    std::uint64_t failures = 0;                         // since the last reset
    jitter_course course;
};

/// The state of a running attempt that must report to avoid its limit; maybe written on another thread.
struct attempt_pulse {
    std::atomic<duration::rep> heard = 0; // when it last made progress
    std::atomic<bool> is_healthy = false;
};

/// The part of a retry_machine for gates, observers and attempts that report what their server said. A waiter,
/// the rules' states and the attempt's pulse follow it in memory. It is apart, because most operations need
/// none of it.
struct alignas(rule_state) operation_story {
    // The operation's error if nothing more happens: the failure before this wait, whose result is gone, or
    // else the refusal.
    error_code last = error::attempt_refused;
    std::exception_ptr thrown; // by the attempt that failed
    std::uint64_t has_failure : 1 = false;
    std::uint64_t is_announced : 1 = false; // the observer knows of the attempt that begins or runs
    std::uint64_t is_observed : 1 = false;  // between the start and the end
    std::uint64_t is_queued : 1 = false;    // in the queue of a gate
    std::uint64_t is_reserved : 1 =
        false; // admitted for `held_until`, and not for the time when it was asked for
    std::uint64_t is_watching : 1 = false;         // for a reserved time that the gate may move
    std::uint64_t has_room_for_waiter : 1 = false; // behind this object
    std::uint64_t is_put_off : 1 = false;          // refused, because a server rests and no other may be asked
    std::uint64_t refuser_length : 16 = 0;         // see below
    std::uint64_t reached : 3 = 0;                 // the time_limit that stopped the attempt that failed last
    std::uint64_t refusals : 37 = 0;               // since the last reset of the failures

    // Of the running attempt.
    pushback heeded;
    shared_value<nested_marks> marks; // of a retry nested in the attempt; null if there is none

    duration waited{}; // since the last reset; for max_waited

    // Of an attempt that may begin later, or is refused.
    time_point held_until{};       // the reserved time, when it leaves the queue, or until when it is refused
    std::uint64_t ticket = 0;      // of its admission
    gate_waiter* waiter = nullptr; // null until it waits in a queue, or for a reserved time

    // For the observer.
    std::uint64_t number = 0;                   // of the operation; 0 if no observer hears of it
    time_point initiated = (time_point::max)(); // used by hooks too, from the first reset on
    time_point seen{};                          // the time of the last event
    duration attempted{};                       // the duration of all attempts
    char const* refuser = nullptr;              // the name of the gate that refused last

    /// The gate that refused last, as the observer got it. Its name lives as long as the program.
    std::string_view last_refuser() const noexcept { return {refuser, refuser_length}; }
    void note_refuser(std::string_view name) noexcept {
        refuser = name.data();
        refuser_length = static_cast<std::uint16_t>(name.size());
    }

    /// Makes one for `rules` rules, with a pulse if `has_pulse`, and with room for a waiter if `has_waiter`;
    /// null without memory.
    static operation_story* make(std::size_t rules, bool has_pulse, bool has_waiter) noexcept {
        std::size_t const behind = (has_waiter ? sizeof(gate_waiter) : 0) + rules * sizeof(rule_state) +
                                   (has_pulse ? sizeof(attempt_pulse) : 0);
        void* const memory = ::operator new(sizeof(operation_story) + behind, std::nothrow);
        if (!memory)
            return nullptr;
        auto* const made = ::new (memory) operation_story();
        made->has_room_for_waiter = has_waiter;
        auto* const first = static_cast<rule_state*>(made->behind_waiter());
        std::uninitialized_value_construct_n(first, rules);
        if (has_pulse)
            ::new (static_cast<void*>(first + rules)) attempt_pulse();
        return made;
    }
    static void destroy(operation_story* made) noexcept {
        if (made->waiter && made->has_room_for_waiter)
            std::destroy_at(made->waiter);
        else
            delete made->waiter;
        std::destroy_at(made);
        ::operator delete(made);
    }

    /// Makes the waiter, or makes it ready for another wait. Returns false without memory.
    bool renew_waiter(request_priority priority) noexcept {
        if (waiter)
            waiter->renew();
        else if (has_room_for_waiter)
            waiter = ::new (static_cast<void*>(this + 1)) gate_waiter(priority);
        else
            waiter = new (std::nothrow) gate_waiter(priority);
        return waiter != nullptr;
    }

    void* behind_waiter() noexcept {
        return reinterpret_cast<std::byte*>(this + 1) + (has_room_for_waiter ? sizeof(gate_waiter) : 0);
    }
    rule_state* rules() noexcept { return std::launder(static_cast<rule_state*>(behind_waiter())); }
    /// Precondition: it was made with a pulse and that many rules.
    attempt_pulse& pulse(std::size_t rules) noexcept {
        return *std::launder(static_cast<attempt_pulse*>(
            static_cast<void*>(static_cast<std::byte*>(behind_waiter()) + rules * sizeof(rule_state))));
    }
};

static_assert(alignof(rule_state) <= alignof(operation_story));
static_assert(alignof(attempt_pulse) <= alignof(rule_state));
static_assert(alignof(gate_waiter) <= alignof(operation_story) &&
              sizeof(gate_waiter) % alignof(rule_state) == 0);
static_assert(std::is_trivially_destructible_v<rule_state> && std::is_trivially_destructible_v<attempt_pulse>);

} // namespace asio_retry::detail
