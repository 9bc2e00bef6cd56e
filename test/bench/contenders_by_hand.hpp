#pragma once

#include "flaky.hpp"
#include "hand_written.hpp"
#include "plan.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>

#include <utility>

namespace asio_retry::bench {

template <typename Observer>
token_operation<io_executor, Observer> make_operation(asio::io_context& io, plan const& how,
                                                      Observer observer) {
    return {io.get_executor(), how.failures, observer};
}

/// The same as a coroutine. `Form` is awaitable_operation or throwing_operation.
template <template <typename, typename> typename Form, typename Executor = asio::any_io_executor,
          typename Observer>
auto make_coroutine(asio::io_context& io, plan const& how, Observer observer) {
    return Form<Executor, token_operation<io_executor, Observer>>{make_operation(io, how, observer)};
}

/// Begins, as a coroutine, what `Contender::call` returns.
template <typename Contender, typename Executor = asio::any_io_executor>
struct spawned {
    using executor_type = Executor;

    template <typename Observer, typename Handler>
    static void start(asio::io_context& io, plan const& how, retry_policy const& policy, Observer observer,
                      Handler handler) {
        asio::co_spawn(Executor(io.get_executor()), Contender::call(io, how, policy, observer),
                       std::move(handler));
    }
};

// --- loops over an operation that takes a token

struct hand_as_tuple : spawned<hand_as_tuple> {
    static constexpr bool writes_its_own_loop = true;
    static constexpr char const* name = "hand: awaitable, as_tuple";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const&, Observer observer) {
        return retry_values(make_operation(io, how, observer), how, asio::as_tuple(asio::use_awaitable));
    }
};

struct hand_exceptions : spawned<hand_exceptions> {
    static constexpr bool writes_its_own_loop = true;
    static constexpr char const* name = "hand: awaitable, exceptions";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const&, Observer observer) {
        return retry_exceptions(make_operation(io, how, observer), how, asio::use_awaitable);
    }
};

struct hand_callbacks {
    static constexpr bool writes_its_own_loop = true;
    static constexpr char const* name = "hand: callbacks";

    template <typename Observer, typename Handler>
    static auto start(asio::io_context& io, plan const& how, retry_policy const&, Observer observer,
                      Handler handler) {
        return retry_by_callback<token_operation<io_executor, Observer>, Handler>::start(
            io, make_operation(io, how, observer), how, std::move(handler));
    }
};

// --- loops over an operation that is a coroutine

struct hand_awaitable_values : spawned<hand_awaitable_values> {
    static constexpr bool writes_its_own_loop = true;
    static constexpr char const* name = "hand: awaitable operation, values";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const&, Observer observer) {
        return retry_values(make_coroutine<awaitable_operation>(io, how, observer), how);
    }
};

struct hand_awaitable_exceptions : spawned<hand_awaitable_exceptions> {
    static constexpr bool writes_its_own_loop = true;
    static constexpr char const* name = "hand: awaitable operation, exceptions";

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const&, Observer observer) {
        return retry_exceptions(make_coroutine<throwing_operation>(io, how, observer), how);
    }
};

// --- the operation itself, which nobody retries

template <typename Token>
struct bare_call {
    using executor_type = asio::any_io_executor;

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const&, Observer observer) {
        return make_operation(io, how, observer)(asio::as_tuple(Token()));
    }
};

struct bare_await : bare_call<asio::use_awaitable_t<>> {
    static constexpr char const* name = "bare operation: co_await";
};

struct bare_deferred : bare_call<asio::deferred_t> {
    static constexpr char const* name = "bare operation: co_await, deferred";
};

struct bare_callback {
    static constexpr char const* name = "bare operation: bound callback";

    template <typename Observer, typename Handler>
    static void start(asio::io_context& io, plan const& how, retry_policy const&, Observer observer,
                      Handler handler) {
        make_operation(io, how, observer)(asio::bind_executor(io.get_executor(), std::move(handler)));
    }
};

struct bare_awaitable {
    static constexpr char const* name = "bare operation: awaitable";
    using executor_type = asio::any_io_executor;

    // A coroutine of its own, for the awaitable refers to the operation.
    template <typename Observer>
    static asio::awaitable<std::tuple<error_code>> await(token_operation<io_executor, Observer> operation) {
        auto attempt = operation(asio::as_tuple(asio::deferred));
        auto [code] = co_await std::move(attempt);
        co_return std::tuple<error_code>(code);
    }

    template <typename Observer>
    static auto call(asio::io_context& io, plan const& how, retry_policy const&, Observer observer) {
        return await(make_operation(io, how, observer));
    }
};

} // namespace asio_retry::bench
