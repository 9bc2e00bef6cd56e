#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/coroutine_entry.hpp>
#include <asio_retry/detail/operation/attempt_signal.hpp>
#include <asio_retry/detail/operation/awaited_place.hpp>
#include <asio_retry/detail/operation/coroutine_limit.hpp>
#include <asio_retry/detail/operation/coroutine_membership.hpp>
#include <asio_retry/detail/operation/coroutine_wait.hpp>
#include <asio_retry/detail/operation/slot_listener.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <exception>
#include <utility>

namespace asio_retry::detail {

enum class retry_step { attempt, pause, complete };

/// Controls a retry inside a coroutine between its attempts, without what depends on the operation: its waits,
/// and what interrupts an attempt.
///
/// An attempt that a caller, a time limit or a scope may interrupt gets a cancellation state of its own in
/// place of the coroutine's. The attempt may reset it in order to clean up; the operation still knows that it
/// was cancelled.
template <typename Executor, typename WaitsOn>
class awaited_core {
    using membership = coroutine_membership<awaited_core, Executor, WaitsOn>;

public:
    static constexpr bool is_scoped = membership::is_scoped;

    Executor const& executor() const noexcept { return entry_.executor(); }
    void forget_waiting_place() noexcept { place_.forget(); } ///< the context of the waits is being destroyed

    /// @name Time and randomness
    /// @{
    time_point now() { return scheduler().now(); }
    random& get_random() { return place_.get_random(executor()); }

    /// The time, if the machine needs it even when nothing fails.
    time_point time_for(retry_machine const& machine) { return machine.measures_time() ? now() : time_point(); }
    /// @}

    /// Suspends the coroutine until it has something to do.
    auto async_pause() {
        return wait_.async_suspend([this] { begin_pause(); });
    }

    // --- what interrupts an attempt or a wait; an emission may resume the coroutine and destroy *this

    /// The time limit is reached; on the executor.
    void on_limit() {
        if (std::exchange(awaits_limit_notice_, false))
            return wait_.resume();
        time_point const reached = limit_.expiry();
        if (renew_limit(reached))
            return;
        watch_limit(machine_.on_attempt_limit(reached));
        signal_attempt(asio::cancellation_type::terminal);
    }
    void on_limit_dropped() noexcept {
        if (awaits_limit_notice_)
            wait_.drop();
    }

    /// The scope has a request; on the executor.
    void on_scope_notice() {
        auto const [request, spread] = membership_.take_request();
        if (awaits_scope_notice_)
            return wait_.resume();
        if (request == scope_request::retry_within)
            return end_wait_within(spread);
        if (request == scope_request::drain)
            machine_.drain();
        if (request != scope_request::cancel)
            return wait_.cut_short();
        if (is_attempting_ && !machine_.tells_attempt())
            membership_.count_stopped_attempt();
        machine_.cancel();
        stop(asio::cancellation_type::terminal);
    }
    void on_scope_notice_lost() noexcept {
        membership_.take_request();
        if (awaits_scope_notice_)
            wait_.drop();
    }

    /// The coroutine waits for a notice that cannot be queued; on any thread.
    void on_scope_notice_failed() { wait_.resume_later(); }

    /// The caller cancels.
    void on_cancelled(asio::cancellation_type_t type) {
        if (note(type))
            stop(type);
    }

protected:
    enum class pause : unsigned char {
        none,
        entering, ///< the strand that the attempts need
        waiting,  ///< for the next attempt
        settling, ///< the attempt has ended on another executor, or a notice is under way
        leaving,  ///< it is over, except for a notice of its scope
        rising,   ///< it is over, on the stack of the call that entered its strand
    };

    /// The referenced objects must outlive it.
    awaited_core(retry_policy&& given_policy, coroutine_entry<Executor>& entry, coroutine_home const& home,
                 WaitsOn&& waits_on, awaited_presence<Executor, WaitsOn>& presence)
        : entry_(entry)
        , place_(entry.executor(), home, std::move(waits_on))
        , machine_(std::move(given_policy))
        , wait_(*this)
        , limit_(*this)
        , caller_(*this, entry.state().slot())
        , membership_(*this, presence)
        , is_interruptible_(is_scoped || caller_.is_connected() || machine_.limits_attempts()) {
        if (caller_.is_connected())
            note(entry.state().cancelled());
    }
    awaited_core(awaited_core const&) = delete;
    awaited_core& operator=(awaited_core const&) = delete;
    ~awaited_core() = default;

    retry_machine& machine() noexcept { return machine_; }
    std::exception_ptr const& failure() const noexcept { return wait_.failure(); }
    pause what_paused() const noexcept { return pause_; }

    /// Returns whether the coroutine must still go to the strand of its attempts.
    bool take_over() {
        if (is_interruptible_)
            entry_.take_over(signal_.slot());
        caller_.listen();
        return entry_.has_moved();
    }

    /// Whether the first attempt may begin. `has_no_room`: only the scope keeps it from beginning.
    bool may_start(time_point& now, bool& has_no_room) {
        if (!is_scoped && machine_.asks_nothing() && !retry_scheduler::any_seeded())
            return true;
        if (retry_scheduler::any_seeded())
            scheduler();
        if constexpr (is_scoped)
            membership_.begin(place_.context().scope(), machine_);
        now = time_for(machine_);
        bool const may = machine_.may_start(now);
        if constexpr (is_scoped)
            has_no_room = !membership_.has_room() && (may || machine_.was_refused());
        return may && !has_no_room;
    }

    retry_step begin_attempt(time_point now) {
        wait_.forget_turn();
        pause_ = pause::none;
        if (!is_interruptible_)
            return retry_step::attempt;
        entry_.renew();
        is_attempting_ = true;
        time_point const limit = machine_.limits_attempts() ? machine_.attempt_limit(now) : (time_point::max)();
        if (limit == (time_point::max)() || limit_.arm(scheduler(), limit))
            return retry_step::attempt;
        // The context is being destroyed, and will destroy the coroutine as soon as it waits.
        entry_.let_nothing_throw();
        expiry_ = limit;
        has_expiry_ = true;
        return pause_for(pause::waiting);
    }

    /// Whether the coroutine may go on where the attempt ended. It may not on another executor: there no
    /// callable of the policy may be called, and notices change the members. It may not inside the emission
    /// that stops the attempt, whose slot is in use. It may not before a notice of the time limit that is under
    /// way has arrived.
    bool try_settle(bool calls_nothing) {
        if (!is_interruptible_)
            return calls_nothing || is_home();
        entry_.let_nothing_throw();
        if (!is_home() || signal_.is_telling())
            return false;
        is_attempting_ = false;
        return limit_.disarm();
    }

    void give_up_attempt() noexcept { is_attempting_ = false; }

    retry_step wait(duration delay, time_point now) {
        has_expiry_ = delay != duration::zero();
        expiry_ = saturating_add(now, delay);
        return pause_for(pause::waiting);
    }

    retry_step pause_for(pause what) noexcept {
        pause_ = what;
        return retry_step::pause;
    }

    retry_step end() noexcept {
        if (entry_.has_moved() && pause_ != pause::rising && wait_.stands_where_it_entered())
            return pause_for(pause::rising);
        if constexpr (is_scoped)
            if (!membership_.leave())
                return pause_for(pause::leaving);
        if (is_interruptible_)
            entry_.give_back();
        auto strand = entry_.move_back();
        if constexpr (is_scoped)
            membership_.end(std::move(strand));
        return retry_step::complete;
    }

private:
    void begin_pause() {
        switch (pause_) {
        case pause::none:
            return;
        case pause::entering:
            return wait_.enter();
        case pause::waiting:
            return has_expiry_ ? wait_.wait_until(scheduler(), expiry_) : wait_.post();
        case pause::settling:
            return wait_to_settle(is_home());
        case pause::leaving:
            if constexpr (is_scoped) {
                awaits_scope_notice_ = true;
                if (membership_.leave_or_wait())
                    wait_.resume_later();
            }
            return;
        case pause::rising:
            return wait_.post();
        }
    }

    void wait_to_settle(bool home) {
        if (home ? signal_.is_telling() : signal_.is_telling_here())
            return signal_.hold_back();
        if (!home)
            return wait_.post();
        awaits_limit_notice_ = true;
    }

    retry_scheduler& scheduler() { return place_.scheduler(executor()); }

    /// Arms the limit again if the attempt has reported something that moves it. Returns false if its time is
    /// up.
    bool renew_limit(time_point reached) noexcept {
        if (!machine_.hears_attempt())
            return false;
        time_point const limit = machine_.renewed_limit(reached);
        return limit > reached && watch_limit(limit);
    }

    bool watch_limit(time_point limit) noexcept {
        try {
            return limit == (time_point::max)() || limit_.arm(scheduler(), limit);
        } catch (...) { // no memory to schedule it
            return false;
        }
    }

    bool is_home() const noexcept { return wait_.came_back() || place_.is_here(executor()); }

    /// Returns whether the operation must stop.
    bool note(asio::cancellation_type_t type) noexcept {
        constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;
        if ((type & stopping) != asio::cancellation_type::none) {
            machine_.cancel();
            return true;
        }
        return (type & asio::cancellation_type::total) != asio::cancellation_type::none &&
               machine_.cancel_total();
    }

    /// Ends the wait at a random time within `spread`, or at its own time if that is earlier.
    void end_wait_within(duration spread) {
        if (!is_attempting_)
            wait_.end_by(time_within(spread, now(), get_random()));
    }

    void stop(asio::cancellation_type_t type) {
        if (is_attempting_)
            signal_attempt(type);
        else
            wait_.cut_short();
    }

    void signal_attempt(asio::cancellation_type_t type) {
        signal_.tell(type, [this] { wait_.resume_later(); });
    }

    coroutine_entry<Executor>& entry_;
    awaited_place<Executor, WaitsOn> place_;
    retry_machine machine_;
    coroutine_wait<awaited_core> wait_;
    coroutine_limit<awaited_core> limit_;
    attempt_signal signal_;
    slot_listener<awaited_core> caller_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS membership membership_;
    bool const is_interruptible_;
    bool is_attempting_ = false;
    // Notices read these flags, so they are written on the executor only; `pause_` is not.
    bool awaits_limit_notice_ = false;
    bool awaits_scope_notice_ = false;
    pause pause_ = pause::none;
    bool has_expiry_ = false; // otherwise the wait is one turn of the executor
    time_point expiry_;
};

} // namespace asio_retry::detail
