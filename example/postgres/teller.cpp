#include "teller.hpp"

#include "sqlstate.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>

#include <chrono>
#include <vector>

namespace postgres {

namespace asio = boost::asio;
using asio_retry::retry_policy;
using namespace std::chrono_literals;

namespace {

// Braces with a co_await around them are too much for g++ 12.
std::vector<std::string> arguments(std::string key, std::int64_t amount) {
    return {std::move(key), std::to_string(amount)};
}

std::vector<std::string> arguments(int account, std::int64_t amount) {
    return {std::to_string(account), std::to_string(amount)};
}

} // namespace

teller_policies patient() {
    return {.conflicts =
                retry_policy()
                    .backoff(asio_retry::exponential(1ms).cap(50ms))
                    .max_attempts(30)
                    .retry_if([](boost::system::error_code const& ec) { return ec == sql_condition::conflict; })
                    .retry_when_nested(),
            .outages = retry_policy()
                           .backoff(asio_retry::exponential(100ms).cap(2s))
                           .unlimited_attempts()
                           .total_timeout(5min)
                           .attempt_timeout(20s)
                           .retry_if(asio_retry::worth_retrying)};
}

asio::awaitable<receipt> teller::carry_out(transfer what) {
    auto const on_a_connection = [&](asio_retry::attempt attempt) -> asio::awaitable<receipt> {
        auto const transaction = [&] { return transact(what); };
        co_return co_await asio_retry::async_retry(attempt, transaction, policies_.conflicts);
    };
    co_return co_await asio_retry::async_retry(on_a_connection, policies_.outages);
}

asio::awaitable<receipt> teller::transact(transfer const& what) {
    if (!connection_.is_usable()) // a conflict ends it too, where the server has called it FATAL
        co_await connection_.open(where_);
    if (connection_.is_in_transaction()) // that of the attempt before, which failed
        co_await connection_.query("ROLLBACK");
    co_await connection_.query("BEGIN ISOLATION LEVEL SERIALIZABLE");

    // The connection may have been lost during the COMMIT of an attempt before, whose outcome nobody knows
    // then. The key knows: it is there if the transaction was committed.
    std::vector<std::string> const entry = arguments(what.key, what.amount);
    answer const written =
        co_await connection_.query("INSERT INTO transfer VALUES ($1, $2) ON CONFLICT DO NOTHING", entry);
    if (written.affected == 0) {
        co_await connection_.query("ROLLBACK");
        co_return receipt::found;
    }
    std::vector<std::string> const taken = arguments(what.from, -what.amount);
    std::vector<std::string> const given = arguments(what.to, what.amount);
    co_await connection_.query("UPDATE account SET balance = balance + $2 WHERE id = $1", taken);
    co_await connection_.query("UPDATE account SET balance = balance + $2 WHERE id = $1", given);
    co_await connection_.query("COMMIT");
    co_return receipt::done;
}

} // namespace postgres
