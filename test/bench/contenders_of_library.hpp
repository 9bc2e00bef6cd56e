#pragma once

#include "contenders_by_hand.hpp"
#include "flaky.hpp"
#include "plan.hpp"

#include <asio_retry/async_retry.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace asio_retry::bench {

/// A coroutine that awaits what `Contender::call` returns, as in a program that has more to do.
template <typename Contender, typename Observer>
auto await_call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer)
    -> decltype(Contender::call(io, how, policy, observer)) {
    auto call = Contender::call(io, how, policy, observer);
    co_return co_await std::move(call);
}

/// Begins such a coroutine.
template <typename Contender, typename Executor = asio::any_io_executor>
struct awaited_in_coroutine {
    using executor_type = Executor;

    template <typename Observer, typename Handler>
    static void start(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer,
                      Handler handler) {
        asio::co_spawn(Executor(io.get_executor()), await_call<Contender>(io, how, policy, observer),
                       std::move(handler));
    }
};

struct retry_callback_io {
    static constexpr char const* name = "async_retry: callback, io_context";

    template <typename Observer, typename Handler>
    static void start(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer,
                      Handler handler) {
        async_retry(io.get_executor(), make_operation(io, how, observer), policy, std::move(handler));
    }
};

struct retry_callback_any {
    static constexpr char const* name = "async_retry: callback, any_io_executor";

    template <typename Observer, typename Handler>
    static void start(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer,
                      Handler handler) {
        asio::any_io_executor const executor = io.get_executor();
        async_retry(executor,
                    token_operation<asio::any_io_executor, Observer>{executor, how.failures, observer}, policy,
                    std::move(handler));
    }
};

struct retry_token_in_coroutine : awaited_in_coroutine<retry_token_in_coroutine> {
    static constexpr char const* name = "async_retry: token operation in a coroutine";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        return async_retry(make_operation(io, how, observer), policy, asio::as_tuple(asio::use_awaitable));
    }
};

/// Without the coroutine of its own that use_awaitable makes; only for coroutines that call.
struct retry_token_deferred {
    static constexpr char const* name = "async_retry: token operation in a coroutine, deferred";
    using executor_type = asio::any_io_executor;

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        return async_retry(make_operation(io, how, observer), policy, asio::as_tuple(asio::deferred));
    }
};

struct retry_awaitable_any : spawned<retry_awaitable_any> {
    static constexpr char const* name = "async_retry: awaitable, any_io_executor";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        using operation = token_operation<io_executor, Observer>;
        return async_retry(
            awaitable_operation<asio::any_io_executor, operation>{make_operation(io, how, observer)}, policy,
            asio::as_tuple(asio::use_awaitable));
    }
};

struct retry_awaitable_io : spawned<retry_awaitable_io, io_executor> {
    static constexpr char const* name = "async_retry: awaitable, io_context";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        using operation = token_operation<io_executor, Observer>;
        return async_retry(awaitable_operation<io_executor, operation>{make_operation(io, how, observer)},
                           policy, asio::as_tuple(asio::use_awaitable_t<io_executor>()));
    }
};

struct retry_throwing_awaitable_any : spawned<retry_throwing_awaitable_any> {
    static constexpr char const* name = "async_retry: throwing awaitable";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        using operation = token_operation<io_executor, Observer>;
        return async_retry(
            throwing_operation<asio::any_io_executor, operation>{make_operation(io, how, observer)}, policy,
            asio::use_awaitable);
    }
};

} // namespace asio_retry::bench
