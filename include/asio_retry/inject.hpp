#pragma once

#include <asio_retry/attempt.hpp>
#include <asio_retry/detail/attempt/bound_operation.hpp>
#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/inject/injected_calls.hpp>
#include <asio_retry/detail/inject/injecting_form.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/fault_plan.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// An operation whose attempts have faults. Made by `inject`.
template <typename Operation>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] injected_operation
    : public wrapping_operation<Operation> {
public:
    /// For `inject`.
    injected_operation(Operation given_operation, std::shared_ptr<fault_plan> faults)
        : wrapping_operation<Operation>(std::move(given_operation))
        , faults_(std::move(faults)) {}

private:
    template <typename>
    friend struct operation_form;

    std::shared_ptr<fault_plan> faults_;
};

template <typename Operation>
struct operation_form<injected_operation<Operation>>
    : wrapping_form<Operation, injecting_form<operation_form<Operation>>> {
    template <typename... Token>
    static decltype(auto) call(injected_operation<Operation>& operation, attempt const& which,
                               Token&&... token) {
        return operation_form::inject(call_target<operation_form<Operation>, Operation>(operation.operation_),
                                      operation.faults_, which, std::forward<Token>(token)...);
    }
};

/// The form of an injected operation with the endpoint of one attempt.
template <typename Operation, typename Endpoint>
struct operation_form<bound_operation<injected_operation<Operation>, Endpoint>>
    : injecting_form<operation_form<bound_operation<Operation, Endpoint>>> {
    using target = bound_operation<Operation, Endpoint>;
    using inner = operation_form<target>;
    using bound = bound_operation<injected_operation<Operation>, Endpoint>;

    template <typename... Token>
    static decltype(auto) call(bound& operation, attempt const& which, Token&&... token) {
        injected_operation<Operation>& injected = operation.operation();
        return operation_form::inject(call_target<inner, target>(injected.operation_, operation.endpoint()),
                                      injected.faults_, which, std::forward<Token>(token)...);
    }
};

/// Whether the arguments are an operation and a plan.
template <typename... Args>
inline constexpr bool are_operation_and_plan = false;
template <typename Operation, typename Faults>
inline constexpr bool are_operation_and_plan<Operation, Faults> =
    std::is_convertible_v<Faults, std::shared_ptr<fault_plan>> &&
    !std::is_convertible_v<Operation, std::shared_ptr<fault_plan>>;

} // namespace asio_retry::detail

namespace asio_retry {

/// Makes a share of the operation's attempts fail, begin late or hang, while the plan is enabled.
///
///     async_retry(inject(operation, faults), policy)
///
/// `operation` is of any form that `async_retry`, `async_hedge` or `retry` takes, with or without an `attempt`.
/// `fail_if`, `with_hooks`, `with_report`, `before_retry` and `on_endpoint` go around `inject`, or inside. An
/// operation that takes an endpoint stands in both: `on_endpoint(inject(operation, faults), servers)`. A plain
/// callable with a plain step is `inject(before_retry(operation, step), faults)`. `retrying` repeats an
/// initiating function, and cannot be in it.
///
/// - An injected error completes the attempt without a call of the operation.
/// - A lost answer calls the operation, and makes its success an error.
/// - A delay begins the attempt later.
/// - A hang lasts until the attempt is cancelled, by a time limit too, or until `fault_plan::disable`.
///
/// To everything else an injected error is one of the operation: it is retried, counted and told to gates.
///
/// Lifetimes: the operation is moved or copied, and called as an lvalue. The plan lives at least as long as
/// the attempts.
///
/// Completion signature: that of the operation.
///
/// Executor: an attempt with a fault completes, or begins, on the executor of its handler, and never inside
/// the initiating function. Delays run by the `retry_scheduler` of the context where the operation waits, and
/// so in its `virtual_time`.
///
/// Per-operation cancellation: a delay and a hang end at once with `operation_aborted`, for all types. An
/// awaitable hears of the types that its coroutine lets pass, which is `terminal` unless it says otherwise.
///
/// In the blocking `retry` a delay or a hang blocks the thread. It ends at the attempt's deadline with
/// `timed_out`, when stopped with `operation_aborted`, or by `fault_plan::disable`.
///
/// Errors: an injected error is delivered like an error of the operation, as an error code or thrown. Throws
/// std::invalid_argument if the operation is an empty std::function or a null pointer, or the plan is null.
///
/// Thread safety: operations on any thread share a plan.
template <typename Operation, typename Faults>
    requires detail::are_operation_and_plan<Operation, Faults>
detail::wrapper<detail::injected_operation, Operation> inject(Operation&& operation, Faults&& faults) {
    detail::refuse_if_empty("inject.operation", operation);
    std::shared_ptr<fault_plan> plan(std::forward<Faults>(faults));
    if (!plan)
        detail::refuse("inject.faults", "null", "must be a fault_plan");
    return {std::forward<Operation>(operation), std::move(plan)};
}

/// Explains in a compiler error what is wrong with the arguments.
template <typename... Args>
    requires(!detail::are_operation_and_plan<Args...>)
auto inject(Args&&...) {
    static_assert(
        detail::are_operation_and_plan<Args...>,
        "inject: the operation comes first, and then a std::shared_ptr<fault_plan>: inject(operation, "
        "faults)");
}

/// Explains in a compiler error that an argument is an overloaded function.
ASIO_RETRY_REFUSES_OVERLOADED("inject: this function is overloaded")
void inject(...) ASIO_RETRY_REFUSED;

} // namespace asio_retry
