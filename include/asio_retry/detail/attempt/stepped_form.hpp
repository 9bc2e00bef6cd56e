#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/completion.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/verdict.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The value type of an awaitable with this completion signature.
template <typename Signature>
struct awaited_value {
    using type = void;
};
template <typename Failure, typename... Values>
    requires carried_failure<std::remove_cvref_t<Failure>>
struct awaited_value<void(Failure, Values...)> {
    using type = std::tuple<std::remove_cvref_t<Failure>, std::decay_t<Values>...>;
};
template <typename Value>
struct awaited_value<void(std::exception_ptr, Value)> {
    using type = std::decay_t<Value>;
};

template <typename Signature>
inline constexpr bool carries_failure = carried_failure<typename completion<Signature>::failure_type>;

/// Returns a failure as a value if the completion can carry it; otherwise throws it.
template <typename Value, typename Signature>
Value failed_with(error_code const& code) {
    if constexpr (!carries_failure<Signature>) {
        throw boost::system::system_error(code);
    } else if constexpr (std::is_same_v<Value, error_code>) {
        return code;
    } else if constexpr (disposition<Value>) {
        return disposition_access<Value>::make(code, nullptr);
    } else if constexpr (requires { Value(Value::in_place_error, code); }) {
        return Value(Value::in_place_error, code);
    } else {
        return completion<Signature>::failed(code, nullptr);
    }
}

/// Returns the error of a completion. Throws an exception that is in it.
inline error_code error_in(error_code const& code) {
    return code;
}
inline error_code error_in(std::exception_ptr const& thrown) {
    if (thrown)
        std::rethrow_exception(thrown);
    return {};
}

template <disposition Disposition>
error_code error_in(Disposition const& of) {
    using access = disposition_access<Disposition>;
    if (!access::failed(of))
        return {};
    verdict const failure = access::verdict_on(of);
    return failure.is_permanent() ? permanent(failure.error()) : failure.error();
}

template <typename Value>
error_code error_of(Value&& value) {
    return detail::error_in(std::get<0>(awaited<std::decay_t<Value>>::arguments(std::forward<Value>(value))));
}
template <typename... Values>
error_code error_of(std::tuple<std::exception_ptr, Values...>&& completion) {
    return detail::error_in(std::get<0>(completion));
}

/// Calls a step or an operation. Returns an awaitable of its completion, or the result itself of a plain
/// callable.
template <typename Executor, typename Operation>
auto call_to_await(void* operation, attempt const& which) {
    using form = operation_form<Operation>;
    constexpr auto token = asio::as_tuple(asio::use_awaitable_t<Executor>());
    auto& callable = *static_cast<Operation*>(operation);
    if constexpr (form::takes_token)
        return form::call(callable, which, token);
    else if constexpr (form::returns_operation)
        return form::call(callable, which)(token);
    else if constexpr (form::returns_awaitable || !carries_failure<typename form::signature>)
        return form::call(callable, which);
    else
        return returned<typename form::result_type>::arguments(
            typename form::result_type(form::call(callable, which)));
}

template <typename Result>
using to_call = Result (*)(void* operation, attempt const& which);

// No function here has a callable's type in its signature: g++ warns of a coroutine in a header if a type in
// its signature has no linkage, such as the type of a lambda.

template <typename Executor, typename Result>
asio::awaitable<error_code, Executor> await_step(void* step, to_call<Result> call, attempt const& which) {
    if constexpr (std::is_void_v<Result>) {
        call(step, which);
    } else if constexpr (!awaitable_traits<Result>::is_awaitable) {
        co_return error_of(call(step, which));
    } else if constexpr (std::is_void_v<typename awaitable_traits<Result>::value_type>) {
        co_await call(step, which);
    } else {
        co_return error_of(co_await call(step, which));
    }
    co_return error_code();
}

/// Converts the operation's completion to the value of the awaitable.
template <typename Value>
Value to_returned(Value&& value) {
    return std::forward<Value>(value);
}
template <typename Value>
Value to_returned(std::tuple<std::exception_ptr, Value>&& completion) {
    detail::error_in(std::get<0>(completion));
    return std::get<1>(std::move(completion));
}
inline void to_returned(std::tuple<std::exception_ptr>&& completion) {
    detail::error_in(std::get<0>(completion));
}

/// Runs an attempt, after the step unless it is the first attempt.
template <typename Awaitable, typename Signature, typename StepResult, typename Result>
Awaitable await_stepped(void* operation, to_call<Result> call, void* step, to_call<StepResult> call_step,
                        attempt const& which, bool hears_all) {
    using executor_type = typename awaitable_traits<Awaitable>::executor_type;
    using value_type = typename awaitable_traits<Awaitable>::value_type;
    if (hears_all)
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    if (which.number != 1) {
        error_code const failure = co_await await_step<executor_type, StepResult>(step, call_step, which);
        if (failure)
            co_return failed_with<value_type, Signature>(failure);
    }
    if constexpr (std::is_void_v<Result>)
        call(operation, which);
    else if constexpr (!awaitable_traits<Result>::is_awaitable)
        co_return to_returned(call(operation, which));
    else if constexpr (std::is_void_v<typename awaitable_traits<Result>::value_type>)
        co_await call(operation, which);
    else if constexpr (std::is_void_v<value_type>)
        to_returned(co_await call(operation, which));
    else
        co_return to_returned(co_await call(operation, which));
}

/// The form of an operation with a step. If both are plain, it is plain; otherwise it returns an awaitable.
template <typename Operation, typename Step>
struct stepped_form : operation_form<Operation> {
    using inner = operation_form<Operation>;
    using step_form = operation_form<Step>;
    static constexpr bool is_plain = !is_asynchronous<inner> && !is_asynchronous<step_form>;

    static consteval auto call_result() {
        if constexpr (is_plain || inner::returns_awaitable)
            return std::type_identity<typename inner::result_type>();
        else
            return std::type_identity<
                asio::awaitable<typename awaited_value<typename inner::signature>::type>>();
    }
    using result_type = typename decltype(call_result())::type;

    // A coroutine begins after its call has returned, so the attempt object must live until then.
    static constexpr bool takes_attempt = !is_plain || inner::takes_attempt || step_form::takes_attempt;
    static constexpr bool takes_token = false;
    static constexpr bool returns_awaitable = !is_plain;
    static constexpr bool returns_operation = false;

    static constexpr bool has_awaited_value = [] {
        if constexpr (is_plain || inner::returns_awaitable)
            return true;
        else
            return std::is_same_v<
                typename completion<
                    typename awaited<typename awaitable_traits<result_type>::value_type>::signature>::arguments,
                typename completion<typename inner::signature>::arguments>;
    }();

    static constexpr bool has_executor = [] {
        if constexpr (step_form::returns_awaitable && returns_awaitable)
            return std::is_same_v<typename awaitable_traits<typename step_form::result_type>::executor_type,
                                  typename awaitable_traits<result_type>::executor_type>;
        else
            return true;
    }();

    static constexpr bool is_usable = inner::is_usable && step_form::is_usable && has_awaited_value &&
                                      has_executor && !(is_plain && (inner::may_block || step_form::may_block));

    static constexpr bool may_block = false;

    static consteval auto assert_usable() {
        inner::assert_usable();
        static_assert(
            !is_plain || (!inner::may_block && !step_form::may_block),
            "before_retry: inject goes around before_retry if operation and step are plain callables: "
            "inject(before_retry(operation, step), faults)");
        static_assert(
            step_form::is_usable,
            "before_retry: the step must be of a form that async_retry takes: callable, as an lvalue, "
            "with nothing, an attempt, a completion token, or the last two");
        static_assert(has_awaited_value,
                      "before_retry: an operation with an asynchronous step may complete with an "
                      "exception_ptr and at most one value");
        static_assert(has_executor, "before_retry: the step must be an awaitable of the same executor as the "
                                    "operation, or of any_io_executor for one that is no awaitable");
    }

    static result_type call(Operation& operation, Step& step, attempt const& which) {
        if constexpr (is_plain) {
            if (which.number != 1)
                if (error_code const failure = do_step(step, which); failure)
                    return failed_with<result_type, typename inner::signature>(failure);
            return inner::call(operation, which);
        } else {
            using executor_type = typename awaitable_traits<result_type>::executor_type;
            if constexpr (inner::returns_awaitable)
                if (which.number == 1)
                    return inner::call(operation, which);
            return await_stepped<result_type, typename inner::signature,
                                 decltype(call_to_await<executor_type, Step>(nullptr, which))>(
                &operation, &call_to_await<executor_type, Operation>, &step,
                &call_to_await<executor_type, Step>, which, !inner::returns_awaitable);
        }
    }

private:
    static error_code do_step(Step& step, attempt const& which) {
        using step_result = typename step_form::result_type;
        if constexpr (std::is_void_v<step_result>) {
            step_form::call(step, which);
            return {};
        } else {
            return detail::error_in(
                std::get<0>(returned<step_result>::arguments(step_result(step_form::call(step, which)))));
        }
    }
};

} // namespace asio_retry::detail
