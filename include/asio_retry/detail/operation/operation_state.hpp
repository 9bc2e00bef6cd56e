#pragma once

#include <asio_retry/detail/operation/occupancy.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace asio_retry::detail {

/// The events of an operation, on any thread of its context, as bits.
enum class operation_event : std::uint16_t {
    nothing = 0,
    start_refused = 1 << 0, ///< it may not make its first attempt
    attempt_ended = 1 << 1,
    wait_ended = 1 << 2, ///< or was cut short
    limit_reached = 1 << 3,
    scope_noticed = 1 << 4,  ///< the scope has a request
    step_failed = 1 << 5,    ///< there was no memory, or an executor threw
    coroutine_lost = 1 << 6, ///< the coroutine had no memory to begin
    owner_dropped = 1 << 7,  ///< the owner was destroyed, so the operation cannot go on
};

constexpr operation_event operator|(operation_event a, operation_event b) noexcept {
    return static_cast<operation_event>(std::uint16_t(a) | std::uint16_t(b));
}
constexpr operation_event operator&(operation_event a, operation_event b) noexcept {
    return static_cast<operation_event>(std::uint16_t(a) & std::uint16_t(b));
}
constexpr operation_event operator~(operation_event events) noexcept {
    return static_cast<operation_event>(~std::uint16_t(events));
}

using occupancy = basic_occupancy<operation_event>;

/// The next step of an operation.
enum class operation_step : unsigned char {
    leave,            ///< leave it to its owner: the attempt, the scheduler or a queued turn
    refuse_start,     ///< complete without an attempt
    conclude_attempt, ///< ask the machine what follows
    resume,           ///< go on after the wait
    complete_failed,  ///< complete with the failure of a step
    finish,           ///< go on with the end
    abandon,          ///< end without a completion
};

/// The stage that an operation has reached.
enum class operation_stage : unsigned char {
    starting,   ///< until its first attempt begins or is refused
    attempting, ///< an attempt runs
    judging,    ///< the attempt has ended, and a notice of its time limit may be under way
    waiting,    ///< owned by the scheduler, or by the turn that its expiry or early end has queued
    queued,     ///< owned by a turn: there is no wait, or none that the scheduler could end early
    ending,     ///< it has ended, but a notice may be under way
};

inline constexpr std::size_t operation_stages = 6;

/// The events that may happen to an operation, and the steps that follow. It knows neither Asio nor the
/// machine.
class operation_state {
public:
    /// Who may interrupt the operation and its attempts; each value includes those before it.
    enum class interrupter : unsigned char { nobody, caller, limit, scope };

    /// Where the occupant was called from.
    enum class place : unsigned char { initiation, cancellation, executor };

    operation_stage stage() const noexcept { return stage_; }
    bool is(operation_stage stage) const noexcept { return stage_ == stage; }

    /// The events that may happen in a stage. The occupant adds some of them itself.
    static constexpr operation_event legal_in(operation_stage stage) noexcept {
        using enum operation_event;
        // In the order of operation_stage. A scope's request and the loss of the owner may come at any time.
        constexpr std::array<operation_event, operation_stages> legal{
            start_refused | step_failed,
            attempt_ended | limit_reached | step_failed | coroutine_lost,
            attempt_ended | limit_reached | step_failed,
            wait_ended | step_failed, // waiting
            wait_ended | step_failed, // queued
            limit_reached,
        };
        return legal[static_cast<std::size_t>(stage)] | scope_noticed | owner_dropped;
    }

    // --- how it goes on

    void begin_attempt() noexcept { stage_ = operation_stage::attempting; }
    void begin_judging() noexcept { stage_ = operation_stage::judging; }
    void begin_wait() noexcept { stage_ = operation_stage::waiting; }
    void skip_wait() noexcept { stage_ = operation_stage::queued; }
    void complete() noexcept { stage_ = operation_stage::ending; }
    void abandon() noexcept {
        stage_ = operation_stage::ending;
        abandoned_ = true;
    }
    bool was_abandoned() const noexcept { return abandoned_; }

    // --- what happens to it

    /// Applies the occupant's events and returns the next step.
    operation_step advance(operation_event events) noexcept {
        using enum operation_event;
        assert((events & ~legal_in(stage_)) == nothing);
        if ((events & limit_reached) != nothing)
            forget_limit();
        if ((events & owner_dropped) != nothing)
            return operation_step::abandon;
        if (is(operation_stage::ending))
            return operation_step::finish;
        if ((events & start_refused) != nothing)
            return operation_step::refuse_start;
        if ((events & step_failed) != nothing)
            return operation_step::complete_failed;
        if ((events & wait_ended) != nothing)
            return operation_step::resume;
        if ((events & (attempt_ended | coroutine_lost)) != nothing)
            begin_judging();
        else if ((events & limit_reached) == nothing)
            return operation_step::leave;
        return is(operation_stage::judging) ? operation_step::conclude_attempt : operation_step::leave;
    }

    /// Applies events whose turn was destroyed. Returns true if that turn owned the operation, which then is
    /// lost; otherwise it has another owner.
    bool advance_without_turn(operation_event events) noexcept {
        return advance(events) != operation_step::leave || is(operation_stage::judging);
    }

    // --- who is in

    detail::occupancy occupancy;

    bool enter(place where, operation_event event) noexcept {
        bool const entered = occupancy.enter(event);
        if (entered)
            place_ = where;
        return entered;
    }

    /// Enters on the executor after an attempt or a wait. Only a time limit or a scope interrupts these on
    /// another thread: the caller cancels on the executor.
    bool enter_after(operation_event event) noexcept {
        bool const entered =
            others_interrupt() ? occupancy.enter_after_telling(event) : occupancy.enter_as_successor(event);
        if (entered)
            place_ = place::executor;
        return entered;
    }

    void go_to_executor() noexcept { place_ = place::executor; }
    bool is_on_executor() const noexcept { return place_ == place::executor; }
    bool is_in_initiation() const noexcept { return place_ == place::initiation; }

    /// Set before the start, never changed.
    void let_interrupt(interrupter who) noexcept { interrupter_ = who; }
    bool is_interruptible() const noexcept { return interrupter_ != interrupter::nobody; }
    bool others_interrupt() const noexcept { return interrupter_ >= interrupter::limit; }
    bool is_scoped() const noexcept { return interrupter_ == interrupter::scope; }

    // --- the time limit of an attempt: whether a notice of it will come, or is under way

    void expect_limit() noexcept { expects_limit_ = true; }
    void forget_limit() noexcept { expects_limit_ = false; }
    bool expects_limit() const noexcept { return expects_limit_; }

private:
    interrupter interrupter_ = interrupter::nobody;
    operation_stage stage_ : 3 = operation_stage::starting;
    place place_ : 2 = place::initiation;
    bool abandoned_ : 1 = false;
    bool expects_limit_ : 1 = false;
};

} // namespace asio_retry::detail
