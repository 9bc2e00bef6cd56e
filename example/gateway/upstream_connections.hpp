#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <asio_retry/attempt.hpp>
#include <asio_retry/failure_class.hpp>

#include <map>

namespace gateway {

using request = boost::beast::http::request<boost::beast::http::string_body>;
using response = boost::beast::http::response<boost::beast::http::string_body>;

/// What a status and its Retry-After say about a retry.
asio_retry::judgement judge(response const& r);

/// The connections of one session to the servers behind the gateway, which it keeps from request to request.
class upstream_connections {
public:
    /// Asks one of them, on the connection there is or a new one. Whoever abandons it spoils that connection
    /// alone.
    boost::asio::awaitable<response> ask(boost::asio::ip::tcp::endpoint const& where, request const& question,
                                         asio_retry::attempt which);

private:
    struct connection {
        boost::asio::ip::tcp::socket socket;
        boost::beast::flat_buffer buffer;
    };

    std::map<boost::asio::ip::tcp::endpoint, connection> connections_;
};

} // namespace gateway
