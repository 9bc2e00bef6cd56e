#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/attempt/stepped_form.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>
#include <asio_retry/detail/inject/delayed_attempt.hpp>
#include <asio_retry/detail/inject/effected_handler.hpp>
#include <asio_retry/detail/inject/injected_await.hpp>
#include <asio_retry/detail/inject/injected_calls.hpp>
#include <asio_retry/detail/inject/injected_fault.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/fault_plan.hpp>
#include <asio_retry/retry_waits.hpp>

#include <boost/asio/async_result.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Begins an attempt that completes a handler. A plain callable is called here, and what it throws is its
/// failure.
template <typename Form, typename Target, typename Handler>
void begin_attempt(Target const& target, attempt const& which, Handler&& handler) {
    if constexpr (Form::takes_token) {
        static_cast<void>(target.call(which, std::move(handler)));
    } else if constexpr (Form::returns_operation) {
        static_cast<void>(target.call(which)(std::move(handler)));
    } else {
        using completion = detail::completion<typename Form::signature>;
        using result_type = typename Form::result_type;
        using arguments = typename completion::arguments;
        auto const result_of_call = [&]() -> arguments {
            try {
                if constexpr (std::is_void_v<result_type>) {
                    target.call(which);
                    return arguments();
                } else {
                    return returned<result_type>::arguments(result_type(target.call(which)));
                }
            } catch (...) {
                return completion::from_exception(std::current_exception());
            }
        };
        detail::unpack(std::move(handler), result_of_call(), places_of<arguments>);
    }
}

/// Begins an attempt after its delay, or fails it.
template <typename Form, typename Target, typename Handler>
class delayed_begin {
    using completion = detail::completion<typename Form::signature>;
    using beginning = delayed_beginning<Handler>;

public:
    delayed_begin(Target const& target, attempt const& which)
        : target_(target)
        , which_(which)
        , beginning_(std::make_shared<beginning>()) {}

    void operator()(Handler&& handler, error_code const& failure) {
        if (failure)
            return complete(std::move(handler), completion::failed(failure, nullptr));
        try {
            begin_attempt<Form>(target_, which_.get(),
                                effected_handler<Handler, beginning_link<Handler>>(
                                    std::move(handler), beginning_link<Handler>(beginning_)));
        } catch (...) {
            if (beginning_->of_handler() == beginning::fate::called)
                throw;
            if (beginning_->of_handler() == beginning::fate::kept)
                return; // the attempt goes on, and will complete
            complete(beginning_->take(), completion::from_exception(std::current_exception()));
        }
    }

private:
    static void complete(Handler&& handler, typename completion::arguments&& result) {
        detail::unpack(std::move(handler), std::move(result), places_of<typename completion::arguments>);
    }

    Target target_;
    kept_attempt<Form::takes_attempt> which_;
    std::shared_ptr<beginning> beginning_;
};

/// Draws a fault, and begins an attempt for a handler with that fault.
template <typename Form, typename Target>
struct injected_initiation {
    Target target;
    kept_attempt<Form::takes_attempt> which;
    std::shared_ptr<fault_plan> const* plan; // a member of the operation

    template <typename Handler>
    void operator()(Handler&& handler) const {
        if ((*plan)->is_enabled())
            begin_with(fault_access::draw(**plan), std::decay_t<Handler>(std::forward<Handler>(handler)));
        else
            begin_attempt<Form>(target, which.get(), std::forward<Handler>(handler));
    }

private:
    template <typename Handler>
    void begin_with(injected_fault const& fault, Handler handler) const {
        using kind = injected_fault::kind;
        using loss = answer_loss<typename Form::signature>;
        using delayed = delayed_begin<Form, Target, Handler>;
        if (fault.what == kind::none)
            return begin_attempt<Form>(target, which.get(), std::move(handler));
        if (fault.what == kind::lost_answer)
            return begin_attempt<Form>(
                target, which.get(),
                effected_handler<Handler, loss>(std::move(handler), loss(*plan, fault.code)));
        delayed_attempt<Handler, delayed>::initiate(std::move(handler), *plan, fault,
                                                    delayed(target, which.get()));
    }
};

/// Blocks the thread while the attempt is delayed or hangs. Returns why the attempt is not made, if so.
template <typename Waits>
error_code block_for(fault_plan const& plan, injected_fault const& fault, time_point deadline, Waits& waits) {
    constexpr duration longest = std::chrono::milliseconds(100); // `disable` does not wake the thread
    bool const hangs = fault.what == injected_fault::kind::hang;
    time_point const over = hangs ? (time_point::max)() : saturating_add(waits.now(), fault.length);
    for (time_point now = waits.now(); now < over && !fault_access::is_over(plan, fault); now = waits.now()) {
        if (waits.stopped())
            return aborted_error();
        if (now >= deadline)
            return timed_out_error();
        waits.wait_until((std::min)({over, deadline, saturating_add(now, longest)}));
    }
    return {};
}

/// The form of an operation with faults: that of the operation, but a plain callable takes a token, too, so
/// that `async_retry` delays it without blocking a thread.
template <typename Form>
struct injecting_form : Form {
    static constexpr bool may_block = !is_asynchronous<Form>;
    static constexpr bool takes_token = !Form::returns_awaitable;
    static constexpr bool returns_operation = false;

    template <typename Target>
    static typename Form::result_type inject(Target const& target, std::shared_ptr<fault_plan> const& plan,
                                             attempt const& which)
        requires Form::returns_awaitable
    {
        using result_type = typename Form::result_type;
        if (!plan->is_enabled())
            return target.call(which);
        injected_fault const fault = fault_access::draw(*plan);
        if (fault.what == injected_fault::kind::none)
            return target.call(which);
        return await_injected<result_type, typename Form::signature>(
            target.template later<result_type>(), kept_attempt<Form::takes_attempt>(which), plan, fault);
    }

    template <typename Target, typename Token>
    static auto inject(Target const& target, std::shared_ptr<fault_plan> const& plan, attempt const& which,
                       Token&& token) {
        using initiation = injected_initiation<Form, Target>;
        return asio::async_initiate<Token, typename Form::signature>(
            initiation{target, kept_attempt<Form::takes_attempt>(which), &plan}, token);
    }

    template <typename Target, retry_waits Waits>
        requires(!is_asynchronous<Form>)
    static typename Form::result_type inject(Target const& target, std::shared_ptr<fault_plan> const& plan,
                                             attempt const& which, Waits& waits) {
        using result_type = typename Form::result_type;
        using kind = injected_fault::kind;
        injected_fault const fault = plan->is_enabled() ? fault_access::draw(*plan) : injected_fault();
        error_code failure = fault.code;
        if (fault.what == kind::delay || fault.what == kind::hang)
            failure = block_for(*plan, fault, which.deadline, waits);
        if (failure && fault.what != kind::lost_answer)
            return failed_with<result_type, typename Form::signature>(failure);
        if (fault.what != kind::lost_answer)
            return call_blocking(target, which, waits);
        return lose_answer(target, *plan, fault, which, waits);
    }

private:
    template <typename Target, typename Waits>
    static decltype(auto) call_blocking(Target const& target, attempt const& which,
                                        [[maybe_unused]] Waits& waits) {
        if constexpr (Form::may_block)
            return target.call(which, waits);
        else
            return target.call(which);
    }

    template <typename Target, typename Waits>
    static typename Form::result_type lose_answer(Target const& target, fault_plan& plan,
                                                  injected_fault const& fault, attempt const& which,
                                                  Waits& waits) {
        using result_type = typename Form::result_type;
        if constexpr (std::is_void_v<result_type>) {
            call_blocking(target, which, waits);
        } else {
            result_type result(call_blocking(target, which, waits));
            if (is_failed_value(result))
                return result;
        }
        fault_access::count_lost_answer(plan);
        return failed_with<result_type, typename Form::signature>(fault.code);
    }
};

} // namespace asio_retry::detail
