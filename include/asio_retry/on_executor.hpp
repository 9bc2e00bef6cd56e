#pragma once

#include <asio_retry/detail/attempt/operation_form.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/detail/pool/pool_operation.hpp>

#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace asio_retry {
namespace detail {

/// Whether the first argument is an executor or a context that lives on, and one more follows.
template <typename... Args>
inline constexpr bool are_pool_and_function = false;
template <typename Pool, typename F>
inline constexpr bool are_pool_and_function<Pool, F> =
    executor<Pool> || (std::is_lvalue_reference_v<Pool> &&
                       std::derived_from<std::remove_reference_t<Pool>, boost::asio::execution_context>);

template <typename Pool>
auto executor_to_run_on(Pool& pool) {
    if constexpr (executor<Pool>)
        return pool;
    else
        return pool.get_executor();
}

} // namespace detail

/// Runs a function that blocks on another executor, and completes on the operation's own.
///
///     asio::thread_pool blocking(4); // outlives its work
///     auto ask = on_executor(blocking, [] { return blocking_query("a name"); });
///     row const r = co_await async_retry(ask, policy);
///
/// `pool` is an executor or an execution context, mostly a `thread_pool` with as many threads as may block at a
/// time. `f` takes nothing or an `attempt`, and inside `on_endpoint` also the endpoint behind it, of which it
/// gets a copy. It returns a value, nothing, an error_code or a `boost::system::result`, or throws, as any
/// plain callable does. `fail_if`, `before_retry`, `with_hooks`, `with_report`, `inject` and `on_endpoint` go
/// around it. `retry` does not take it, because it blocks its own thread.
///
/// - **Executors.** `f` runs on `pool`. Everything else runs on the operation's executor: predicates, hooks,
///   the completion. That executor has work while `f` runs.
/// - **Limits and cancellation.** An attempt that still waits in the queue of the pool ends at once, and `f` is
///   not called. Nothing interrupts `f` itself: the attempt ends when `f` has returned. A success counts then,
///   and a failure after a limit is `timed_out`. With `deliver_at_once` the operation ends at once, and what
///   `f` returns later is destroyed.
/// - **The attempt** that `f` takes is a copy. `heed` and `mark_healthy` reach the operation when `f` has
///   returned, so `setup_timeout` cannot wait for them, and `progress` has no effect. An attempt counts as sent
///   from its beginning.
/// - **The end of the pool.** If a pool is stopped or destroyed before it has called `f`, the attempt ends with
///   `operation_aborted` when the pool is destroyed. The destructor of a `thread_pool` waits for each `f` that
///   runs. If a pool is stopped and kept, the attempt waits.
/// - **The end of the operation's context.** The handler is destroyed without a call. An `f` in the queue of
///   the pool is not called. An `f` that runs goes on until it has returned; what it returns is destroyed on
///   its thread.
///
/// Preconditions: those of `async_retry`. The handler's executor has a context. A hedge, and an attempt that
/// `deliver_at_once` has left behind, let `f` run on several threads at once. Parameters of `f` are not
/// generic.
///
/// Lifetimes: `pool` is copied if it is an executor; its context outlives the operation. `f` is moved or
/// copied, and lives until its last call has returned, also beyond the operation. All that it refers to lives
/// as long. A copy of the result has a copy of `f`.
///
/// Completion signature: that of a plain callable: void(std::exception_ptr[, T]), or void(error_code[, T]) if
/// `f` returns an error_code or a result.
///
/// Per-operation cancellation: all types, of an attempt that waits in the queue of the pool.
///
/// Errors: throws std::invalid_argument if `pool` or `f` is empty. If the pool takes no function, what its
/// executor throws is the failure of the attempt.
///
/// Thread safety: distinct operations are independent. Several may use one pool.
template <typename Pool, typename F>
    requires detail::are_pool_and_function<Pool, F>
auto on_executor(Pool&& pool, F&& f) {
    using function = std::decay_t<F>;
    static_assert(std::is_class_v<function> || std::is_pointer_v<function> ||
                      std::is_member_pointer_v<function>,
                  "on_executor: the second argument must be a function");
    auto const executor = detail::executor_to_run_on(pool);
    detail::refuse_if_empty_executor("on_executor.pool", executor);
    detail::refuse_if_empty("on_executor.f", f);
    using operation = detail::wrapper<detail::pool_operation, decltype(executor)&, F>;
    return operation(executor, detail::kept<F>(std::forward<F>(f)));
}

/// Explains in a compiler error what is wrong with the arguments.
template <typename... Args>
    requires(!detail::are_pool_and_function<Args...>)
auto on_executor(Args&&...) {
    static_assert(
        detail::are_pool_and_function<Args...>,
        "on_executor: an executor or a context that is a variable comes first, and then the function: "
        "on_executor(pool, f)");
}

} // namespace asio_retry
