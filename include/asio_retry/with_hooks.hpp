#pragma once

#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/attempt/operation_hooks.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/retry_machine.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// An operation with hooks of its own. Made by `with_hooks`.
template <typename Operation, typename OnRetry, typename OnEnd>
class [[nodiscard("this starts nothing: give it to async_retry or retry")]] hooked_operation
    : public wrapping_operation<Operation> {
public:
    /// For `with_hooks`.
    hooked_operation(Operation given_operation, OnRetry on_retry, OnEnd on_end)
        : wrapping_operation<Operation>(std::move(given_operation))
        , hooks_(std::move(on_retry), std::move(on_end)) {}

private:
    friend struct operation_form<hooked_operation>;

    operation_hooks<OnRetry, OnEnd> hooks_;
};

} // namespace asio_retry::detail

namespace asio_retry {

/// Gives one operation hooks of its own, beside the policy's: for facts of a request, such as its id in the
/// log.
///
///     async_retry(with_hooks(operation, on_retry, on_end), policy)
///
/// - `on_retry(retry_event const&)` is called after the decision to retry and before the wait, only if a retry
///   follows.
/// - `on_end(retry_event const&)` or `on_end(stop_reason)` is called exactly once when the operation ends,
///   before its completion: with success (reason `succeeded`), without, or cancelled. It is not called if the
///   operation is destroyed without a completion, as with its context.
/// - nullptr is no hook. An operation that has a hook measures time.
///
/// `operation` is of any form that `async_retry` takes, and completes unchanged. The policy's `on_retry` is
/// called before this one, and its `on_success` or `on_give_up` before `on_end`. If an operation gets hooks
/// twice, the outer ones are called first. A report (`with_report`) is complete when `on_end` is called.
///
/// Preconditions and thread safety: as for `async_retry`. The hooks of one operation are never called at the
/// same time.
///
/// Lifetimes: operation and hooks are moved or copied, and called as lvalues. They are kept in the operation's
/// one block of memory. An operation that a coroutine awaits directly, and that is larger than six pointers
/// with its hooks, has its own block.
///
/// Executor: hooks run on the operation's executor, as the policy's do, and may cancel the operation.
///
/// Errors: throws std::invalid_argument if operation or hook is an empty std::function or a null function
/// pointer. After an exception of `on_retry` the operation ends as for `retry_policy::on_retry`, and `on_end`
/// is still called. An exception of `on_end` does not change the outcome; it is in the report
/// (`retry_report::hook_exceptions`).
template <typename Operation, typename OnRetry, typename OnEnd = std::nullptr_t>
detail::wrapper<detail::hooked_operation, Operation, OnRetry, OnEnd>
with_hooks(Operation&& operation, OnRetry&& on_retry, OnEnd&& on_end = nullptr) {
    static_assert(
        detail::is_hook_of_retry<std::decay_t<OnRetry>>,
        "with_hooks: the second argument is called before a retry: it must take a retry_event const&, "
        "or be nullptr");
    static_assert(detail::is_hook_of_end<std::decay_t<OnEnd>>,
                  "with_hooks: the third argument is called at the end: it must take a retry_event const& or a "
                  "stop_reason, or be nullptr");
    detail::refuse_if_empty("with_hooks.operation", operation);
    detail::refuse_if_empty("with_hooks.on_retry", on_retry);
    detail::refuse_if_empty("with_hooks.on_end", on_end);
    return {std::forward<Operation>(operation), std::forward<OnRetry>(on_retry), std::forward<OnEnd>(on_end)};
}

/// Explains in a compiler error that an argument is an overloaded function.
ASIO_RETRY_REFUSES_OVERLOADED("with_hooks: it takes an operation and two hooks, and no overloaded function")
void with_hooks(...) ASIO_RETRY_REFUSED;

template <typename Operation, typename OnRetry, typename OnEnd>
struct detail::operation_form<detail::hooked_operation<Operation, OnRetry, OnEnd>>
    : detail::wrapping_form<Operation> {
    static constexpr bool has_hooks = true;
    static constexpr bool prepares = true;

    static void prepare(hooked_operation<Operation, OnRetry, OnEnd>& operation, retry_machine& machine) {
        observation_at_exit const told(machine, operation.hooks_, true);
        detail::wrapping_form<Operation>::prepare(operation, machine);
    }
};

} // namespace asio_retry
