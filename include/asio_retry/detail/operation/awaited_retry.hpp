#pragma once

#include <asio_retry/detail/attempt/attempt_health.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/decide.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/operation/awaited_core.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/retry_machine.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// Controls a retry inside a coroutine between its attempts. It is no coroutine itself: a frame would keep
/// every temporary, and resuming a large frame is the greatest cost of a wait.
template <typename Callable, typename Executor, typename WaitsOn>
class awaited_retry : public awaited_core<Executor, WaitsOn> {
    using core = awaited_core<Executor, WaitsOn>;
    using typename core::pause;
    using form = operation_form<Callable>;
    using completion = detail::completion<typename form::signature>;
    using arguments = typename completion::arguments;
    using value_type = typename awaitable_traits<typename form::result_type>::value_type;

public:
    /// The referenced objects must outlive it.
    awaited_retry(Callable& callable, retry_policy&& given_policy, coroutine_entry<Executor>& entry,
                  coroutine_home const& home, WaitsOn&& waits_on, awaited_presence<Executor, WaitsOn>& presence)
        : core(std::move(given_policy), entry, home, std::move(waits_on), presence)
        , callable_(callable)
        , health_(machine(), *this) {}

    retry_step start() {
        try {
            form::prepare(callable_, machine());
            return this->take_over() ? this->pause_for(pause::entering) : begin_or_refuse();
        } catch (...) {
            return fail(std::current_exception());
        }
    }

    // --- an attempt

    auto call() { return form::call(callable_, health_.monitored(machine().current_attempt())); }

    template <typename... Value>
    void on_result(Value&&... value) {
        if constexpr (sizeof...(Value) == 0)
            result_.emplace();
        else
            result_.emplace(awaited<value_type>::arguments(std::forward<Value>(value)...));
    }

    void on_exception(std::exception_ptr const& thrown) noexcept {
        put_result([&] { result_.emplace(completion::from_exception(thrown)); });
    }

    retry_step on_attempt_ended() {
        if (!this->try_settle(is_success() && !machine().hears_success()))
            return this->pause_for(pause::settling);
        if (thrown_)
            return this->end();
        if (this->failure())
            return fail(this->failure());
        try {
            if (is_success())
                return succeed();
            time_point now{};
            retry_action action = decide_on<completion, form>(machine(), callable_, *result_, *this, now);
            if (action.what != retry_action::kind::wait)
                return carry_out(std::move(action), now);
            result_.reset(); // the result is destroyed before the wait begins
            if (machine().cancelled())
                return resume();
            return carry_out(std::move(action), now);
        } catch (...) {
            return fail(std::current_exception());
        }
    }

    retry_step on_pause_ended() {
        if (this->what_paused() == pause::leaving || this->what_paused() == pause::rising)
            return this->end();
        if (this->what_paused() == pause::settling)
            return on_attempt_ended();
        if (this->failure())
            return fail(this->failure());
        try {
            return this->what_paused() == pause::entering ? begin_or_refuse() : resume();
        } catch (...) {
            return fail(std::current_exception());
        }
    }

    // --- the end

    /// Throws the exception that making a result has thrown, if there is one.
    arguments take_result() {
        if (thrown_)
            std::rethrow_exception(thrown_);
        return std::move(*result_);
    }

private:
    using core::machine;

    /// False if `fail_if` has to judge the result.
    bool is_success() const noexcept {
        return !form::judges_results && result_ && !completion::is_failure(*result_);
    }

    /// If no result can be made, there is nothing to decide on. The operation still ends, and restores the
    /// coroutine's cancellation.
    template <typename Put>
    void put_result(Put put) noexcept {
        try {
            put();
        } catch (...) {
            thrown_ = std::current_exception();
        }
    }

    retry_step begin_or_refuse() {
        time_point now{};
        bool has_no_room = false;
        if (this->may_start(now, has_no_room) && machine().start_with_attempt(now))
            return this->begin_attempt(now);
        return carry_out(
            has_no_room ? machine().refuse(no_buffer_space_error(), now) : begin(machine(), *this, now), now);
    }

    retry_step carry_out(retry_action&& action, time_point now) {
        if (action.what == retry_action::kind::attempt)
            return this->begin_attempt(now);
        if (action.what == retry_action::kind::wait)
            return this->wait(action.delay, now);
        if (!result_)
            put_result([&] { result_.emplace(completion::failed(error_code(), nullptr)); });
        if (result_)
            completion::template amend<form::judges_results>(*result_, action);
        return this->end();
    }

    retry_step succeed() {
        if (machine().tells_success())
            machine().on_success(machine().is_observed() ? this->now() : time_point());
        return this->end();
    }

    retry_step resume() {
        time_point const now = this->time_for(machine());
        return carry_out(decide_after_wait(machine(), *this, now), now);
    }

    retry_step fail(std::exception_ptr const& thrown) {
        this->give_up_attempt();
        return carry_out(machine().on_exception(code_of(thrown), thrown), {});
    }

    Callable& callable_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS attempt_health_of<form, awaited_retry> health_;
    std::optional<arguments> result_;
    std::exception_ptr thrown_;
};

} // namespace asio_retry::detail
