#pragma once

#include <asio_retry/async_retry.hpp>
#include <boost/mysql.hpp>

namespace asio = boost::asio;
namespace mysql = boost::mysql;
using namespace std::chrono_literals;

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
    auto const transaction = [&]() -> asio::awaitable<void> {
        auto [ec, db] = co_await pool.async_get_connection(asio::cancel_after(1s, asio::as_tuple));
        if (ec) { // the pool does not say what is wrong, but the server does
            mysql::any_connection probe(co_await asio::this_coro::executor);
            co_await probe.async_connect(server);
            throw boost::system::system_error(ec);
        }
        mysql::results r;
        co_await db->async_execute("START TRANSACTION", r);
        constexpr auto insert = "INSERT INTO transfer VALUES ({}) ON DUPLICATE KEY UPDATE id = id";
        co_await db->async_execute(mysql::with_params(insert, key), r);
        if (r.affected_rows() != 0) { // else it is done: the answer to an attempt was lost
            constexpr auto add = "UPDATE account SET balance = balance + {} WHERE id = {}";
            co_await db->async_execute(mysql::with_params(add, -amount, from), r);
            co_await db->async_execute(mysql::with_params(add, amount, to), r);
        }
        co_await db->async_execute("COMMIT", r);
    };
    co_await asio_retry::async_retry(transaction, policy);
}
