#pragma once

#include "exhaustion/trial.hpp"

#include <asio_retry/async_retry.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/steady_timer.hpp>

#include <vector>

namespace asio_retry::test {

inline retry_policy patient() {
    return retry_policy().backoff(constant(100ms)).jitter(no_jitter()).max_attempts(20);
}
inline retry_policy eager() {
    return retry_policy().backoff(constant(0ms)).jitter(no_jitter()).max_attempts(20);
}

/// A script that begins with `failures`.
inline script& failing(trial& t, std::size_t failures) {
    script& s = keep<script>(t);
    trial::with_memory([&] { s = script::failures(failures); });
    return s;
}

/// An operation `void(error_code, int)` that follows the script and posts its results. It calls its handler
/// right there: when Asio has to pass a handler on to an `any_io_executor` and has no memory for that, it loses
/// it.
inline auto posting(trial& t, script& s) {
    return [&t, &s](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, int)>(
            [&t, &s](auto handler) {
                error_code const ec = s.next();
                auto const allocator = asio::get_associated_allocator(handler);
                auto complete = [handler = std::move(handler), ec, n = int(s.attempts)]() mutable {
                    std::move(handler)(ec, n);
                };
                asio::post(t.io, asio::bind_allocator(allocator, std::move(complete)));
            },
            token);
    };
}

/// The same, completing inside its initiating function.
inline auto completing_inline(script& s) {
    return [&s](auto token) { return async_inline(s, std::move(token)); };
}

/// An operation that lasts until it is cancelled.
inline auto hanging(trial& t) {
    auto& timer = keep<asio::steady_timer>(t, t.io, asio::steady_timer::time_point::max());
    return [&timer](auto token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [&timer](auto handler) {
                auto const slot = asio::get_associated_cancellation_slot(handler);
                auto const allocator = asio::get_associated_allocator(handler);
                auto complete = [handler = std::move(handler)](error_code ec) mutable {
                    std::move(handler)(ec);
                };
                timer.async_wait(
                    asio::bind_cancellation_slot(slot, asio::bind_allocator(allocator, std::move(complete))));
            },
            token);
    };
}

std::vector<scenario> plain();
std::vector<scenario> forms();
std::vector<scenario> futures();
std::vector<scenario> limits();
std::vector<scenario> cancellations();
std::vector<scenario> scopes();
std::vector<scenario> coroutines();
std::vector<scenario> executors();
std::vector<scenario> tickers();
std::vector<scenario> hedges();
std::vector<scenario> faults();

} // namespace asio_retry::test
