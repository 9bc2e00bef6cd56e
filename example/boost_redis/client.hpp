#pragma once

#include <asio_retry/async_retry.hpp>
#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/redis/connection.hpp>

namespace asio = boost::asio;
namespace redis = boost::redis;
struct redis_client {
    asio::any_io_executor strand;
    redis::config server;
    std::shared_ptr<redis::connection> now = std::make_shared<redis::connection>(strand);
    asio::awaitable<void> live(asio_retry::attempt a) { // a connection, until it is lost
        using namespace asio::experimental::awaitable_operators;
        server.health_check_interval = server.reconnect_wait_interval = {}; // `watch` and the policy do both
        now->cancel();                                                      // commands that wait there fail
        now = std::make_shared<redis::connection>(strand);
        try {
            co_await (now->async_run(server, {redis::logger::level::err}, asio::use_awaitable) && watch(a));
        } catch (asio::multiple_exceptions const& both) { // the first is that of async_run
            auto const why = both.first_exception();
            if (asio_retry::verdict::failure(why).error() != asio::error::operation_aborted) // by `watch`
                std::rethrow_exception(why);
            throw;
        }
    }
    asio::awaitable<void> watch(asio_retry::attempt a) {
        redis::request ping;
        ping.push("PING");
        for (asio::steady_timer timer(strand);; co_await timer.async_wait(asio::use_awaitable)) {
            co_await ask<redis::response<std::string>>(ping, {});
            a.mark_healthy(); // by any answer; later ones are signs of life
            timer.expires_after(std::chrono::seconds(1));
        }
    }
    template <class Reply> // redis::response<long long>, for instance
    asio::awaitable<Reply> ask(redis::request const& command, asio_retry::attempt a) {
        Reply reply;
        auto const mine = now;
        auto const sent = mine->get_usage().commands_sent;
        auto const [lost, n] = co_await mine->async_exec(command, reply, asio::as_tuple(asio::use_awaitable));
        if (mine->get_usage().commands_sent != sent)
            a.mark_sent();
        if (lost) // which it calls operation_aborted
            throw boost::system::system_error(asio::error::connection_reset);
        co_return reply;
    }
};
