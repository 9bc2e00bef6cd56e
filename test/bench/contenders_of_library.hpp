#pragma once

#include "contenders_by_hand.hpp"
#include "flaky.hpp"
#include "plan.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#endif
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <tuple>
#include <utility>

namespace asio_retry::bench {

/// A coroutine that awaits what `Contender::call` returns, as in a program that has more to do.
template <typename Contender>
struct awaiting {
    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer)
        -> decltype(Contender::call(io, how, policy, observer)) {
        auto call = Contender::call(io, how, policy, observer);
        co_return co_await std::move(call);
    }
};

template <typename Contender, typename Executor = asio::any_io_executor>
using awaited_in_coroutine = spawned<awaiting<Contender>, Executor>;

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
        return async_retry(make_coroutine<awaitable_operation>(io, how, observer), policy,
                           asio::as_tuple(asio::use_awaitable));
    }
};

struct retry_awaitable_io : spawned<retry_awaitable_io, io_executor> {
    static constexpr char const* name = "async_retry: awaitable, io_context";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        return async_retry(make_coroutine<awaitable_operation, io_executor>(io, how, observer), policy,
                           asio::as_tuple(asio::use_awaitable_t<io_executor>()));
    }
};

struct retry_throwing_awaitable_any : spawned<retry_throwing_awaitable_any> {
    static constexpr char const* name = "async_retry: throwing awaitable";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        return async_retry(make_coroutine<throwing_operation>(io, how, observer), policy, asio::use_awaitable);
    }
};

// --- the README's first example: two time limits

template <typename Base>
struct on_strand : Base {
    static asio::any_io_executor executor(asio::io_context& io) { return asio::make_strand(io); }
};

struct retry_limited {
    static constexpr char const* name = "async_retry: awaitable, two time limits";
    using executor_type = asio::any_io_executor;

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        using namespace std::chrono_literals;
        static retry_policy const limited = policy.attempt_timeout(2s).total_timeout(30s);
        return async_retry(make_coroutine<awaitable_operation>(io, how, observer), limited,
                           asio::as_tuple(asio::use_awaitable));
    }
};

struct retry_limited_on_strand : on_strand<retry_limited> {
    static constexpr char const* name = "async_retry: awaitable, two time limits, on a strand";
};

/// An attempt, and a timer that would stop it.
template <bool CanBeStopped>
asio::awaitable<std::tuple<error_code>> attempt_beside_timer(asio::io_context& io, plan const& how,
                                                             asio::steady_timer& limit) {
    using namespace std::chrono_literals;
    asio::cancellation_signal stop;
    limit.expires_after(2s);
    limit.async_wait([&stop](error_code code) {
        if (!code)
            stop.emit(asio::cancellation_type::terminal);
    });
    auto attempt = make_coroutine<awaitable_operation>(io, how, unobserved());
    std::tuple<error_code> result;
    if constexpr (CanBeStopped) // a coroutine that is spawned, in a slot of its own
        result = co_await asio::co_spawn(limit.get_executor(), attempt(),
                                         asio::bind_cancellation_slot(stop.slot(), asio::use_awaitable));
    else
        result = co_await attempt();
    limit.cancel();
    co_return result;
}

template <bool CanBeStopped>
struct hand_beside_timer {
    using executor_type = asio::any_io_executor;
    using kept = asio::steady_timer;

    static auto call(asio::io_context& io, plan const& how, kept& limit) {
        return attempt_beside_timer<CanBeStopped>(io, how, limit);
    }
};

/// A timer made anew for each attempt, which it cannot stop.
struct hand_new_timer {
    static constexpr char const* name = "hand: awaitable operation, a new steady_timer";
    using executor_type = asio::any_io_executor;

    template <typename Observer>
    static asio::awaitable<std::tuple<error_code>> call(asio::io_context& io, plan const& how,
                                                        retry_policy const&, Observer) {
        asio::steady_timer limit(io);
        auto const result = co_await attempt_beside_timer<false>(io, how, limit);
        co_return result;
    }
};

/// This timer has nothing to stop.
struct hand_limited : hand_beside_timer<false> {
    static constexpr char const* name = "hand: awaitable operation, a kept steady_timer";
};

struct hand_limited_on_strand : on_strand<hand_limited> {
    static constexpr char const* name = "hand: awaitable operation, a kept steady_timer, on a strand";
};

struct hand_stopped : hand_beside_timer<true> {
    static constexpr char const* name = "hand: awaitable operation that a kept steady_timer can stop";
};

// --- the limits that Asio has itself

/// A timer for each attempt, made anew: the operator awaits both, and cancels the slower one.
struct hand_or_timer {
    static constexpr char const* name = "hand: awaitable operation || steady_timer";
    using executor_type = asio::any_io_executor;

    template <typename Observer>
    static asio::awaitable<std::tuple<error_code>> call(asio::io_context& io, plan const& how,
                                                        retry_policy const&, Observer observer) {
        using namespace std::chrono_literals;
        using namespace asio::experimental::awaitable_operators;
        auto attempt = make_coroutine<awaitable_operation>(io, how, observer);
        asio::steady_timer limit(io, 2s);
        auto const first = co_await (attempt() || limit.async_wait(asio::as_tuple(asio::use_awaitable)));
        co_return first.index() == 0 ? std::get<0>(first) : std::tuple<error_code>(asio::error::timed_out);
    }
};

#if __has_include(<boost/asio/cancel_after.hpp>)
/// With a timer that is kept: of itself it asks the operation for an executor.
struct hand_cancel_after {
    static constexpr char const* name = "hand: token operation with cancel_after, a kept steady_timer";
    using executor_type = asio::any_io_executor;
    using kept = asio::steady_timer;

    static auto call(asio::io_context& io, plan const& how, kept& limit) {
        using namespace std::chrono_literals;
        return make_operation(io, how,
                              unobserved())(asio::cancel_after(limit, 2s, asio::as_tuple(asio::use_awaitable)));
    }
};

struct hand_spawned_cancel_after {
    static constexpr char const* name =
        "hand: awaitable operation, spawned with cancel_after, a kept steady_timer";
    using executor_type = asio::any_io_executor;
    using kept = asio::steady_timer;

    static asio::awaitable<std::tuple<error_code>> call(asio::io_context& io, plan const& how, kept& limit) {
        using namespace std::chrono_literals;
        auto attempt = make_coroutine<awaitable_operation>(io, how, unobserved());
        co_return co_await asio::co_spawn(io, attempt(), asio::cancel_after(limit, 2s, asio::use_awaitable));
    }
};
using limits_of_asio = std::tuple<hand_or_timer, hand_cancel_after, hand_spawned_cancel_after>;
#else
using limits_of_asio = std::tuple<hand_or_timer>;
#endif

/// Beside `cancel_after`, which limits a token operation too.
struct retry_token_limited {
    static constexpr char const* name = "async_retry: token operation in a coroutine, two time limits";
    using executor_type = asio::any_io_executor;

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        using namespace std::chrono_literals;
        static retry_policy const limited = policy.attempt_timeout(2s).total_timeout(30s);
        return async_retry(make_operation(io, how, observer), limited, asio::as_tuple(asio::use_awaitable));
    }
};

// --- in a scope, as each connection of a server has one

struct retry_scoped {
    static constexpr char const* name = "async_retry: awaitable, in a scope";
    using executor_type = asio::any_io_executor;
    using kept = retry_scope;

    static auto call_with(asio::io_context& io, plan const& how, retry_policy const& policy, kept& scope) {
        return async_retry(scope, make_coroutine<awaitable_operation>(io, how, unobserved()), policy,
                           asio::as_tuple(asio::use_awaitable));
    }

    static auto call(asio::io_context& io, plan const& how, kept& scope) {
        static retry_policy const policy = how.policy();
        return call_with(io, how, policy, scope);
    }
};

struct retry_scoped_limited : retry_scoped {
    static constexpr char const* name = "async_retry: awaitable, two time limits, in a scope";

    static auto call(asio::io_context& io, plan const& how, kept& scope) {
        using namespace std::chrono_literals;
        static retry_policy const policy = how.policy().attempt_timeout(2s).total_timeout(30s);
        return call_with(io, how, policy, scope);
    }
};

// --- an attempt that awaits another coroutine

/// With the coroutine that retries these are three frames, of which Asio keeps two for each thread.
template <typename Operation>
struct nested_operation {
    Operation operation;

    asio::awaitable<std::tuple<error_code>> operator()() { co_return co_await operation(); }

    void waits_until(time_point due) const { operation.waits_until(due); }
};

struct retry_nested {
    static constexpr char const* name = "async_retry: awaitable that awaits another";
    using executor_type = asio::any_io_executor;

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer) {
        using operation = awaitable_operation<executor_type, token_operation<io_executor, Observer>>;
        return async_retry(nested_operation<operation>{{make_operation(io, how, observer)}}, policy,
                           asio::as_tuple(asio::use_awaitable));
    }
};

struct hand_nested {
    static constexpr char const* name = "hand: awaitable operation that awaits another, values";
    using executor_type = asio::any_io_executor;

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const&, Observer observer) {
        using operation = awaitable_operation<executor_type, token_operation<io_executor, Observer>>;
        return retry_values(nested_operation<operation>{{make_operation(io, how, observer)}}, how);
    }
};

} // namespace asio_retry::bench
