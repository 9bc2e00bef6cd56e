#pragma once

#include "counter.hpp"

#include <asio_retry/retry_policy.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>

/// Messages of a Redis that reach every subscriber once and in order, though connections and the server come
/// and go. They are kept in a list; what is published only says that there are more.
namespace feed {

/// Adds messages, one after the other, on a connection of its own. All of it runs on one strand.
class publisher {
public:
    publisher(boost::asio::ip::tcp::endpoint server, std::string name,
              asio_retry::retry_policy policy = counting::patient())
        : server_(server)
        , name_(std::move(name))
        , policy_(std::move(policy)) {}

    /// Once this has completed the message is in the list, and once, however often it was tried. The server
    /// remembers `key` for a day.
    boost::asio::awaitable<void> publish(std::string key, std::string message);

private:
    boost::asio::ip::tcp::endpoint server_;
    std::string name_;
    asio_retry::retry_policy policy_;
    std::optional<fleet::redis_connection> connection_;
};

/// A subscription is set up within 2 s and never silent for 3 s; after a loss it is tried again from 50 ms to 5
/// s later, as if for the first time once it has worked for 10 s.
asio_retry::retry_policy lasting();

/// Keeps a subscription. All of it runs on one strand.
class subscriber {
public:
    using on_message = std::function<void(long long number, std::string text)>;

    /// Begins with the message that has the number `next`; the first has 0. The policy has an idle_timeout:
    /// after a third of it the server is asked for a sign of life, and so on.
    subscriber(boost::asio::ip::tcp::endpoint server, std::string name, on_message handler,
               asio_retry::retry_policy policy = lasting(), long long next = 0);

    /// Does not end by itself but with an error that no other attempt mends.
    boost::asio::awaitable<void> run();

    /// To be called for each subscription that has been set up, and has caught up.
    std::function<void()> on_subscribed = [] {};

private:
    boost::asio::awaitable<void> hear(asio_retry::attempt connection);
    boost::asio::awaitable<void> catch_up(fleet::redis_connection& archive);

    boost::asio::ip::tcp::endpoint server_;
    std::string name_;
    on_message handler_;
    asio_retry::retry_policy policy_;
    asio_retry::duration between_pings_;
    long long next_;
};

} // namespace feed
