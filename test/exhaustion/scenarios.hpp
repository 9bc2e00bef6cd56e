#pragma once

#include "exhaustion/trial.hpp"

#include <asio_retry/async_retry.hpp>

#include <boost/asio/steady_timer.hpp>

#include <vector>

namespace asio_retry::test {

inline retry_policy patient() {
    return retry_policy().backoff(constant(100ms)).jitter(no_jitter());
}
inline retry_policy eager() {
    return retry_policy().backoff(constant(0ms)).jitter(no_jitter());
}

/// A script that begins with `failures`.
inline script& failing(trial& t, std::size_t failures) {
    script& s = keep<script>(t);
    trial::with_memory([&] { s = script::failures(failures); });
    return s;
}

/// An operation that follows the script and posts its results.
inline auto posting(trial& t, script& s) {
    return [&t, &s](auto token) { return async_scripted(t.io, s, std::move(token)); };
}

/// The same, completing inside its initiating function.
inline auto completing_inline(script& s) {
    return [&s](auto token) { return async_inline(s, std::move(token)); };
}

/// An operation that lasts until it is cancelled.
inline auto hanging(trial& t) {
    auto& timer = keep<asio::steady_timer>(t, t.io, asio::steady_timer::time_point::max());
    return [&timer](auto token) { return timer.async_wait(std::move(token)); };
}

std::vector<scenario> plain();
std::vector<scenario> forms();
std::vector<scenario> futures();
std::vector<scenario> limits();
std::vector<scenario> cancellations();
std::vector<scenario> scopes();
std::vector<scenario> coroutines();
std::vector<scenario> executors();

} // namespace asio_retry::test
