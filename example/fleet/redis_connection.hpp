#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <hiredis/hiredis.h>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fleet {

namespace asio = boost::asio;
using asio::ip::tcp;

struct free_reply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using redis_reply = std::unique_ptr<redisReply, free_reply>;

/// The Redis has answered, and with an error. What it means says `asio_retry::classify_redis`.
class redis_error : public std::runtime_error {
public:
    explicit redis_error(std::string reply)
        : std::runtime_error("the Redis says: " + reply)
        , reply_(std::move(reply)) {}

    std::string const& reply() const noexcept { return reply_; } ///< begins with a word such as LOADING

private:
    std::string reply_;
};

/// A connection to a Redis. hiredis writes commands and reads replies, Asio does the rest.
class redis_connection {
public:
    explicit redis_connection(tcp::socket connected)
        : socket_(std::move(connected)) {}

    /// False where a command was given up in the middle: the next reply would be the one to that.
    bool is_usable() const noexcept { return !is_in_the_middle_; }

    /// One at a time. Throws what the connection comes to, after which it is of no use any more, and
    /// redis_error for a reply that is an error.
    asio::awaitable<redis_reply> command(std::vector<std::string> words) {
        is_in_the_middle_ = true;
        co_await send(std::move(words));
        redis_reply reply = co_await receive();
        is_in_the_middle_ = false;
        if (reply->type == REDIS_REPLY_ERROR)
            throw redis_error(std::string(reply->str, reply->len));
        co_return reply;
    }

    /// @name The halves of a command, where replies come without being asked for
    /// One of each at a time.
    /// @{
    asio::awaitable<void> send(std::vector<std::string> words) {
        std::string const text = written(words);
        co_await asio::async_write(socket_, asio::buffer(text), asio::use_awaitable);
    }

    asio::awaitable<redis_reply> receive() {
        for (;;) {
            if (redis_reply reply = read())
                co_return reply;
            std::size_t const size =
                co_await socket_.async_read_some(asio::buffer(received_), asio::use_awaitable);
            if (redisReaderFeed(reader_.get(), received_.data(), size) != REDIS_OK)
                throw std::bad_alloc();
        }
    }
    /// @}

private:
    struct free_reader {
        void operator()(redisReader* reader) const { redisReaderFree(reader); }
    };

    static std::string written(std::vector<std::string> const& words) {
        std::vector<char const*> begins;
        std::vector<std::size_t> sizes;
        for (std::string const& word : words) {
            begins.push_back(word.data());
            sizes.push_back(word.size());
        }
        char* made = nullptr;
        auto const size =
            redisFormatCommandArgv(&made, static_cast<int>(words.size()), begins.data(), sizes.data());
        if (size < 0)
            throw std::bad_alloc();
        std::unique_ptr<char, void (*)(char*)> const owned(made, redisFreeCommand);
        return {made, static_cast<std::size_t>(size)};
    }

    /// Null until a whole reply has come.
    redis_reply read() {
        void* reply = nullptr;
        if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK)
            throw std::runtime_error("no Redis talks like this");
        return redis_reply(static_cast<redisReply*>(reply));
    }

    tcp::socket socket_;
    std::unique_ptr<redisReader, free_reader> reader_{redisReaderCreate()};
    std::array<char, 4096> received_{};
    bool is_in_the_middle_ = false;
};

} // namespace fleet
