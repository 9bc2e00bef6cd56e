#pragma once

#include "observers.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdint>
#include <tuple>
#include <utility>

namespace asio_retry::bench {

namespace asio = boost::asio;
using boost::system::error_code;
using io_executor = asio::io_context::executor_type;

/// Fails some times, then succeeds: in effect I/O that is ready at once, and completes as a handler of its
/// own.
template <typename Executor, typename Observer = unobserved>
struct token_operation {
    Executor executor;
    unsigned failures;
    [[no_unique_address]] Observer observer;

    template <typename Token>
    auto operator()(Token&& token) {
        observer.attempt_begins(failures);
        error_code result;
        if (failures != 0) {
            --failures;
            result = asio::error::connection_refused;
        }
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, Executor const& on, error_code code, Observer const& who) {
                std::uint64_t const before = own_allocations;
                asio::post(on, asio::append(std::move(handler), code));
                who.posted(own_allocations - before);
            },
            token, executor, result, observer);
    }

    void waits_until(time_point due) const { observer.waits_until(due); }
};

/// The same as an awaitable that carries its error as a value.
template <typename Executor, typename Operation>
struct awaitable_operation {
    Operation operation;

    asio::awaitable<std::tuple<error_code>, Executor> operator()() {
        auto attempt = operation(asio::as_tuple(asio::deferred));
        auto [code] = co_await std::move(attempt);
        co_return std::tuple<error_code>(code);
    }

    void waits_until(time_point due) const { operation.waits_until(due); }
};

/// The same as an awaitable that throws.
template <typename Executor, typename Operation>
struct throwing_operation {
    Operation operation;

    asio::awaitable<void, Executor> operator()() {
        auto attempt = operation(asio::deferred);
        co_await std::move(attempt);
    }

    void waits_until(time_point due) const { operation.waits_until(due); }
};

} // namespace asio_retry::bench
