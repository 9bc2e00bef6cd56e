#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#if defined(_WIN32) && defined(__GLIBCXX__)
#include <thread>
#endif

namespace asio_retry::detail {

/// Lets one thread at a time into an operation, the occupant. Another thread leaves its event with the
/// occupant, who handles it before leaving.
///
/// The initiating function, the end of an attempt, a time limit and a scope may meet on the threads of a
/// context. An executor that is no strand does not keep them apart.
///
/// If an attempt ends while another thread emits to it, its thread waits until the emission is over, as for a
/// mutex. The emission uses the attempt's I/O object, which may be destroyed with the attempt.
template <typename Event, typename Word = std::underlying_type_t<Event>>
class basic_occupancy {
    using word = Word;

public:
    /// Returns true if the caller is the occupant now. Then the caller handles `event` itself, and finds events
    /// of other threads when it leaves.
    bool enter(Event event = Event::nothing) noexcept {
        word state = 0;
        while (!state_.compare_exchange_weak(state, entered_with(state, event), std::memory_order_acq_rel,
                                             std::memory_order_acquire)) {
        }
        return (state & occupied) == 0;
    }

    /// The same, for the thread that goes on with the operation; waits until no thread emits to the attempt.
    [[gnu::noinline]] // it is rare where enter_as_successor calls it
    bool
    enter_after_telling(Event event) noexcept {
        word state = 0;
        while (!state_.compare_exchange_weak(state, entered_with(state, event), std::memory_order_acq_rel,
                                             std::memory_order_acquire)) {
            while ((state & telling) != 0) {
#if defined(_WIN32) && defined(__GLIBCXX__) // they may lose a waiting thread
                std::this_thread::yield();
#else
                state_.wait(state, std::memory_order_acquire);
#endif
                state = state_.load(std::memory_order_acquire);
            }
        }
        return (state & occupied) == 0;
    }

    /// The same, for the only thread that can go on with the operation. If nothing else may notify it, only the
    /// last occupant can still be inside, and no thread enters at the same time.
    bool enter_as_successor(Event event) noexcept {
        if (state_.load(std::memory_order_acquire) != 0)
            return enter_after_telling(event);
        state_.store(occupied, std::memory_order_relaxed);
        return true;
    }

    /// A thread is about to emit to the attempt, unless the attempt has ended. Returns false during another
    /// emission, whose handler has cancelled again.
    [[nodiscard]] bool begin_telling() noexcept {
        return (state_.fetch_or(telling, std::memory_order_acq_rel) & telling) == 0;
    }

    void end_telling() noexcept {
        state_.fetch_and(static_cast<word>(~telling), std::memory_order_release);
        state_.notify_all();
    }

    /// Whether the event is left for the occupant.
    bool has(Event event) const noexcept {
        return (state_.load(std::memory_order_acquire) & bits_of(event)) != 0;
    }

    /// Leaves an event for the occupant, most often the caller itself, or for the next one.
    void add(Event event) noexcept { state_.fetch_or(bits_of(event), std::memory_order_release); }

    /// The occupant takes one event; false if it did not happen.
    bool take(Event event) noexcept {
        return (state_.fetch_and(bits_of(~event), std::memory_order_acq_rel) & bits_of(event)) != 0;
    }

    /// The occupant takes those of `events` that happened.
    Event take_those(Event events) noexcept {
        auto const taken = static_cast<word>(bits_of(events) & ~held);
        auto const kept = static_cast<word>(~taken);
        return static_cast<Event>(state_.fetch_and(kept, std::memory_order_acq_rel) & taken);
    }

    /// The occupant takes all events.
    Event take_all() noexcept {
        return static_cast<Event>(state_.fetch_and(held, std::memory_order_acq_rel) & ~held);
    }

    /// Lets other threads in and returns nothing; or stays, and returns the events that happened meanwhile.
    [[nodiscard]] Event leave() noexcept {
        word state = occupied;
        while ((state & ~held) == 0)
            if (state_.compare_exchange_weak(state, static_cast<word>(state & ~occupied),
                                             std::memory_order_acq_rel, std::memory_order_acquire))
                return Event::nothing;
        return take_all();
    }

private:
    static constexpr word bits_of(Event events) noexcept { return static_cast<word>(events); }
    static constexpr word entered_with(word state, Event event) noexcept {
        if (event == Event::nothing)
            return state | occupied;
        return static_cast<word>(state | ((state & occupied) == 0 ? occupied : bits_of(event)));
    }

    static constexpr word occupied = word(1) << (8 * sizeof(word) - 1);
    static constexpr word telling = word(1) << (8 * sizeof(word) - 2);
    static constexpr word held = occupied | telling; // the other bits are events

    std::atomic<word> state_ = occupied; // the initiating function is the first occupant
};

} // namespace asio_retry::detail
