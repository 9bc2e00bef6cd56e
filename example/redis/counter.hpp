#pragma once

#include "fleet/redis_connection.hpp"

#include <asio_retry/retry_policy.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace counting {

enum class receipt {
    counted,
    found, ///< an attempt before had counted it, and nobody knew
};

/// An outage is waited for from 10 ms to a second, for five minutes; what the Redis will always refuse is not
/// tried again.
asio_retry::retry_policy patient();

/// Counts in a Redis, one after the other, on a connection of its own. All of it runs on one strand.
class counter {
public:
    counter(boost::asio::ip::tcp::endpoint server, std::string name,
            asio_retry::retry_policy policy = patient())
        : server_(server)
        , name_(std::move(name))
        , policy_(std::move(policy)) {}

    /// Once this has completed `key` has been counted, and once, however often it was tried. The server
    /// remembers a key for a day.
    boost::asio::awaitable<receipt> count(std::string key);

    /// Has counted at least once.
    boost::asio::awaitable<void> count_without_key();

private:
    boost::asio::awaitable<long long> ask(std::vector<std::string> words);

    boost::asio::ip::tcp::endpoint server_;
    std::string name_;
    asio_retry::retry_policy policy_;
    std::optional<fleet::redis_connection> connection_;
};

} // namespace counting
