#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/coroutine_entry.hpp>
#include <asio_retry/detail/operation/awaited_retry.hpp>
#include <asio_retry/detail/operation/awaiting_token.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>

#include <exception>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The retry of an awaitable operation inside the coroutine that awaits it: there is nothing to spawn, and
/// nothing to allocate but the frame of the attempt.
template <typename Token, typename Callable, typename Source>
auto await_retry(Callable callable, retry_policy policy, Source source)
    -> asio::awaitable<typename awaiting_token<Token>::style::template yields<
                           typename completion<typename operation_form<Callable>::signature>::arguments>,
                       typename awaiting_token<Token>::executor_type> {
    using executor_type = typename awaiting_token<Token>::executor_type;
    using form = operation_form<Callable>;
    using value_type = typename awaitable_traits<typename form::result_type>::value_type;

    coroutine_entry<executor_type> entry;
    co_await entry.find();
    if (policy.settings().limits_attempts() && !runs_one_at_a_time(entry.executor())) {
        Token token;
        auto elsewhere = asio::async_initiate<Token, typename form::signature>(
            source.template initiation<typename form::signature>(), token, std::move(callable),
            std::move(policy));
        co_return co_await std::move(elsewhere);
    }

    awaited_retry<Callable, executor_type, decltype(source.awaited_executor())> retry(
        callable, std::move(policy), entry, source.awaited_executor());
    for (auto step = retry.start(); step != retry_step::complete;) {
        if (step == retry_step::wait) {
            co_await retry.async_wait();
            step = retry.on_wait_ended();
            continue;
        }
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
        while (!retry.is_settled())
            co_await retry.async_settle();
        step = retry.on_attempt_ended();
    }
    co_return awaiting_token<Token>::style::yield(retry.take_result());
}

} // namespace asio_retry::detail
