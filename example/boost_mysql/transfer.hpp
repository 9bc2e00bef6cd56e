#pragma once

#include "connection.hpp"

#include <asio_retry/async_retry.hpp>

inline asio_retry::retry_policy const patient =
    asio_retry::retry_policy()
        .backoff(asio_retry::exponential(50ms).cap(2s))
        .when([](auto code) { return code == mysql::common_server_errc::er_lock_deadlock; },
              asio_retry::constant(0ms))
        .unlimited_attempts()
        .attempt_timeout(3s)
        .total_timeout(60s)
        .retry_if(asio_retry::worth_retrying);

inline asio::awaitable<void> transfer(mysql::connection_pool& pool, mysql::connect_params const& server,
                                      std::string key, int from, int to, int amount,
                                      asio_retry::retry_policy policy = patient) {
    auto const transaction = [&](mysql::any_connection& db) -> asio::awaitable<void> {
        mysql::results r;
        co_await db.async_execute("START TRANSACTION", r);
        static constexpr auto insert = "INSERT INTO transfer VALUES ({}) "
                                       "ON DUPLICATE KEY UPDATE id = id";
        co_await db.async_execute(mysql::with_params(insert, key), r);
        if (r.affected_rows() != 0) { // else it is done: the answer to an attempt was lost
            static constexpr auto add = "UPDATE account SET balance = balance + {} WHERE id = {}";
            co_await db.async_execute(mysql::with_params(add, -amount, from), r);
            co_await db.async_execute(mysql::with_params(add, amount, to), r);
        }
        co_await db.async_execute("COMMIT", r);
    };
    auto const once = [&] { return with_connection(pool, transaction, server); };
    co_await asio_retry::async_retry(once, policy);
}
