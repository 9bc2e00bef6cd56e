#include "counter.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>

namespace counting {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// A script is done as a whole or not at all, in the file too.
constexpr char const* count_once = "if redis.call('SET', KEYS[2], '', 'NX', 'EX', ARGV[1]) then "
                                   "  redis.call('INCR', KEYS[1]) "
                                   "  return 1 "
                                   "end "
                                   "return 0";

constexpr char const* a_day = "86400"; // more than any operation goes on

bool may_be_over_soon(fleet::redis_error const& e) {
    return asio_retry::classify_redis(e.reply()).kind != asio_retry::failure_kind::permanent;
}

} // namespace

asio_retry::retry_policy patient() {
    return asio_retry::retry_policy()
        .backoff(asio_retry::exponential(10ms).cap(1s))
        .unlimited_attempts()
        .total_timeout(5min)
        .attempt_timeout(2s)
        .retry_if<fleet::redis_error>(may_be_over_soon);
}

asio::awaitable<receipt> counter::count(std::string key) {
    // Braces in a name: a cluster keeps both keys on the same node.
    std::vector<std::string> words{"EVAL", count_once, "2", '{' + name_ + '}', '{' + name_ + "}:" + key, a_day};
    long long const counted = co_await ask(std::move(words));
    co_return counted == 1 ? receipt::counted : receipt::found;
}

asio::awaitable<void> counter::count_without_key() {
    std::vector<std::string> words{"INCR", '{' + name_ + '}'};
    co_await ask(std::move(words));
}

asio::awaitable<long long> counter::ask(std::vector<std::string> words) {
    auto const on_a_connection = [&]() -> asio::awaitable<long long> {
        if (!connection_ || !connection_->is_usable()) {
            connection_.reset();
            asio::ip::tcp::socket socket(co_await asio::this_coro::executor);
            co_await socket.async_connect(server_, asio::use_awaitable);
            connection_.emplace(std::move(socket));
        }
        fleet::redis_reply const reply = co_await connection_->command(words);
        co_return reply->integer;
    };
    co_return co_await asio_retry::async_retry(on_a_connection, policy_);
}

} // namespace counting
