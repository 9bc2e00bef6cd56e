#pragma once

#include <boost/asio.hpp>
#include <boost/mysql.hpp>

namespace asio = boost::asio;
namespace mysql = boost::mysql;
using namespace std::chrono_literals;

// Works with a connection of the pool, or says why there is none.
template <class Work>
asio::awaitable<void> with_connection(mysql::connection_pool& pool, Work const& work,
                                      mysql::connect_params const& server) {
    auto [ec, db] = co_await pool.async_get_connection(asio::cancel_after(1s, asio::as_tuple));
    if (ec) { // the pool does not say what is wrong, but the server does
        mysql::any_connection probe(co_await asio::this_coro::executor);
        co_await probe.async_connect(server);
        throw boost::system::system_error(ec);
    }
    try {
        co_await work(db.get());
    } catch (boost::system::system_error const& e) {
        if (e.code() == asio::error::operation_aborted) { // the answer may still come
            mysql::any_connection& cut = db.get();
            cut.async_close(asio::cancel_after(1s, [held = std::move(db)](auto) {}));
        }
        throw;
    }
}
