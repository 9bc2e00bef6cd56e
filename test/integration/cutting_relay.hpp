#pragma once

#include <asio_retry/random.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

namespace asio_retry::test {

/// Stands between a client and a server, and withholds some answers: instead of one to what contains a certain
/// word it closes both connections, after the server has answered. The client cannot know what that was.
class cutting_relay {
public:
    using protocol = boost::asio::local::stream_protocol;

    cutting_relay(std::filesystem::path const& listens_at, std::filesystem::path const& server,
                  std::string word, std::uint64_t seed);

    cutting_relay(cutting_relay const&) = delete;
    cutting_relay& operator=(cutting_relay const&) = delete;
    ~cutting_relay();

    /// One of so many answers, from a seed; 0: none.
    void cut_one_in(unsigned answers) { one_in_ = answers; }

    /// The next answer, and not those after it.
    void cut_next() { next_ = true; }

    /// So many were withheld.
    unsigned cut() const { return cut_; }

private:
    struct link;

    boost::asio::awaitable<void> accept();
    boost::asio::awaitable<void> connect(std::shared_ptr<link> pair);
    boost::asio::awaitable<void> pass_up(std::shared_ptr<link> pair);
    boost::asio::awaitable<void> pass_down(std::shared_ptr<link> pair);
    bool is_to_be_cut(std::string const& request);

    boost::asio::io_context io_{1};
    protocol::acceptor acceptor_;
    protocol::endpoint const server_;
    std::string const word_;
    random dice_;
    std::atomic<unsigned> one_in_ = 0, cut_ = 0;
    std::atomic<bool> next_ = false;
    std::thread thread_;
};

} // namespace asio_retry::test
