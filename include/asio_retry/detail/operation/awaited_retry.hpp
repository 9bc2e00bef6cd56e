#pragma once

#include <asio_retry/detail/attempt/attempt_health.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/decide.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/runs_here.hpp>
#include <asio_retry/detail/handler/working_executor.hpp>
#include <asio_retry/detail/operation/coroutine_attempt.hpp>
#include <asio_retry/detail/operation/coroutine_wait.hpp>
#include <asio_retry/detail/time/lazy_scheduler.hpp>
#include <asio_retry/retry_machine.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Says that a coroutine waits on its own executor.
struct own_executor {};

template <typename Executor, typename WaitsOn>
class coroutine_executors {
public:
    coroutine_executors(Executor&& own, WaitsOn const& waits_on)
        : own_(std::move(own))
        , elsewhere_(waits_on) {}

    Executor const& own() const noexcept { return own_; }
    WaitsOn waits_on() const noexcept { return elsewhere_.get(); }

private:
    Executor own_;
    working_executor<WaitsOn> elsewhere_;
};

template <typename Executor>
class coroutine_executors<Executor, own_executor> {
public:
    coroutine_executors(Executor&& own, own_executor) noexcept
        : own_(std::move(own)) {}

    Executor const& own() const noexcept { return own_; }
    Executor const& waits_on() const noexcept { return own_; }

private:
    Executor own_;
};

enum class retry_step { attempt, wait, complete };

/// What a coroutine that awaits the attempts of a retry does between them. It is no coroutine itself: the frame
/// of one would keep every temporary, and to resume a large frame is what waiting costs most.
template <typename Callable, typename Executor, typename WaitsOn>
class awaited_retry {
    using form = operation_form<Callable>;
    using completion = detail::completion<typename form::signature>;
    using arguments = typename completion::arguments;
    using value_type = typename awaitable_traits<typename form::result_type>::value_type;

public:
    /// `callable` must outlive it.
    awaited_retry(Callable& callable, retry_policy&& policy, Executor&& executor, WaitsOn const& waits_on,
                  asio::cancellation_state const& state)
        : callable_(callable)
        , executors_(std::move(executor), waits_on)
        , machine_(std::move(policy))
        , health_(machine_, *this)
        , wait_(executors_.own())
        , attempt_(*this)
        , slot_(state.slot()) {
        if (can_be_cancelled())
            note(state.cancelled());
    }

    ~awaited_retry() {
        if (listens_)
            slot_.clear();
    }

    Executor const& executor() const noexcept { return executors_.own(); }

    bool can_be_cancelled() const noexcept { return slot_.is_connected(); }
    bool is_cancelled() noexcept { return machine_.cancelled(); }

    /// @name Time and randomness
    /// @{
    time_point now() { return waits().now(); }
    random& get_random() {
        waits();
        return scheduler_.get_random();
    }

    /// The time, for a machine that needs it even if nothing fails.
    time_point time_for(retry_machine const& machine) { return machine.measures_time() ? now() : time_point(); }
    /// @}

    retry_step start() {
        try {
            listen();
            form::prepare(callable_, machine_);
            if (retry_scheduler::any_seeded())
                waits();
            return take(machine_.start(time_for(machine_)), {});
        } catch (...) {
            return fail(std::current_exception());
        }
    }

    // --- an attempt

    auto call() { return form::call(callable_, health_.monitored(machine_.current_attempt())); }

    /// Instead, where the coroutine can be cancelled.
    auto async_attempt() { return attempt_.async_run(); }

    template <typename... Value>
    void on_result(Value&&... value) {
        if constexpr (sizeof...(Value) == 0)
            result_.emplace();
        else
            result_.emplace(awaited<value_type>::arguments(std::forward<Value>(value)...));
    }

    void on_exception(std::exception_ptr const& thrown) { result_.emplace(completion::from_exception(thrown)); }

    /// Whether the attempt ended on another executor, where none of the policy's callables may be called.
    bool is_astray() const {
        return (form::judges_results || completion::is_failure(*result_)) && !runs_here(executor());
    }

    auto async_return() { return wait_.async_return(); }

    retry_step on_attempt_ended() {
        if (wait_.failure())
            return fail(wait_.failure());
        if (can_be_cancelled())
            if (auto failure = attempt_.take_failure())
                on_exception(failure);
        try {
            listen();
            time_point now{};
            retry_action action = decide_on<completion, form>(machine_, callable_, *result_, *this, now);
            if (action.what != retry_action::kind::wait)
                return take(std::move(action), now);
            result_.reset(); // gone before the wait begins
            if (machine_.cancelled())
                return end_wait();
            return take(std::move(action), now);
        } catch (...) {
            return fail(std::current_exception());
        }
    }

    // --- a wait

    auto async_wait() { return wait_.async_wait(waits(), expiry_); }

    retry_step on_wait_ended() {
        if (wait_.failure())
            return fail(wait_.failure());
        try {
            listen();
        } catch (...) {
            return fail(std::current_exception());
        }
        return end_wait();
    }

    // --- the end

    arguments take_result() { return std::move(*result_); }

private:
    retry_scheduler& waits() {
        if (!scheduler_.is_found())
            scheduler_.find_in(asio::query(executors_.waits_on(), asio::execution::context));
        return scheduler_.get();
    }

    retry_step take(retry_action&& action, time_point now) {
        if (action.what == retry_action::kind::attempt)
            return retry_step::attempt;
        if (action.what == retry_action::kind::wait) {
            expiry_.reset();
            if (action.delay != duration::zero())
                expiry_ = saturating_add(now, action.delay);
            return retry_step::wait;
        }
        if (!result_)
            result_.emplace(completion::failed(error_code(), nullptr));
        completion::amend(*result_, action);
        return retry_step::complete;
    }

    retry_step end_wait() { return take(machine_.on_wait_over(time_for(machine_)), {}); }

    retry_step fail(std::exception_ptr const& thrown) {
        return take(machine_.on_exception(code_of(thrown), thrown), {});
    }

    /// Lives in the slot of the caller's coroutine, which forgets its handler whenever the coroutine goes on.
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

    void listen() {
        if (slot_.is_connected())
            slot_.template emplace<slot_handler>(this);
    }

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
        if (attempt_.running())
            attempt_.stop(type);
        else
            wait_.cut_short();
    }

    Callable& callable_;
    coroutine_executors<Executor, WaitsOn> executors_;
    lazy_scheduler scheduler_;
    retry_machine machine_;
    [[no_unique_address]] attempt_health_of<form, awaited_retry> health_;
    coroutine_wait<Executor> wait_;
    coroutine_attempt<awaited_retry, value_type, Executor> attempt_;
    asio::cancellation_slot slot_; // not connected if nobody can cancel
    bool listens_ = false;
    std::optional<time_point> expiry_; // of the wait; none for one that only lets others run
    std::optional<arguments> result_;
};

} // namespace asio_retry::detail
