#pragma once

// The loops that people write today, each with a timer of its own.

#include "flaky.hpp"
#include "plan.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace asio_retry::bench {

/// Errors as values. `token` is that of the operation; an awaitable operation has none.
template <typename Operation, typename... Token>
asio::awaitable<error_code> retry_values(Operation operation, plan how, Token... token) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (unsigned failure = 1;; ++failure) {
        auto [code] = co_await operation(token...);
        if (!code || failure > how.failures)
            co_return code;
        timer.expires_after(how.delay(failure, generator()));
        operation.waits_until(timer.expiry());
        auto [cancelled] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        if (cancelled)
            co_return cancelled;
    }
}

/// Errors as exceptions.
template <typename Operation, typename... Token>
asio::awaitable<void> retry_exceptions(Operation operation, plan how, Token... token) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (unsigned failure = 1;; ++failure) {
        try {
            co_await operation(token...);
            co_return;
        } catch (boost::system::system_error const&) {
            if (failure > how.failures)
                throw;
        }
        timer.expires_after(how.delay(failure, generator()));
        operation.waits_until(timer.expiry());
        co_await timer.async_wait(asio::use_awaitable);
    }
}

/// A state machine of callbacks.
template <typename Operation, typename Handler>
class retry_by_callback {
public:
    static retry_by_callback* start(asio::io_context& io, Operation operation, plan how, Handler handler) {
        auto* const self = new retry_by_callback(io, std::move(operation), how, std::move(handler));
        self->attempt();
        return self;
    }

    void cancel() { timer_.cancel(); }

private:
    retry_by_callback(asio::io_context& io, Operation operation, plan how, Handler handler)
        : operation_(std::move(operation))
        , how_(how)
        , handler_(std::move(handler))
        , timer_(io) {}

    void attempt() {
        operation_([this](error_code code) {
            if (!code || ++failures_ > how_.failures)
                return finish(code);
            timer_.expires_after(how_.delay(failures_, generator()));
            operation_.waits_until(timer_.expiry());
            timer_.async_wait([this](error_code cancelled) {
                if (cancelled)
                    return finish(cancelled);
                attempt();
            });
        });
    }

    void finish(error_code code) {
        Handler handler(std::move(handler_));
        delete this;
        handler(code);
    }

    Operation operation_;
    plan how_;
    unsigned failures_ = 0;
    Handler handler_;
    asio::steady_timer timer_;
};

} // namespace asio_retry::bench
