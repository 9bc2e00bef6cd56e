#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/life/attempt_life.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/detail/time/lazy_scheduler.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_scheduler.hpp>
#include <asio_retry/verdict.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

namespace asio_retry::detail {

template <typename Operation>
class basic_membership;
struct timed_request;

enum class operation_turn : unsigned char {
    after_wait,
    delivery,                    ///< delivers a result that was there before the initiating function returned
    continuation,                ///< continues the operation after the initiating function or a cancellation
    continuation_during_attempt, ///< any thread may queue this turn and the turns below
    timer_notice,
    scope_notice,
};

/// Whether any thread may queue it, so that the handler's allocator must not be used.
constexpr bool comes_from_any_thread(operation_turn turn) noexcept {
    return turn >= operation_turn::continuation_during_attempt;
}

/// The type-independent state of an attempt.
struct attempt_state {
    /// How the attempt ended. Only the thread that handles the end may read it.
    enum class fate : unsigned char {
        none,
        completed, ///< its result is kept
        succeeded, ///< its result is kept, and is a success
        dropped,   ///< its handler was destroyed
        lost,      ///< its coroutine had no memory to begin
        last,      ///< its result is kept, and ends the operation
    };

    explicit attempt_state(bool given_is_judged, unsigned number = 1) noexcept
        : is_judged(given_is_judged)
        , index((number - 1u) & 0xf) {}

    unsigned number() const noexcept { return index + 1u; }

    /// If `fail_if` may judge the values, an attempt without a failure is `completed` and not `succeeded`.
    void complete(bool has_failed) noexcept {
        outcome = has_failed || is_judged ? fate::completed : fate::succeeded;
    }

    fate outcome : 3 = fate::none;
    bool const is_judged : 1;
    unsigned char const index : 4;
};

enum class cancellation_wish : unsigned char {
    nothing,
    total,    ///< stop, if the operation has had no effect
    partial,  ///< stop
    terminal, ///< stop; the I/O object may be unusable afterwards
};

constexpr cancellation_wish wish_of(asio::cancellation_type_t type) noexcept {
    using enum asio::cancellation_type;
    if ((type & terminal) != none)
        return cancellation_wish::terminal;
    if ((type & partial) != none)
        return cancellation_wish::partial;
    return (type & total) != none ? cancellation_wish::total : cancellation_wish::nothing;
}

/// What a cancellation or a request of the scope asks the driver to do.
struct interruption_wish {
    bool tells = false;  ///< emit to the running attempts
    bool leaves = false; ///< leave behind the attempts that do not end: so `tells` emits `terminal` to them
    bool cuts = false;   ///< end the wait
    bool asks = false;   ///< ask the machine, on the executor
};

/// Drives an operation with up to `Most` attempts at a time; the type-independent part. `life_` names the next
/// step, `Operation` asks its machine, and the driver carries out the step with Asio and the scheduler.
///
/// Attempts, turns, the scheduler, the scope and cancellations call in, from any thread. Each of them enters
/// the operation, puts its event into `life_`, and takes steps until `leave_unless_events` finds none (see
/// driver_loop.hpp). One thread at a time is in the operation; another thread leaves its events with that
/// thread. If there is no memory to queue a step on its executor, the step is done on the present thread.
template <typename Operation, unsigned Most>
class driver : private wait_node {
public:
    using life = attempt_life<Most>;

    // --- for the attempts
    void on_attempt_ended(attempt_state& attempt); // it has completed
    void on_attempt_dropped(attempt_state& attempt) noexcept;
    void on_attempt_lost(attempt_state& attempt) noexcept;

    // --- its turns on the executor
    void on_turn(operation_turn turn);
    void on_turn_dropped(operation_turn turn) noexcept;
    template <typename>
    using turn_allocator = std::allocator<void>;
    std::allocator<void> get_turn_allocator(operation_turn) const noexcept { return {}; }

    // --- for its scope
    void post_scope_notice() { self().post(operation_turn::scope_notice); }
    void on_scope_notice_failed();

    /// Called after the timer of a wait was armed. `Operation` may hide this function.
    void on_waiting() noexcept {}

    time_point now() { return scheduler().now(); }
    random& get_random() {
        scheduler();
        return scheduler_.get_random();
    }

protected:
    using place = typename life::place;
    using question = typename life::question;

    enum class plan_kind : unsigned char {
        keep,  ///< nothing new
        begin, ///< start an attempt
        stop,  ///< emit a cancellation to the running attempts, and ask again
        turn,  ///< queue a turn, because the wait is over at once
        wait,  ///< arm the timer
        deliver,
        abandon,
    };

    struct plan {
        plan_kind what = plan_kind::keep;
        unsigned char attempt = 1;              // to begin
        time_point until = (time_point::max)(); // of the timer
    };
    static_assert(sizeof(plan) == 16);

    driver() noexcept = default;
    driver(driver const&) = delete;
    driver& operator=(driver const&) = delete;
    ~driver() = default;

    void on_cancelled(asio::cancellation_type_t type); // on the executor

    void on_handler_returned(); // while attempts still ran

    /// Carries out the steps that the life asks for. May destroy *this.
    void go_on();
    void go_on(life_step first);

    void go_on_with(plan first); // the machine's plan for the start

    void go_on_after_failure(); // instead of the start, with the current exception

    /// Lets other threads in. Afterwards the caller uses only its own copies.
    void let_others_in() {
        if (leave_unless_events())
            go_on();
    }

    // --- its timer; `Operation` may hide these functions

    /// Returns false when the context is being destroyed.
    bool schedule_timer(time_point until) { return scheduler().schedule(*this, until); }

    /// Returns false while the notice of the expiry is queued.
    bool cancel_timer() noexcept { return scheduler_.get().cancel(*this); }

    /// Returns false if the operation runs on another context than the scheduler's: the caller posts a turn.
    bool end_timer_early() {
        auto* const context = self().own_context();
        if (context != &scheduler().context())
            return false;
        scheduler().end_early(*this, *context);
        return true;
    }

    void post_expired(operation_turn turn) { self().post(turn); }

    bool on_expiry() override;
    void on_shutdown() noexcept override;

    void end_wait_by(time_point latest) {
        if (life_.armed_for() == life::timer::wait)
            scheduler().end_by(*this, latest);
    }

    /// Ends the wait now. Any thread may call it while the operation waits: the scheduler is known then.
    void wake() noexcept {
        auto* const context = self().own_context();
        retry_scheduler& waits = scheduler_.get();
        if (context && context == &waits.context())
            waits.end_early(*this, *context);
        else
            waits.end_by(*this, waits.now());
    }

    using wait_node::expiry;
    retry_scheduler& scheduler() {
        if (!scheduler_.is_found())
            scheduler_.find_in(self().context(), self().own_context());
        return scheduler_.get();
    }

    /// Precondition: it was not looked up before.
    void take_scheduler(retry_scheduler& found, asio::io_context* own) { scheduler_.take(found, own); }

    /// The time of a cancellation. Before the start it is unknown, and time_point::min() serves.
    time_point time_of_cancellation() { return scheduler_.is_found() ? now() : (time_point::min)(); }

    /// Whether this thread is starting an attempt or emitting to attempts.
    bool is_marked_here() const noexcept { return stack_mark::find(this) != nullptr; }

    /// Arms the time limit of a running attempt again. Returns false if it cannot be armed.
    bool watch(time_point limit) noexcept;

private:
    class telling_mark;

    Operation& self() noexcept { return static_cast<Operation&>(*this); }

    static life_event event_of(attempt_state const& attempt) noexcept {
        return attempt_ended(Most == 1 ? 1 : attempt.number());
    }
    bool leave_unless_events();
    bool go_on_with_events(life_event events);
    void go_on_quietly() noexcept;
    void take_steps(life_step step, std::exception_ptr& thrown);
    void deliver(life_step step);
    bool perform(life_step step, std::exception_ptr& thrown);
    life_step carry_out(plan next, std::exception_ptr& thrown);
    life_step fail(std::exception_ptr& thrown);
    void obey(timed_request const& request, std::exception_ptr& thrown);
    void start(plan next, std::exception_ptr& thrown);
    void keep_exception(attempt_state& attempt, life_event ended, std::exception_ptr& thrown);
    void tell(asio::cancellation_type_t type, bool is_planned, std::exception_ptr& thrown);
    void tell_and_go_on(asio::cancellation_type_t type, bool asks);
    void go_on_as_occupant();
    void cut_wait_short();
    void drop(life_event events) noexcept;

    bool arm(typename life::timer why, time_point until);
    bool post_expiry();
    void queue_turn();
    bool revive() noexcept;
    bool disarm() noexcept;

    lazy_scheduler scheduler_;

protected:
    life life_; // last: derived classes use its tail padding
};

// --- retries

class retry_driver;
#if ASIO_RETRY_LEAVES_INSTANTIATION
extern template class ASIO_RETRY_DECL_INSTANTIATION driver<retry_driver, 1>;
extern template class ASIO_RETRY_DECL_INSTANTIATION basic_membership<retry_driver>;
#endif

/// The type-independent part of a retry. It turns the decisions of its retry_machine into plans.
///
/// It has exactly one owner at any time: the handler of the running attempt, the scheduler while it waits, or a
/// queued turn. A time limit of the attempt and a scope may notify it as well. While such a notice is queued,
/// the operation stays alive. If all else has ended, the notice owns the operation.
class ASIO_RETRY_DECL retry_driver : public driver<retry_driver, 1>, attempt_state {
    using base = driver<retry_driver, 1>;
    friend base;

public:
    // --- for the attempts
    asio::cancellation_slot attempt_slot() noexcept {
        return life_.is_interruptible() ? signal_.slot() : asio::cancellation_slot();
    }
    void on_attempt_dropped() noexcept { base::on_attempt_dropped(*this); }

    /// The attempt failed before it began, unless its context destroyed its coroutine.
    void on_coroutine_lost() noexcept { base::on_attempt_lost(*this); }

    retry_machine& machine() noexcept { return machine_; }

    // --- for attempts that may be left behind
    /// Returns false if too many attempts are left behind.
    bool count_left_attempt() noexcept;
    void uncount_left_attempt() noexcept { left_.fetch_sub(1, std::memory_order_relaxed); }

    virtual void on_attempt_left() = 0; // it has been cancelled, and ends later

    void on_left_attempt_ended() noexcept; // may destroy *this

    time_point time_for(retry_machine const& machine) { return machine.measures_time() ? now() : time_point(); }

protected:
    /// `judges_results`: `fail_if` may judge a success a failure.
    retry_driver(retry_policy&& given_policy, bool judges_results) noexcept
        : attempt_state(judges_results)
        , machine_(std::move(given_policy)) {}
    ~retry_driver();

    /// Called by the initiating function. `can_be_cancelled`: the caller's slot is connected.
    void start(bool is_scoped, bool can_be_cancelled);
    void start_watched(bool is_scoped, bool can_be_cancelled); // if something may interrupt, or must be asked
    bool start_alone() noexcept; // or else; if it returns true, the caller begins the first attempt

    /// Whether a success ends an operation that nothing can interrupt, without a step of the driver.
    bool ends_alone() const noexcept { return !machine_.tells_success() && life_.occupancy.is_empty(); }

    void on_result_kept(bool has_failed) {
        complete(has_failed);
        base::on_attempt_ended(*this);
    }

    void on_last_result_kept() {
        outcome = fate::last;
        base::on_attempt_ended(*this);
    }

    interruption_wish cancel(asio::cancellation_type_t type);
    asio::cancellation_slot stop_slot() noexcept { return signal_.slot(); }

    /// Whether the operation leaves behind an attempt that it has cancelled.
    bool leaves_attempts() const noexcept {
        return machine_.policy().settings().deliver_at_once && life_.is_interruptible();
    }

    /// Whether attempts have been left behind that may need the operation's memory.
    bool keeps_memory() const noexcept { return left_.load(std::memory_order_acquire) != 0; }

    /// The handler is gone. Frees the memory, unless attempts that were left behind still need it.
    void on_handler_gone() noexcept;
    static void let_others_in() noexcept {} // no other thread can enter here

    void emit(asio::cancellation_type_t type) { signal_.emit(type); }

    // --- parts that depend on types

    virtual void start_attempt() = 0; // throws what the user's operation throws
    virtual void signal_attempt(asio::cancellation_type_t type);

    /// A handler that an attempt left in its slot must not reach the next attempt.
    virtual void clear_slot() noexcept;

    /// Called after the last attempt: the coroutine of the attempts may return.
    virtual void end_attempts() noexcept;

    /// Judges the stored result. Throws what the predicate of `fail_if` throws.
    virtual judgement judge_values();
    virtual bool has_failed() noexcept = 0;
    virtual verdict verdict_on_result() = 0;
    virtual retry_action conclude_failed() = 0;
    virtual void put_failure(error_code const& code, std::exception_ptr const& thrown) = 0;
    virtual void amend_result(retry_action const& action) = 0;
    virtual void drop_result() noexcept = 0;

    virtual void post(operation_turn turn) = 0;
    virtual void post_expired(operation_turn turn); ///< after the timer's expiry
    virtual asio::execution_context& context() const = 0;

    virtual asio::io_context* own_context() const noexcept = 0;
    virtual basic_membership<retry_driver>* membership() noexcept = 0;
    virtual void forget_caller() noexcept = 0;        ///< forgets the caller's slot
    virtual void forget_waiting_place() noexcept = 0; ///< the context of the waits is being destroyed

    /// Each of these ends the operation. `deliver_later` uses a new turn or the handler's immediate executor.
    virtual void deliver() = 0;
    virtual void deliver_later() = 0;
    virtual void deliver_and_stay() = 0; ///< keeps the memory for attempts that were left behind
    virtual void dissolve() noexcept = 0;
    virtual void free() noexcept = 0;

private:
    // --- for the driver

    static constexpr bool arms_before_start = true; // the timer: it limits the attempt that starts

    attempt_state& attempt(unsigned) noexcept { return *this; }
    void start_attempt(attempt_state&) { start_attempt(); }
    void signal_attempt(attempt_state&, asio::cancellation_type_t type) { signal_attempt(type); }
    void put_failure(attempt_state&, error_code const& code, std::exception_ptr const& thrown) {
        try {
            put_failure(code, thrown);
        } catch (...) { // no result can be made: the handler is destroyed
            life_.abandon();
            throw;
        }
    }
    void go_without_result(std::exception_ptr& thrown) noexcept {
        thrown = std::current_exception();
        end_attempts();
    }
    void drop_attempt(attempt_state&) noexcept {}
    bool may_end_here(attempt_state const& attempt) const noexcept {
        return attempt.outcome == fate::dropped ||
               (attempt.outcome == fate::succeeded && !machine_.hears_success());
    }
    static bool has_end() noexcept { return false; }
    void leave_queue() noexcept { machine_.leave_queue(); }
    bool succeeds_at_once(attempt_state const& attempt);
    plan next(question why);
    plan judge(attempt_state& attempt, std::exception_ptr& thrown);
    void fail(error_code const& code, std::exception_ptr const& thrown);
    interruption_wish obey(timed_request const& request);

    interruption_wish interrupt() const noexcept;
    plan refuse_start();
    plan plan_for(retry_action&& action, time_point now);
    plan begin_attempt(time_point now);
    plan begin_wait(time_point now, duration delay) noexcept;
    void on_waiting() noexcept;
    plan end_wait();
    plan end_limited_attempt();
    void on_told_of_limit() noexcept;

    static constexpr std::uint8_t has_gone = 0x80;
    static constexpr std::uint8_t most_left = 0x7e;

    /// How many attempts are left behind; with has_gone the last of them frees the memory.
    std::atomic<std::uint8_t> left_ = 0;
    asio::cancellation_signal signal_; // stops the running attempt
    ASIO_RETRY_NO_UNIQUE_ADDRESS retry_machine machine_;
};

} // namespace asio_retry::detail
