// What doc/guide/udp.md says of refusals: real sockets, on loopback.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/failure_class.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using asio::ip::udp;
using namespace std::chrono_literals;

class udp_refusals : public testing::Test {
protected:
    udp_refusals()
        : socket_(io_, udp::v4())
        , nobody_(udp::socket(io_, {asio::ip::address_v4::loopback(), 0}).local_endpoint()) {}

    /// What one attempt, whose request was sent, receives within this time.
    error_code receive_within(std::chrono::milliseconds time) {
        error_code end;
        auto receive = [this](auto token) {
            return socket_.async_receive(asio::buffer(text_), std::move(token));
        };
        async_retry(io_, receive, retry_policy().max_attempts(1).attempt_timeout(time),
                    [&](error_code ec, std::size_t) { end = ec; });
        io_.run();
        io_.restart();
        return end;
    }

    asio::io_context io_{1};
    udp::socket socket_;
    udp::endpoint const nobody_;
    std::array<char, 100> text_{};
};

TEST_F(udp_refusals, fail_the_attempt_that_waits_on_a_connected_socket) {
    socket_.connect(nobody_);
    socket_.send(asio::buffer("a request", 9));
    error_code const end = receive_within(20s);
    EXPECT_EQ(end, asio::error::connection_refused);
    EXPECT_EQ(classify(end).kind, failure_kind::transient);
    EXPECT_EQ(classify(end).effect, effect::none);
}

TEST_F(udp_refusals, are_not_heard_by_a_socket_that_is_not_connected) {
    socket_.send_to(asio::buffer("a request", 9), nobody_);
    EXPECT_EQ(receive_within(100ms), asio::error::timed_out);
}

TEST_F(udp_refusals, that_nobody_has_heard_cost_the_next_request) {
    socket_.connect(nobody_);
    socket_.send(asio::buffer("first", 5)); // on loopback it is refused before this returns
    udp::socket server(io_, nobody_);
    error_code ec;
    socket_.send(asio::buffer("second", 6), 0, ec);
    EXPECT_EQ(ec, asio::error::connection_refused) << "of the first";
    socket_.send(asio::buffer("third", 5));
    std::size_t const size = server.receive(asio::buffer(text_));
    EXPECT_EQ(std::string(text_.data(), size), "third") << "the second was not sent";
}

} // namespace
} // namespace asio_retry::test
