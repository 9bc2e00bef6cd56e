#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/attempt/stepped_form.hpp>
#include <asio_retry/detail/policy/refuse.hpp>

#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// An operation with a step before each of its retries. Made by `before_retry`.
template <typename Operation, typename Step>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] stepped_operation
    : public wrapping_operation<Operation> {
public:
    /// For `before_retry`.
    stepped_operation(Operation given_operation, Step step)
        : wrapping_operation<Operation>(std::move(given_operation))
        , step_(std::move(step)) {}

private:
    friend struct operation_form<stepped_operation>;

    Step step_;
};

} // namespace asio_retry::detail

namespace asio_retry {

/// Does `step` before each retry of the operation: renews a token, chooses another endpoint, closes a socket.
///
///     async_retry(before_retry(operation, step), policy)
///
/// The step is a part of the attempt that follows it. It comes after the wait, and both have the same limits
/// and the same cancellation. If the step fails, the attempt has failed with the step's error, and the
/// operation is not called. There is no step before the first attempt.
///
/// `operation` and `step` are each of any form that `async_retry` takes, with or without an `attempt`. A step
/// cannot be `fail_if`, `with_report` or `with_hooks`, and its value is not used. If both are plain callables,
/// the result is one too, and `retry` also takes it. Otherwise a coroutine awaits both. Then an operation that
/// takes a completion token and completes with an exception_ptr may have at most one value.
///
/// Lifetimes: both are moved or copied, and called as lvalues.
///
/// Completion signature: that of the operation.
///
/// Executor, per-operation cancellation and thread safety: as for an operation that returns an awaitable.
///
/// Errors: an error of the step is delivered like an error of the operation, as an error code or thrown. Throws
/// std::invalid_argument if operation or step is an empty std::function or a null pointer.
template <typename Operation, typename Step>
detail::wrapper<detail::stepped_operation, Operation, Step> before_retry(Operation&& operation, Step&& step) {
    detail::refuse_if_empty("before_retry.operation", operation);
    detail::refuse_if_empty("before_retry.step", step);
    return {std::forward<Operation>(operation), std::forward<Step>(step)};
}

/// Explains in a compiler error that an argument is an overloaded function.
ASIO_RETRY_REFUSES_OVERLOADED("before_retry: it takes an operation and a step, and no overloaded function")
void before_retry(...) ASIO_RETRY_REFUSED;

template <typename Operation, typename Step>
struct detail::operation_form<detail::stepped_operation<Operation, Step>>
    : detail::wrapping_form<Operation, detail::stepped_form<Operation, Step>> {
    using step = detail::operation_form<Step>;

    static_assert(
        !step::judges_results && !step::is_reported && !step::has_hooks,
        "before_retry: fail_if, with_report and with_hooks are for the operation and not for its step; "
        "a step reports a failure by an error");

    static auto call(stepped_operation<Operation, Step>& operation, attempt const& which) {
        return detail::stepped_form<Operation, Step>::call(operation.operation_, operation.step_, which);
    }
};

} // namespace asio_retry
