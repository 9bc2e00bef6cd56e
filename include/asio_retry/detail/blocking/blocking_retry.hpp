#pragma once

#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/decide.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/blocking/thread_waits.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/operation_limits.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/retry_waits.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The operation's return value, from the arguments that `returned` made of it.
template <typename T>
struct given_back {
    static T from(std::tuple<std::exception_ptr, T>&& result) {
        if (std::get<0>(result))
            std::rethrow_exception(std::get<0>(result));
        return std::get<1>(std::move(result));
    }
};
template <>
struct given_back<void> {
    static void from(std::tuple<std::exception_ptr>&& result) {
        if (std::get<0>(result))
            std::rethrow_exception(std::get<0>(result));
    }
};
template <carried_failure Failure>
struct given_back<Failure> {
    static Failure from(std::tuple<Failure>&& result) { return std::get<0>(std::move(result)); }
};
template <typename T>
struct given_back<code_result<T>> {
    static code_result<T> from(std::tuple<error_code, T>&& result) {
        if (std::get<0>(result))
            return std::get<0>(result);
        return std::get<1>(std::move(result));
    }
};
template <typename T>
struct given_back<code_result<T&>> : given_back<code_result<std::remove_cv_t<T>>> {};
template <typename T>
    requires std::is_void_v<T>
struct given_back<code_result<T>> {
    static code_result<T> from(std::tuple<error_code>&& result) {
        if (std::get<0>(result))
            return std::get<0>(result);
        return {};
    }
};

template <typename Form>
consteval auto assert_blocking() {
    static_assert(!is_asynchronous<Form>,
                  "retry: a blocking retry takes a plain callable; use async_retry for one that "
                  "takes a completion token or returns an awaitable or a deferred operation");
    if constexpr (!is_asynchronous<Form>)
        Form::assert_usable();
}

/// Time, randomness and cancellation of a blocking retry.
template <typename Waits>
class blocking_source final : public cancellation_probe {
public:
    explicit blocking_source(Waits& waits) noexcept
        : waits_(waits) {}

    time_point now() { return waits_.now(); }

    /// The time, or nothing if the machine needs it only after a failure.
    time_point time_for(retry_machine const& machine) { return machine.measures_time() ? now() : time_point(); }

    random& get_random() {
        if (!random_)
            random_.emplace(waits_.next_random());
        return *random_;
    }

    bool stops(bool) const noexcept override { return waits_.stopped(); }

private:
    Waits& waits_;
    std::optional<random> random_;
};

/// Carries out what the retry_machine decides, on this thread.
template <typename Callable, typename Waits>
class blocking_retry {
    using form = operation_form<Callable>;
    using completion = detail::completion<typename form::signature>;
    using arguments = typename completion::arguments;
    using result_type = typename form::result_type;

public:
    blocking_retry(Callable& callable, retry_policy&& given_policy, Waits& waits)
        : callable_(callable)
        , waits_(waits)
        , source_(waits)
        , machine_(std::move(given_policy))
        , health_(machine_, source_) {
        machine_.watch(source_);
        machine_.expect_no_wake_up();
    }

    auto run() {
        retry_action action;
        try {
            if constexpr (form::prepares)
                form::prepare(callable_, machine_);
            if (machine_.chooses())
                machine_.draw_from(source_.get_random());
            time_point now = source_.time_for(machine_);
            action = begin(machine_, source_, now);
            while (action.what != retry_action::kind::complete)
                action = carry_out(action, now);
        } catch (...) { // neither the attempt nor the policy threw it
            result_.emplace(completion::from_exception(std::current_exception()));
            action = completion::on_exception(machine_, *result_);
        }
        if (result_)
            completion::template amend<form::judges_results>(*result_, action);
        else
            result_.emplace(last_.failed(action.error, action.thrown));
        return given_back<result_type>::from(std::move(*result_));
    }

private:
    decltype(auto) call(attempt const& which) {
        if constexpr (form::may_block)
            return form::call(callable_, which, waits_);
        else
            return form::call(callable_, which);
    }

    void make_attempt() {
        time_point const limit =
            machine_.limits_attempts() ? machine_.attempt_limit(source_.now()) : (time_point::max)();
        try {
            attempt const which = health_.monitored(machine_.current_attempt());
            if constexpr (std::is_void_v<result_type>) {
                call(which);
                result_.emplace();
            } else {
                result_.emplace(returned<result_type>::arguments(result_type(call(which))));
            }
        } catch (...) {
            result_.emplace(completion::from_exception(std::current_exception()));
        }
        if (limit == (time_point::max)())
            return;
        if (time_point const last = machine_.renewed_limit(limit); source_.now() >= last)
            machine_.on_attempt_limit(last); // nothing could stop the attempt, but it has taken too long
    }

    /// Returns the next action. A wait begins at `now`.
    retry_action carry_out(retry_action const& action, time_point& now) {
        if (action.what == retry_action::kind::attempt) {
            make_attempt();
            return decide_on<completion, form>(machine_, callable_, *result_, source_, now);
        }
        last_.keep(result_);
        result_.reset(); // the result is destroyed before the wait begins
        if (action.delay == duration::zero())
            yield_thread();
        else
            wait_until(saturating_add(now, action.delay));
        now = source_.now();
        return decide_after_wait(machine_, source_, now);
    }

    void wait_until(time_point when) {
        do
            waits_.wait_until(when);
        while (!waits_.stopped() && waits_.now() < when); // a wait may wake up too early
    }

    Callable& callable_;
    Waits& waits_;
    blocking_source<Waits> source_;
    retry_machine machine_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS attempt_health_of<form, blocking_source<Waits>> health_;
    std::optional<arguments> result_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS last_failure<completion> last_;
};

} // namespace asio_retry::detail
