#pragma once

#include "client.hpp"

#include <asio_retry/fail_if.hpp>
#include <asio_retry/failure_class.hpp>

#include <string>

using namespace std::chrono_literals;
using number = redis::response<long long>;

// For `live`, an operation that never ends.
inline asio_retry::retry_policy const reconnecting = asio_retry::retry_policy()
                                                         .unlimited_attempts()
                                                         .backoff(asio_retry::exponential(20ms).cap(500ms))
                                                         .setup_timeout(2s)
                                                         .idle_timeout(2500ms)
                                                         .reset_after(10s)
                                                         .retry_if(asio_retry::any_failure);

// For a command. Without a key it also has retry_sent(false).
inline asio_retry::retry_policy const asking = asio_retry::retry_policy()
                                                   .backoff(asio_retry::exponential(10ms).cap(200ms))
                                                   .unlimited_attempts()
                                                   .attempt_timeout(2s)
                                                   .total_timeout(1min);

inline asio_retry::judgement judge(number const& replies) {
    auto const& reply = std::get<0>(replies);
    bool const is_error = reply.has_error(); // LOADING, or WRONGTYPE
    return {is_error,
            is_error ? asio_retry::classify_redis(reply.error().diagnostic) : asio_retry::failure_class(),
            {}};
}

// A script is done as a whole or not at all, in the file too. It remembers the key for a day.
inline constexpr char const* count_once = "if redis.call('SET', KEYS[2], '', 'NX', 'EX', 86400) then "
                                          "  redis.call('INCR', KEYS[1]) "
                                          "  return 1 "
                                          "end "
                                          "return 0";

// 1 if this has counted; 0 if an attempt before had, and its answer was lost.
inline asio::awaitable<long long> count(redis_client& client, redis::request const& command,
                                        asio_retry::retry_policy const& policy = asking) {
    auto const once = [&](asio_retry::attempt a) { return client.ask<number>(command, a); };
    number const replies = co_await asio_retry::async_retry(asio_retry::fail_if(once, judge), policy);
    co_return std::get<0>(replies).value(); // throws what the server has said, if it is an error
}
