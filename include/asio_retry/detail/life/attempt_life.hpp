#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace asio_retry::detail {

/// The events of an operation, on any thread of its context, as bits. `attempt_ended` gives the other bits.
enum class life_event : std::uint32_t {
    nothing = 0,
    timer_due = 1 << 0,     ///< the wait is over, or the time limit is reached
    timer_lost = 1 << 1,    ///< the timer's notice was destroyed
    scope_noticed = 1 << 2, ///< the scope has a request
    called = 1 << 3,        ///< the operation has to go on, on its executor
    returned = 1 << 4,      ///< the handler has returned while attempts still ran
};

inline constexpr unsigned life_events_apart_from_attempts = 5;

inline constexpr life_event all_attempts = static_cast<life_event>(0x1fffe0);

/// Attempt `number`, counted from 1, has completed or never will.
constexpr life_event attempt_ended(unsigned number) noexcept {
    return static_cast<life_event>(std::uint32_t(1) << (life_events_apart_from_attempts + number - 1));
}

constexpr life_event operator|(life_event a, life_event b) noexcept {
    return static_cast<life_event>(std::uint32_t(a) | std::uint32_t(b));
}
constexpr life_event operator&(life_event a, life_event b) noexcept {
    return static_cast<life_event>(std::uint32_t(a) & std::uint32_t(b));
}
constexpr life_event operator~(life_event events) noexcept {
    return static_cast<life_event>(~std::uint32_t(events));
}
constexpr bool any(life_event events) noexcept {
    return events != life_event::nothing;
}

enum class life_step : unsigned char {
    leave,            ///< let other threads in, or take the events that they have left
    take_request,     ///< take the request of the scope and obey it
    judge,            ///< judge or drop the result of an attempt that has ended
    ask,              ///< ask the machine what follows
    revive,           ///< nobody goes on with the operation: arm the timer if there is a result, or abandon it
    free_timer,       ///< disarm the timer
    unlink,           ///< leave the scope
    deliver,          ///< call the handler; the operation is destroyed before
    deliver_later,    ///< call the handler in a new turn
    deliver_and_stay, ///< call the handler while attempts still run
    dissolve,         ///< destroy the operation
};

/// Lets one thread at a time into an operation, the occupant. Another thread leaves its event with the
/// occupant, and the occupant handles it before leaving. Without a strand the initiating function, the end of
/// an attempt, a time limit and a scope may meet on several threads.
///
/// If an attempt ends while another thread emits to it, its thread waits until the emission is over, as for a
/// mutex. The emission uses the attempt's I/O object, which may be destroyed with the attempt.
template <typename Event, typename Word = std::underlying_type_t<Event>>
class basic_occupancy {
    using word = Word;

public:
    /// Returns true if the caller is the occupant now. Then the caller handles `event` itself, and finds events
    /// of other threads when it leaves. `nothing` leaves no event with another occupant.
    bool enter(Event event = Event::nothing) noexcept;

    /// Waits until no thread emits to the attempt, and enters as the thread that goes on with the operation.
    [[gnu::noinline]] bool enter_after_telling(Event event) noexcept; // `enter_as_successor` seldom calls it

    /// Enters as the only thread that can go on with the operation. If nothing else may notify it, only the
    /// last occupant can still be inside, and no thread enters at the same time.
    bool enter_as_successor(Event event) noexcept;

    /// Marks that this thread emits to attempts. Returns false inside another emission, whose handler has
    /// cancelled again: the outer emission has made the mark.
    [[nodiscard]] bool begin_telling() noexcept;

    void end_telling() noexcept;

    bool has(Event event) const noexcept;

    /// Leaves an event for the present occupant, usually the caller itself, or for the next one.
    void add(Event event) noexcept { state_.fetch_or(bits_of(event), std::memory_order_release); }

    bool take(Event event) noexcept; // false if it did not happen

    Event take_those(Event events) noexcept;

    Event take_all() noexcept;

    bool is_empty() const noexcept { return state_.load(std::memory_order_acquire) == 0; } // of events, too
    void leave_unknown() noexcept { state_.store(0, std::memory_order_release); } // if nobody else knows it

    /// Without events it lets other threads in and returns `nothing`. Otherwise it returns the events.
    [[nodiscard]] Event leave() noexcept;

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

/// The life of an operation with up to `Most` attempts at a time, from its start to its end. It knows no clock,
/// no Asio and no policy. The occupant puts in the events that happened, and carries out `next()` until that
/// answers `leave` and no event is left, or until the operation is destroyed.
template <unsigned Most>
class attempt_life {
public:
    using event_word = std::conditional_t<Most == 1, std::uint16_t, std::uint32_t>;
    using mask = std::conditional_t<Most == 1, std::uint8_t, std::uint16_t>;

    /// Who may interrupt the operation and its attempts; each value includes those before it.
    enum class interrupter : unsigned char { nobody, caller, time_limit, any_scope };

    /// Where the occupant was called from.
    enum class place : unsigned char {
        initiation,
        last_of_initiation, ///< initiation; the remaining steps run here and not in a turn
        cancellation,
        executor,
    };

    enum class question : unsigned char {
        none,
        after_event,
        start,   ///< the first attempt may not begin
        timer,   ///< the wait is over, or the time limit is reached
        failure, ///< a step has failed, and nothing else follows
    };

    /// Why the timer is armed, or its notice under way.
    enum class timer : unsigned char {
        none,
        limit,  ///< the time limit of the running attempt
        wait,   ///< the end of a wait: then the operation continues
        queued, ///< not armed: a queued turn continues the operation at once
    };

    // --- the next step

    life_step next() noexcept;

    /// Like `next`, but faster if no step is left, as usually after a start or the arming of a timer.
    life_step next_in_rest() noexcept;

    /// Like `next`, but faster if nothing has to be undone, as usually when the result is known.
    life_step next_at_end() noexcept { return may_end_here() && !linked_ ? life_step::deliver : next(); }

    /// Whether the operation may be delivered as soon as the result is known and it has left the scope.
    bool may_end_here() const noexcept;

    // --- events

    void put_in(life_event events) noexcept;

    void ask() noexcept;
    void ask_for_start() noexcept { question_ = question::start; }
    void ask_after_failure() noexcept { question_ = question::failure; }

    void end_initiation_here() noexcept; // without a turn on the executor

    /// Drops results that were not judged.
    void abandon() noexcept {
        end_ = end::abandoned;
        ended_ = 0;
    }

    /// The turn or the attempt that owned the operation was destroyed.
    void lose_owner() noexcept;

    /// The executor has destroyed a turn, and would destroy each further one, most likely inside `post`.
    void lose_executor() noexcept { has_no_executor_ = true; }
    bool has_executor() const noexcept { return !has_no_executor_; }

    // --- the results of steps

    void request_taken() noexcept; // after `take_request`

    unsigned take_ended() noexcept; // the number of an attempt to judge

    /// Forgets an attempt that will never complete. Its end is not judged.
    void forget(unsigned number) noexcept { running_ = (running_ & ~bit(number)) & all; }

    /// Whether the machine may be asked now.
    bool may_ask() const noexcept;

    question take_question() noexcept; // after `ask`

    void starting(unsigned number) noexcept { running_ = (running_ | bit(number)) & all; }

    void not_armed() noexcept; // the context of the timer is being destroyed

    void know_end() noexcept { end_ = end::known; }

    void revived(bool is_alive) noexcept;

    bool is_linked() const noexcept { return linked_; }
    void unlinked() noexcept { linked_ = false; }

    void stay() noexcept { end_ = end::told; } // after `deliver_and_stay`

    // --- the timer

    timer armed_for() const noexcept { return timer_; }
    void set_timer(timer why) noexcept;

    /// Whether the timer ends a wait without an attempt. Any thread that was told of its end may ask.
    bool waits() const noexcept { return waits_; }

    // --- the attempts

    mask running() const noexcept { return running_; }
    bool is_running(unsigned number) const noexcept { return (running_ & bit(number)) != 0; }
    bool is_abandoned() const noexcept { return end_ == end::abandoned; }

    // --- who is in

    basic_occupancy<life_event, event_word> occupancy;

    bool enter(place where, life_event event) noexcept;

    /// Enters after an attempt whose handler was destroyed, on any thread.
    bool enter_after_drop(life_event event) noexcept;

    // Each enters on the executor after an event. Returns false if another thread is the occupant: that thread
    // handles the event. Otherwise sets `first`.
    bool end_attempt(unsigned number, life_step& first) noexcept;
    bool end_wait(life_step& first) noexcept;
    bool take_notice(life_step& first) noexcept;

    void go_to_executor() noexcept { place_ = place::executor; }
    bool is_on_executor() const noexcept { return place_ == place::executor; }
    bool is_in_initiation() const noexcept { return place_ <= place::last_of_initiation; }

    /// Continues on this thread, because no turn can be queued. Unless an attempt runs, no handler is called
    /// inside the initiating function.
    void go_on_here(life_event events) noexcept;

    void let_interrupt(interrupter who) noexcept { interrupter_ = who; } // only before the start
    bool is_interruptible() const noexcept { return interrupter_ != interrupter::nobody; }
    bool others_interrupt() const noexcept { return interrupter_ >= interrupter::time_limit; }
    void link() noexcept { linked_ = true; }

private:
    enum class end : unsigned char {
        open,
        known,     // there is a result
        told,      // the handler has been called, and attempts still run
        abandoned, // nobody will get the result
    };
    static constexpr unsigned all = (1u << Most) - 1;
    static constexpr unsigned bit(unsigned number) noexcept { return 1u << (number - 1); }
    static constexpr unsigned ended_among(life_event events) noexcept {
        return std::uint32_t(events) >> life_events_apart_from_attempts;
    }

    /// Leaves the rest to a turn on the executor, or, without an executor, to the attempts that run.
    life_step leave_for_executor() noexcept;

    /// Only a time limit, a scope or another attempt interrupts an attempt or a wait on another thread: the
    /// caller cancels on the executor. It is inline because a call would slow down each attempt with a limit.
    [[gnu::always_inline]] inline bool enter_after(life_event event) noexcept;

    bool set_after_timer(life_step& first) noexcept;

    bool put_in_timer(bool is_lost) noexcept; // returns whether the machine is to be asked

    void end_attempts(unsigned numbers) noexcept;

    /// Whether another owner goes on with the operation, or it has ended. A result that waits for the notice of
    /// its time limit has no other owner.
    bool find_owner() noexcept;

    interrupter interrupter_ = Most == 1 ? interrupter::nobody : interrupter::time_limit;
    bool waits_ = false;    // no bit-field, because the scheduler's thread reads it
    mask ended_ : Most = 0; // `next_in_rest` tests this and the next four together
    end end_ : 2 = end::open;
    question question_ : 3 = question::none;
    unsigned char wants_request_ : 1 = false;
    unsigned char lost_ : 1 = false;
    unsigned char has_no_executor_ : 1 = false;
    mask running_ : Most = 0;
    timer timer_ : 2 = timer::none;
    place place_ : 2 = place::initiation;
    bool linked_ : 1 = false;
    bool returned_ : 1 = false;
};

} // namespace asio_retry::detail
