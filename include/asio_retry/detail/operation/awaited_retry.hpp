#pragma once

#include <asio_retry/detail/attempt/attempt_health.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/decide.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/coroutine_entry.hpp>
#include <asio_retry/detail/handler/executor_home.hpp>
#include <asio_retry/detail/operation/attempt_signal.hpp>
#include <asio_retry/detail/operation/awaited_context.hpp>
#include <asio_retry/detail/operation/coroutine_limit.hpp>
#include <asio_retry/detail/operation/coroutine_wait.hpp>
#include <asio_retry/detail/time/lazy_scheduler.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace asio_retry::detail {

enum class retry_step { attempt, wait, complete };

/// What a coroutine that awaits the attempts of a retry does between them. It is no coroutine itself: the frame
/// of one would keep every temporary, and to resume a large frame is what waiting costs most.
///
/// Attempts that somebody may interrupt, the caller or a time limit, are given a cancellation of their own in
/// place of the coroutine's: what an attempt makes of that, such as to reset it in order to clean up, must not
/// make the operation forget that it was cancelled.
template <typename Callable, typename Executor, typename WaitsOn>
class awaited_retry {
    using form = operation_form<Callable>;
    using completion = detail::completion<typename form::signature>;
    using arguments = typename completion::arguments;
    using value_type = typename awaitable_traits<typename form::result_type>::value_type;

public:
    /// `callable` and `entry` must outlive it.
    awaited_retry(Callable& callable, retry_policy&& policy, coroutine_entry<Executor>& entry,
                  WaitsOn const& waits_on)
        : callable_(callable)
        , entry_(entry)
        , context_(waits_on)
        , machine_(std::move(policy))
        , health_(machine_, *this)
        , wait_(entry.executor())
        , limit_(*this)
        , slot_(entry.state().slot())
        , is_interruptible_(slot_.is_connected() || machine_.limits_attempts()) {
        if (slot_.is_connected())
            note(entry.state().cancelled());
    }

    ~awaited_retry() {
        if (listens_)
            slot_.clear();
    }

    Executor const& executor() const noexcept { return entry_.executor(); }

    /// @name Time and randomness
    /// @{
    time_point now() { return scheduler().now(); }
    random& get_random() {
        scheduler();
        return scheduler_.get_random();
    }

    /// The time, for a machine that needs it even if nothing fails.
    time_point time_for(retry_machine const& machine) { return machine.measures_time() ? now() : time_point(); }
    /// @}

    retry_step start() {
        try {
            if (is_interruptible_)
                entry_.take_over(signal_.slot());
            if (slot_.is_connected())
                slot_.template emplace<slot_handler>(this);
            form::prepare(callable_, machine_);
            if (retry_scheduler::any_seeded())
                scheduler();
            time_point const now = time_for(machine_);
            if (!machine_.may_start(now))
                return take(begin(machine_, *this, now), now);
            machine_.start_with_attempt(now);
            return begin_attempt(now);
        } catch (...) {
            return fail(std::current_exception());
        }
    }

    // --- an attempt

    auto call() { return form::call(callable_, health_.monitored(machine_.current_attempt())); }

    template <typename... Value>
    void on_result(Value&&... value) {
        if constexpr (sizeof...(Value) == 0)
            result_.emplace();
        else
            result_.emplace(awaited<value_type>::arguments(std::forward<Value>(value)...));
    }

    void on_exception(std::exception_ptr const& thrown) { result_.emplace(completion::from_exception(thrown)); }

    /// Whether the coroutine may go on where the attempt ended. Not inside what tells it to stop, whose slot is
    /// being used; not on another executor, where none of the policy's callables may be called; and not before
    /// the notice of a time limit has arrived that is under way.
    bool is_settled() {
        if (!is_interruptible_)
            return !(form::judges_results || completion::is_failure(*result_)) || is_home();
        entry_.let_nothing_throw();
        if (signal_.is_telling() || !is_home())
            return false;
        is_attempting_ = false;
        return limit_.disarm();
    }

    auto async_settle() {
        return wait_.async_suspend([this] {
            if (signal_.is_telling())
                signal_.hold_back();
            else if (!is_home())
                wait_.post();
            else
                awaits_notice_ = true;
        });
    }

    retry_step on_attempt_ended() {
        if (wait_.failure())
            return fail(wait_.failure());
        try {
            if (!form::judges_results && !completion::is_failure(*result_))
                return succeed();
            time_point now{};
            retry_action action = decide_on<completion, form>(machine_, callable_, *result_, *this, now);
            if (action.what != retry_action::kind::wait)
                return take(std::move(action), now);
            result_.reset(); // gone before the wait begins
            if (machine_.cancelled())
                return resume();
            return take(std::move(action), now);
        } catch (...) {
            return fail(std::current_exception());
        }
    }

    // --- a wait

    auto async_wait() { return wait_.async_wait(scheduler(), expiry_); }

    retry_step on_wait_ended() {
        if (wait_.failure())
            return fail(wait_.failure());
        try {
            return resume();
        } catch (...) {
            return fail(std::current_exception());
        }
    }

    // --- what interrupts an attempt

    /// Its time limit, where the executor runs functions.
    void on_limit() {
        if (std::exchange(awaits_notice_, false))
            return wait_.go_on();
        machine_.on_attempt_limit();
        tell_attempt(asio::cancellation_type::terminal);
    }
    void on_limit_dropped() noexcept {
        if (awaits_notice_)
            wait_.drop();
    }

    // --- the end

    arguments take_result() { return std::move(*result_); }

private:
    retry_scheduler& scheduler() {
        if (!scheduler_.is_found())
            scheduler_.find_in(context_.get(executor()), own_context(executor()));
        return scheduler_.get();
    }

    retry_step take(retry_action&& action, time_point now) {
        if (action.what == retry_action::kind::attempt)
            return begin_attempt(now);
        if (action.what == retry_action::kind::wait) {
            expiry_.reset();
            if (action.delay != duration::zero())
                expiry_ = saturating_add(now, action.delay);
            return retry_step::wait;
        }
        if (!result_)
            result_.emplace(completion::failed(error_code(), nullptr));
        completion::amend(*result_, action);
        return end();
    }

    retry_step succeed() {
        machine_.on_success(machine_.is_observed() ? now() : time_point());
        return end();
    }

    retry_step end() noexcept {
        if (is_interruptible_)
            entry_.give_back();
        return retry_step::complete;
    }

    retry_step begin_attempt(time_point now) {
        wait_.leave();
        if (!is_interruptible_)
            return retry_step::attempt;
        entry_.renew();
        is_attempting_ = true;
        time_point const limit = machine_.limits_attempts() ? machine_.attempt_limit(now) : time_point::max();
        if (limit == time_point::max() || limit_.arm(scheduler(), limit))
            return retry_step::attempt;
        // The context is being destroyed, and with it, as soon as it waits, the coroutine.
        entry_.let_nothing_throw();
        expiry_ = limit;
        return retry_step::wait;
    }

    retry_step resume() {
        time_point const now = time_for(machine_);
        return take(go_on(machine_, *this, now), now);
    }

    retry_step fail(std::exception_ptr const& thrown) {
        is_attempting_ = false;
        return take(machine_.on_exception(code_of(thrown), thrown), {});
    }

    bool is_home() const noexcept { return wait_.came_back() || executor_home(executor()).is_here(); }

    /// Lives in the slot of the caller's coroutine.
    struct slot_handler {
        awaited_retry* self;
        explicit slot_handler(awaited_retry* s) noexcept
            : self(s) {
            self->listens_ = true;
        }
        slot_handler(slot_handler const&) = delete;
        slot_handler& operator=(slot_handler const&) = delete;
        ~slot_handler() { self->listens_ = false; }
        void operator()(asio::cancellation_type_t type) { self->on_cancelled(type); }
    };

    /// Returns whether the operation is to stop.
    bool note(asio::cancellation_type_t type) noexcept {
        constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;
        if ((type & stopping) != asio::cancellation_type::none) {
            machine_.cancel();
            return true;
        }
        return (type & asio::cancellation_type::total) != asio::cancellation_type::none &&
               machine_.cancel_total();
    }

    // What is told may go on, and end *this.
    void on_cancelled(asio::cancellation_type_t type) {
        if (!note(type))
            return;
        if (is_attempting_)
            tell_attempt(type);
        else
            wait_.cut_short();
    }

    void tell_attempt(asio::cancellation_type_t type) {
        signal_.tell(type, [this] { wait_.go_on_later(); });
    }

    Callable& callable_;
    coroutine_entry<Executor>& entry_;
    [[no_unique_address]] awaited_context<WaitsOn> context_;
    lazy_scheduler scheduler_;
    retry_machine machine_;
    [[no_unique_address]] attempt_health_of<form, awaited_retry> health_;
    coroutine_wait<Executor> wait_;
    coroutine_limit<awaited_retry> limit_;
    attempt_signal signal_;
    asio::cancellation_slot slot_; // of the caller; not connected if nobody can cancel
    bool const is_interruptible_;
    bool listens_ = false;
    bool is_attempting_ = false;
    bool awaits_notice_ = false;       // of a time limit
    std::optional<time_point> expiry_; // of the wait; none for one that only lets others run
    std::optional<arguments> result_;
};

} // namespace asio_retry::detail
