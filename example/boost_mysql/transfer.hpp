#pragma once

#include <asio_retry/async_retry.hpp>

#include <boost/asio.hpp>
#include <boost/mysql.hpp>

namespace recipe {

namespace asio = boost::asio;
namespace mysql = boost::mysql;
using namespace std::chrono_literals;

inline asio::awaitable<mysql::pooled_connection> borrow(mysql::connection_pool& pool,
                                                        mysql::connect_params const& server) {
    auto [ec, db] = co_await pool.async_get_connection(asio::cancel_after(1s, asio::as_tuple));
    if (!ec)
        co_return std::move(db);
    mysql::any_connection probe(co_await asio::this_coro::executor);
    co_await probe.async_connect(server); // the pool does not say what is wrong: the server does
    throw boost::system::system_error(ec);
}

inline asio::awaitable<void> transact(mysql::any_connection& db, std::string key, int from, int to,
                                      int amount) {
    mysql::results r;
    co_await db.async_execute("START TRANSACTION", r);
    co_await db.async_execute(mysql::with_params("INSERT IGNORE INTO transfer VALUES ({})", key), r);
    constexpr char const* add = "UPDATE account SET balance = balance + {} WHERE id = {}";
    if (r.affected_rows() != 0) { // 0: an attempt before has done it, and its answer was lost
        co_await db.async_execute(mysql::with_params(add, -amount, from), r);
        co_await db.async_execute(mysql::with_params(add, amount, to), r);
    }
    co_await db.async_execute("COMMIT", r);
}

inline asio_retry::retry_policy patient() {
    auto const deadlock = [](boost::system::error_code const& ec) {
        return ec == mysql::common_server_errc::er_lock_deadlock;
    };
    return asio_retry::retry_policy()
        .backoff(asio_retry::exponential(50ms).cap(2s))
        .when(deadlock, asio_retry::constant(0ms)) // the server has undone it: again, at once
        .unlimited_attempts()
        .attempt_timeout(3s)
        .total_timeout(60s)
        .retry_if(asio_retry::worth_retrying);
}

inline asio::awaitable<void> transfer(mysql::connection_pool& pool, mysql::connect_params const& server,
                                      std::string key, int from, int to, int amount,
                                      asio_retry::retry_policy policy = patient()) {
    auto const attempt = [&]() -> asio::awaitable<void> {
        mysql::pooled_connection db = co_await borrow(pool, server);
        co_await transact(db.get(), key, from, to, amount);
    };
    co_await asio_retry::async_retry(attempt, policy);
}

} // namespace recipe
