#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/operation/awaited_retry.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The retry of an awaitable operation inside the coroutine that awaits it. Where nobody can cancel that
/// coroutine each attempt is awaited directly, so there is nothing to allocate and nothing to spawn.
template <typename Style, typename Callable, typename WaitsOn>
auto await_retry(Callable callable, retry_policy policy, WaitsOn waits_on) -> asio::awaitable<
    typename Style::template yields<
        typename completion<typename operation_form<Callable>::signature>::arguments>,
    typename awaitable_traits<typename operation_form<Callable>::result_type>::executor_type> {
    using traits = awaitable_traits<typename operation_form<Callable>::result_type>;
    using value_type = typename traits::value_type;

    auto executor = co_await asio::this_coro::executor;
    auto state = co_await asio::this_coro::cancellation_state;
    bool throws_if_cancelled = false;
    awaited_retry<Callable, typename traits::executor_type, WaitsOn> retry(
        callable, std::move(policy), std::move(executor), waits_on, state);
    // What is to be done about a cancellation is for the machine to say.
    if (retry.can_be_cancelled()) {
        throws_if_cancelled = co_await asio::this_coro::throw_if_cancelled();
        co_await asio::this_coro::throw_if_cancelled(false);
    }

    for (auto step = retry.start(); step != retry_step::complete;) {
        if (step == retry_step::wait) {
            co_await retry.async_wait();
            step = retry.on_wait_ended();
            continue;
        }
        if (retry.can_be_cancelled()) {
            co_await retry.async_attempt();
        } else {
            try {
                if constexpr (std::is_void_v<value_type>) {
                    co_await retry.call();
                    retry.on_result();
                } else {
                    retry.on_result(co_await retry.call());
                }
            } catch (...) {
                retry.on_exception(std::current_exception());
            }
            if (retry.is_astray())
                co_await retry.async_return();
        }
        step = retry.on_attempt_ended();
    }
    if (retry.can_be_cancelled())
        co_await asio::this_coro::throw_if_cancelled(throws_if_cancelled);
    co_return Style::yield(retry.take_result());
}

} // namespace asio_retry::detail
