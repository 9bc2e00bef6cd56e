#pragma once

#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/ticker/pause_wait.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace asio_retry {
namespace detail {

template <typename Executor>
struct pause_initiation {
    using executor_type = Executor;
    Executor executor;
    duration length;

    executor_type get_executor() const noexcept { return executor; }

    template <typename Handler>
    void operator()(Handler&& handler) const {
        using handler_type = std::decay_t<Handler>;
        pause_operation<Executor, handler_type>::initiate(handler_type(std::forward<Handler>(handler)),
                                                          executor, length);
    }
};

/// The executor's own default token, if it has one; otherwise `deferred`.
template <typename Executor>
using default_pause_token =
    std::conditional_t<std::is_void_v<typename asio::default_completion_token<Executor>::type>,
                       asio::deferred_t, typename asio::default_completion_token<Executor>::type>;

} // namespace detail

/// Waits for `length` on the scheduler of the executor's context.
///
///     co_await async_pause(executor, 50ms);
///
/// So a `virtual_time` drives it, unlike an `asio::steady_timer`: use it in the fakes of tests.
///
/// It completes when the time has come, by the clock and with the `slack` of the `retry_scheduler`. With a
/// length of zero or less it completes at once, but never inside the initiating function. A length that no
/// clock can reach, such as duration::max(), never ends by itself.
///
/// Lifetimes: the context outlives the wait. If you destroy the context, the handler is destroyed without a
/// call.
///
/// Completion signature: void(error_code). The default token is that of the executor, or else `deferred`.
///
/// Executor: that of the handler, or else `executor`.
///
/// Per-operation cancellation: all types; the wait then completes with `operation_aborted`.
///
/// Errors: throws std::invalid_argument if `executor` is empty.
///
/// Thread safety: waits are independent. On an executor of several threads, the handler of a wait that may be
/// cancelled has a strand as its executor.
template <detail::executor Executor, typename Token = detail::default_pause_token<Executor>>
auto async_pause(Executor const& executor, saturating_duration length, Token&& token = Token()) {
    detail::refuse_if_empty_executor("async_pause.executor", executor);
    return boost::asio::async_initiate<Token, void(error_code)>(
        detail::pause_initiation<Executor>{executor, length}, token);
}

/// Waits for `length` on the executor of `context`.
template <std::derived_from<boost::asio::execution_context> Context,
          typename Token = detail::default_pause_token<typename Context::executor_type>>
auto async_pause(Context& context, saturating_duration length, Token&& token = Token()) {
    return async_pause(context.get_executor(), length, std::forward<Token>(token));
}

} // namespace asio_retry
