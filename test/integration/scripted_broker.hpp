#pragma once

#include <boost/asio.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace asio_retry::test {

/// Speaks as much of MQTT 5 as a test needs, where a real broker cannot be made to say it. It answers each
/// packet with the bytes that a script returns, or says nothing.
class scripted_broker {
public:
    enum packet : unsigned { connect = 1, publish = 3, subscribe = 8, pingreq = 12 };

    /// Gets the kind of a packet and what follows its length.
    using script = std::function<std::string(unsigned kind, std::string const& body)>;

    scripted_broker(boost::asio::any_io_executor executor, script answer)
        : acceptor_(executor, {boost::asio::ip::address_v4::loopback(), 0})
        , answer_(std::move(answer)) {
        boost::asio::co_spawn(executor, accept(), boost::asio::detached);
    }

    unsigned short port() const { return acceptor_.local_endpoint().port(); }

    /// Accepts no more connections. Those that there are end with their clients.
    void stop() { acceptor_.close(); }

    static std::string connack() { return {0x20, 3, 0, 0, 0}; }

    /// To a message with QoS 1, or to a subscription to one topic.
    static std::string acknowledge(unsigned kind, std::string const& body, unsigned char code) {
        if (kind == subscribe)
            return "\x90\x04" + body.substr(0, 2) + '\0' + static_cast<char>(code);
        auto const topic = static_cast<unsigned char>(body.at(1)); // its length, below 256
        return "\x40\x03" + body.substr(2u + topic, 2) + static_cast<char>(code);
    }

    /// A message with QoS 0.
    static std::string message(std::string const& topic, std::string const& text) {
        std::string body{0, static_cast<char>(topic.size())};
        body += topic + '\0' + text;
        return std::string{0x30, static_cast<char>(body.size())} + body;
    }

private:
    using socket = boost::asio::ip::tcp::socket;

    boost::asio::awaitable<void> accept() try {
        for (;;)
            boost::asio::co_spawn(acceptor_.get_executor(),
                                  serve(co_await acceptor_.async_accept(boost::asio::use_awaitable)),
                                  boost::asio::detached);
    } catch (boost::system::system_error const&) {
    }

    boost::asio::awaitable<void> serve(socket client) try {
        for (;;) {
            unsigned const kind = co_await byte(client) >> 4;
            std::size_t size = 0, part = 0x80;
            for (unsigned shift = 0; (part & 0x80) != 0; shift += 7) {
                part = co_await byte(client);
                size |= (part & 0x7f) << shift;
            }
            std::string body(size, '\0');
            co_await boost::asio::async_read(client, boost::asio::buffer(body), boost::asio::use_awaitable);
            std::string const said = answer_(kind, body);
            co_await boost::asio::async_write(client, boost::asio::buffer(said), boost::asio::use_awaitable);
        }
    } catch (boost::system::system_error const&) { // the client has closed the connection
    }

    static boost::asio::awaitable<unsigned char> byte(socket& from) {
        unsigned char result = 0;
        co_await boost::asio::async_read(from, boost::asio::buffer(&result, 1), boost::asio::use_awaitable);
        co_return result;
    }

    boost::asio::ip::tcp::acceptor acceptor_;
    script answer_;
};

} // namespace asio_retry::test
