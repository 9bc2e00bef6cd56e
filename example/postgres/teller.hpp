#pragma once

#include "connection.hpp"

#include <asio_retry/retry_policy.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace postgres {

/// What a bank's database must have. The key of a transfer is unique.
inline constexpr char const* account_table =
    "CREATE TABLE account (id integer PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0))";
inline constexpr char const* transfer_table =
    "CREATE TABLE transfer (key text PRIMARY KEY, amount bigint NOT NULL)";

/// Of money from one account to another. The key is the same in all attempts, and no other transfer has it.
struct transfer {
    std::string key;
    int from;
    int to;
    std::int64_t amount;
};

enum class receipt {
    done,
    found, ///< an attempt before had done it, and nobody knew
};

/// A conflict is over in milliseconds, an outage lasts for seconds: a policy for each.
struct teller_policies {
    asio_retry::retry_policy conflicts;
    asio_retry::retry_policy outages;
};

/// Conflicts are tried again up to thirty times after at most 50 ms, outages for five minutes after at most 2
/// s.
teller_policies patient();

/// Transfers money, one transfer at a time, on a connection of its own. All of it runs on one strand, as
/// `connection` does.
class teller {
public:
    teller(boost::asio::any_io_executor executor, std::string where, teller_policies policies = patient())
        : connection_(std::move(executor))
        , where_(std::move(where))
        , policies_(std::move(policies)) {}

    /// Once this has completed the money is there, and it went once.
    boost::asio::awaitable<receipt> carry_out(transfer what);

private:
    boost::asio::awaitable<receipt> transact(transfer const& what);

    connection connection_;
    std::string where_;
    teller_policies policies_;
};

} // namespace postgres
