#pragma once

#include <asio_retry/detail/operation/occupancy.hpp>
#include <asio_retry/detail/policy/config.hpp>

#include <cstddef>

namespace asio_retry::detail {

/// What an operation does next.
enum class operation_step : unsigned char {
    leave,            ///< it is in other hands: those of the attempt, the scheduler or a queued turn
    refuse_start,     ///< it completes without an attempt
    conclude_attempt, ///< it asks the machine what follows
    resume,           ///< the wait is over
    complete_failed,  ///< with what went wrong while it was carried on
    finish,           ///< it goes on ending
    abandon,          ///< it ends without a completion
};

/// How far an operation has come.
enum class operation_stage : unsigned char {
    starting,   ///< until its first attempt begins or is refused
    attempting, ///< an attempt runs
    judging,    ///< the attempt has ended, and a notice of its time limit may be under way
    waiting,    ///< the scheduler has it, or the turn that its expiry, or being ended early, has queued
    queued,     ///< there is no wait, or none that the scheduler could end early: a turn has it
    ending,     ///< it has come to an end, but a notice may be under way
};

inline constexpr std::size_t operation_stages = 6;

/// Says, whatever the types of an operation, what may happen to it and what follows. It knows neither Asio nor
/// the machine.
class operation_state {
public:
    /// Who may interrupt the operation, and so its attempts: each includes those before it.
    enum class interrupter : unsigned char { nobody, caller, limit, scope };

    /// Where the occupant stands.
    enum class place : unsigned char { initiation, cancellation, executor };

    operation_stage stage() const noexcept { return stage_; }
    bool is(operation_stage stage) const noexcept { return stage_ == stage; }

    /// What may happen in a stage. The occupant leaves some of it for itself.
    ASIO_RETRY_DECL static operation_event legal_in(operation_stage stage) noexcept;

    // --- how it goes on

    void begin_attempt() noexcept { stage_ = operation_stage::attempting; }
    void end_attempt() noexcept { stage_ = operation_stage::judging; }
    void begin_wait() noexcept { stage_ = operation_stage::waiting; }
    void skip_wait() noexcept { stage_ = operation_stage::queued; }
    void complete() noexcept { stage_ = operation_stage::ending; }
    void abandon() noexcept {
        stage_ = operation_stage::ending;
        abandoned_ = true;
    }
    bool was_abandoned() const noexcept { return abandoned_; }

    // --- what happens to it

    /// Notes what the occupant has found and answers what follows.
    ASIO_RETRY_DECL operation_step next(operation_event events) noexcept;

    /// Notes it too, where the turn that was to see to it has been destroyed. Returns whether that turn owned
    /// the operation, which is lost with it; otherwise it is in other hands.
    ASIO_RETRY_DECL bool is_lost(operation_event events) noexcept;

    // --- who is in

    detail::occupancy occupancy;

    bool enter(place where, operation_event event) noexcept {
        bool const entered = occupancy.enter(event);
        if (entered)
            place_ = where;
        return entered;
    }

    /// On the executor, after an attempt or a wait, which nothing interrupts on another thread unless it has a
    /// time limit or a scope: the caller cancels on the executor.
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

    /// Before the start, for good.
    void let_interrupt(interrupter who) noexcept { interrupter_ = who; }
    bool is_interruptible() const noexcept { return interrupter_ != interrupter::nobody; }
    bool others_interrupt() const noexcept { return interrupter_ >= interrupter::limit; }
    bool is_scoped() const noexcept { return interrupter_ == interrupter::scope; }

    // --- the time limit of an attempt

    void arm_limit() noexcept { limit_armed_ = true; }
    void disarm_limit() noexcept { limit_armed_ = false; }
    bool is_limit_armed() const noexcept { return limit_armed_; }

private:
    interrupter interrupter_ = interrupter::nobody;
    operation_stage stage_ : 3 = operation_stage::starting;
    place place_ : 2 = place::initiation;
    bool abandoned_ : 1 = false;
    bool limit_armed_ : 1 = false;
};

} // namespace asio_retry::detail
