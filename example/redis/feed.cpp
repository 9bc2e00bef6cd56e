#include "feed.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <string_view>
#include <vector>

namespace feed {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;

namespace {

// The list and the word that there is more are one step.
constexpr char const* add_once = "if redis.call('SET', KEYS[2], '', 'NX', 'EX', ARGV[2]) then "
                                 "  redis.call('PUBLISH', KEYS[3], redis.call('RPUSH', KEYS[1], ARGV[1])) "
                                 "end "
                                 "return redis.call('LLEN', KEYS[1])";

constexpr char const* a_day = "86400"; // more than any operation goes on

std::string list_of(std::string const& name) {
    return '{' + name + '}';
}

std::string news_of(std::string const& name) {
    return '{' + name + "}:news";
}

asio::awaitable<fleet::redis_connection> connect(tcp::endpoint server) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio::use_awaitable);
    co_return fleet::redis_connection(std::move(socket));
}

asio::awaitable<void> ping_now_and_then(fleet::redis_connection& news, asio_retry::duration pause) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    std::vector<std::string> const ping{"PING"};
    for (;;) {
        timer.expires_after(pause);
        co_await timer.async_wait(asio::use_awaitable);
        co_await news.send(ping);
    }
}

/// Of a connection with a subscription every reply is a list, whose first word says what it is.
std::string_view kind_of(redisReply const& reply) {
    if (reply.type == REDIS_REPLY_ERROR)
        throw fleet::redis_error(std::string(reply.str, reply.len));
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements == 0 || reply.element[0]->type != REDIS_REPLY_STRING)
        throw std::runtime_error("no Redis talks like this to a subscriber");
    return {reply.element[0]->str, reply.element[0]->len};
}

bool may_be_over_soon(fleet::redis_error const& e) {
    return asio_retry::classify_redis(e.reply()).kind != asio_retry::failure_kind::permanent;
}

} // namespace

asio::awaitable<void> publisher::publish(std::string key, std::string message) {
    std::vector<std::string> const words{
        "EVAL",         add_once,           "3",  list_of(name_), list_of(name_) + ':' + key,
        news_of(name_), std::move(message), a_day};
    auto const on_a_connection = [&]() -> asio::awaitable<void> {
        if (!connection_ || !connection_->is_usable()) {
            connection_.reset();
            connection_.emplace(co_await connect(server_));
        }
        co_await connection_->command(words);
    };
    co_await asio_retry::async_retry(on_a_connection, policy_);
}

asio_retry::retry_policy lasting() {
    return asio_retry::retry_policy()
        .backoff(asio_retry::exponential(50ms).cap(5s))
        .unlimited_attempts()
        .setup_timeout(2s)
        .idle_timeout(3s)
        .reset_after(10s)
        .retry_if<fleet::redis_error>(may_be_over_soon);
}

subscriber::subscriber(tcp::endpoint server, std::string name, on_message handler,
                       asio_retry::retry_policy policy, long long next)
    : server_(server)
    , name_(std::move(name))
    , handler_(std::move(handler))
    , policy_(std::move(policy))
    , between_pings_(policy_.settings().idle_timeout.value_or(3s) / 3)
    , next_(next) {}

asio::awaitable<void> subscriber::run() {
    auto const one_connection = [this](asio_retry::attempt connection) { return hear(connection); };
    co_await asio_retry::async_retry(one_connection, policy_);
}

asio::awaitable<void> subscriber::hear(asio_retry::attempt connection) {
    // First the subscription and then the list: what comes between is announced, and not missed.
    fleet::redis_connection news = co_await connect(server_);
    std::vector<std::string> const subscribe{"SUBSCRIBE", news_of(name_)};
    co_await news.send(subscribe);
    fleet::redis_reply const confirmed = co_await news.receive();
    kind_of(*confirmed);
    fleet::redis_connection archive = co_await connect(server_);
    co_await catch_up(archive);
    connection.mark_healthy();
    on_subscribed();

    auto const listen = [&]() -> asio::awaitable<void> {
        for (;;) {
            fleet::redis_reply const reply = co_await news.receive();
            connection.progress(); // a message or the answer to a ping
            if (kind_of(*reply) == "message")
                co_await catch_up(archive);
        }
    };
    // Neither ends but by failing, which ends the other.
    co_await (listen() && ping_now_and_then(news, between_pings_));
}

asio::awaitable<void> subscriber::catch_up(fleet::redis_connection& archive) {
    std::vector<std::string> const words{"LRANGE", list_of(name_), std::to_string(next_), "-1"};
    fleet::redis_reply const missed = co_await archive.command(words);
    for (std::size_t i = 0; i != missed->elements; ++i) {
        redisReply const& message = *missed->element[i];
        handler_(next_++, std::string(message.str, message.len));
    }
}

} // namespace feed
