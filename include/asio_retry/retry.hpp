#pragma once

#include <asio_retry/detail/blocking/blocking_retry.hpp>
#include <asio_retry/detail/blocking/thread_waits.hpp>
#include <asio_retry/detail/policy/policy_arguments.hpp>
#include <asio_retry/detail/policy/refuse.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_waits.hpp>

#include <type_traits>
#include <utility>
#include <version>

#ifdef __cpp_lib_jthread
#include <stop_token>
#endif

namespace asio_retry {

/// Makes attempts until one succeeds or the policy ends the operation; blocks the thread, needs no executor.
///
/// `operation`, called as an lvalue once per attempt, is a plain callable. It may have an `attempt` as its
/// parameter, and may stand inside `fail_if` or `with_report`. The result of a failed attempt is destroyed
/// before the wait. With a delay of zero the thread only yields.
///
/// Preconditions: the result of the operation is default-constructible. Throws std::invalid_argument if the
/// operation is an empty std::function or a null pointer. What operation and policy refer to outlives the call.
///
/// Returns the result of the last attempt, unchanged, by value. An operation that returns `error_code` or
/// `boost::system::result<T>` fails with an error in it. Any other fails by throwing, and the last exception is
/// thrown again.
///
/// Time limits cannot interrupt an attempt. A failure after its attempt_timeout counts as `timed_out`. After
/// the total_timeout or the deadline it also ends the operation. `attempt::deadline` is for the operation.
///
/// Errors: the last attempt's own, except in these cases:
/// - `timed_out`, as above;
/// - an exception from a callable of the policy; if errors are returned, the `error` that names it;
/// - the reason of a gate that refused, under `condition::refused`, if no earlier attempt left an error.
///
/// If an operation that returns errors throws, the code in the exception counts, or `error::operation_threw`.
/// Its own are thrown as `boost::system::system_error`. Thread safety: distinct calls are independent.
template <typename Operation, retry_waits Waits>
auto retry(Operation&& operation, retry_policy policy, Waits& waits) {
    using callable_type = std::decay_t<Operation>;
    using form = detail::operation_form<callable_type>;
    detail::assert_blocking<form>();
    if constexpr (form::is_usable && !detail::is_asynchronous<form>) {
        if constexpr (detail::may_be_empty<callable_type>)
            detail::refuse_if_empty("retry.operation", operation);
        callable_type callable(std::forward<Operation>(operation));
        return detail::blocking_retry<callable_type, Waits>(callable, std::move(policy), waits).run();
    }
}

/// Retries a plain callable as `retry(operation, policy, waits)` does, by the steady clock.
template <typename Operation>
auto retry(Operation&& operation, retry_policy policy) {
    detail::thread_waits waits;
    return retry(std::forward<Operation>(operation), std::move(policy), waits);
}

#ifdef __cpp_lib_jthread
/// Retries until a stop is requested of `token`, from any thread. Needs a library that has std::stop_token.
///
/// A wait then ends at once, and no further attempt begins, nor a first one if the stop was requested before.
/// Unless the running attempt succeeds, the operation ends with `operation_aborted`.
template <typename Operation>
auto retry(Operation&& operation, retry_policy policy, std::stop_token token) {
    detail::stoppable_waits waits(std::move(token));
    return retry(std::forward<Operation>(operation), std::move(policy), waits);
}
#endif

/// Explains in a compiler error that the policy is missing or stands elsewhere.
template <typename... Args>
    requires(detail::policy_place<retry_policy, Args...> != 1 || sizeof...(Args) < 2)
auto retry(Args&&...) {
    constexpr auto policy = detail::policy_place<retry_policy, Args...>;
    static_assert(policy != sizeof...(Args), "retry: the policy is missing: retry(operation, policy)");
    static_assert(policy != 0 || sizeof...(Args) == 0, "retry: the operation comes before the policy");
    static_assert(policy < 2 || policy == sizeof...(Args),
                  "retry: the operation comes first, and then the policy: it needs no executor");
}

/// Explains in a compiler error that an argument is an overloaded function.
ASIO_RETRY_REFUSES_OVERLOADED("retry: this function is overloaded")
void retry(...) ASIO_RETRY_REFUSED;

} // namespace asio_retry
