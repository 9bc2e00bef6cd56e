#pragma once

#include <asio_retry/detail/blocking/blocking_retry.hpp>
#include <asio_retry/detail/blocking/thread_waits.hpp>
#include <asio_retry/detail/policy/empty_function.hpp>
#include <asio_retry/detail/policy/policy_place.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/retry_waits.hpp>

#include <type_traits>
#include <utility>
#include <version>

#ifdef __cpp_lib_jthread
#include <stop_token>
#endif

namespace asio_retry {

/// Tries an operation until it succeeds or until the policy says that trying again would be wrong, and blocks
/// the thread meanwhile. It needs no executor.
///
/// `operation`, called as an lvalue once per attempt, is a plain callable, with an `attempt` as its parameter
/// if it likes, or one inside `fail_if` or `with_report`. The result of a failed attempt is destroyed before
/// the wait. A delay of zero is no wait; the thread only yields.
///
/// Preconditions: what the operation returns is default-constructible. An empty operation, as a std::function
/// or a pointer may be, is refused with std::invalid_argument.
///
/// Lifetimes: operation and policy are moved or copied. What they refer to must live until this returns.
///
/// Returns what the last attempt did, unchanged, by value: an operation that returns `error_code` or
/// `boost::system::result<T>` fails with an error in it, any other by throwing, and what the last attempt threw
/// is thrown again.
///
/// Time limits cannot interrupt an attempt. One that fails when its attempt_timeout has passed counts as failed
/// with `timed_out`; one that fails when the total_timeout or the deadline has passed ends the operation with
/// `timed_out`. An operation that takes an `attempt` finds in `attempt::deadline` when all must be over, and
/// may limit itself.
///
/// Errors: `timed_out`, as above; what a callable of the policy throws, which becomes an `asio_retry::error`
/// where an error is returned; the reason of a gate of the policy, under `condition::refused`, where it let no
/// attempt begin and there is no error of an earlier one; otherwise the last attempt's own. An exception thrown
/// by an operation that returns its errors counts as the code in it, or `error::operation_threw`. Where errors
/// are thrown, the library's own are a `boost::system::system_error`.
///
/// Thread safety: distinct calls are independent.
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

/// The same by the steady clock.
template <typename Operation>
auto retry(Operation&& operation, retry_policy policy) {
    detail::thread_waits waits;
    return retry(std::forward<Operation>(operation), std::move(policy), waits);
}

#ifdef __cpp_lib_jthread
/// Where the standard library has std::stop_token: the same until `token` is told to stop, from any thread: a
/// wait then ends at once, and no further attempt is made, nor a first one where it was told so before. Unless
/// the attempt that runs succeeds, the operation ends with `operation_aborted`.
template <typename Operation>
auto retry(Operation&& operation, retry_policy policy, std::stop_token token) {
    detail::stoppable_waits waits(std::move(token));
    return retry(std::forward<Operation>(operation), std::move(policy), waits);
}
#endif

/// For what has no policy behind its operation: says what is wrong.
template <typename... Args>
    requires(detail::policy_place<retry_policy, Args...> != 1 || sizeof...(Args) < 2)
auto retry(Args&&...) {
    constexpr auto policy = detail::policy_place<retry_policy, Args...>;
    static_assert(policy != sizeof...(Args), "retry: there is no policy: retry(operation, policy)");
    static_assert(policy != 0 || sizeof...(Args) == 0, "retry: the operation comes before the policy");
    static_assert(policy < 2 || policy == sizeof...(Args),
                  "retry: the operation comes first, and then the policy: it needs no executor");
}

} // namespace asio_retry
