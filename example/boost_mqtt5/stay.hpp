#pragma once

#include "broker.hpp"

// For each process an id of its own is better. Where two may have the same one, neither keeps on for ever.
inline asio_retry::retry_policy const running =
    asio_retry::retry_policy()
        .backoff(asio_retry::exponential(std::chrono::seconds(1)).cap(std::chrono::minutes(1)))
        .max_attempts(10)
        .reset_after(std::chrono::minutes(1)) // a client that has run for a minute
        .retry_if<refusal>([](refusal const& e) { return e.code == mqtt5::reason_codes::session_taken_over; });

inline asio::awaitable<void> stay(broker& who, std::function<asio::awaitable<void>()> work,
                                  asio_retry::retry_policy policy = running) {
    auto const once = [=, &who](asio_retry::attempt client) -> asio::awaitable<void> {
        who.run();
        client.mark_healthy(); // its minute begins
        co_await work();
    };
    co_await asio_retry::async_retry(once, policy);
}
