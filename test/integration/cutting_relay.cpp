#include "cutting_relay.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstddef>
#include <utility>

namespace asio_retry::test {

namespace asio = boost::asio;
using boost::system::error_code;

struct cutting_relay::link {
    explicit link(asio::io_context& io)
        : client(io)
        , server(io) {}

    void close() {
        error_code ignored;
        client.close(ignored);
        server.close(ignored);
    }

    protocol::socket client, server;
    bool withholds = false; // the next answer
};

namespace {

/// Hands on what comes from one side, until `look` says no or the connection ends.
template <typename Look>
asio::awaitable<void> pass(cutting_relay::protocol::socket& from, cutting_relay::protocol::socket& to,
                           Look look) {
    std::array<char, 16384> buffer;
    for (error_code ec;;) {
        std::size_t const size =
            co_await from.async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, ec));
        if (ec || !look(std::string(buffer.data(), size)))
            co_return;
        co_await asio::async_write(to, asio::buffer(buffer, size),
                                   asio::redirect_error(asio::use_awaitable, ec));
        if (ec)
            co_return;
    }
}

} // namespace

cutting_relay::cutting_relay(std::filesystem::path const& listens_at, std::filesystem::path const& server,
                             std::string word, std::uint64_t seed)
    : acceptor_(io_, protocol::endpoint(listens_at.string()))
    , server_(server.string())
    , word_(std::move(word))
    , dice_(seed) {
    asio::co_spawn(io_, accept(), asio::detached);
    thread_ = std::thread([this] { io_.run(); });
}

cutting_relay::~cutting_relay() {
    io_.stop();
    thread_.join();
}

asio::awaitable<void> cutting_relay::accept() {
    for (;;) {
        auto const pair = std::make_shared<link>(io_);
        co_await acceptor_.async_accept(pair->client, asio::use_awaitable);
        asio::co_spawn(io_, connect(pair), asio::detached);
    }
}

asio::awaitable<void> cutting_relay::connect(std::shared_ptr<link> pair) {
    error_code ec;
    co_await pair->server.async_connect(server_, asio::redirect_error(asio::use_awaitable, ec));
    if (ec)
        co_return;
    asio::co_spawn(io_, pass_up(pair), asio::detached);
    asio::co_spawn(io_, pass_down(pair), asio::detached);
}

asio::awaitable<void> cutting_relay::pass_up(std::shared_ptr<link> pair) {
    auto const look = [&](std::string const& request) {
        pair->withholds = is_to_be_cut(request);
        return true;
    };
    co_await pass(pair->client, pair->server, look);
    pair->close();
}

asio::awaitable<void> cutting_relay::pass_down(std::shared_ptr<link> pair) {
    auto const look = [&](std::string const&) {
        cut_ += pair->withholds;
        return !pair->withholds;
    };
    co_await pass(pair->server, pair->client, look);
    pair->close();
}

bool cutting_relay::is_to_be_cut(std::string const& request) {
    if (request.find(word_) == std::string::npos)
        return false;
    unsigned const one_in = one_in_;
    return next_.exchange(false) || (one_in != 0 && dice_.uniform(1, one_in) == 1);
}

} // namespace asio_retry::test
