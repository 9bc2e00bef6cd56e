#include "numbers/streams.hpp"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;

/// A pipe that a forked child writes one stream to.
class stream_pipe {
public:
    stream_pipe() {
        if (::pipe(ends_) != 0)
            throw std::runtime_error("pipe");
    }
    stream_pipe(stream_pipe const&) = delete;
    stream_pipe& operator=(stream_pipe const&) = delete;
    ~stream_pipe() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }

    bool write(stream const& s) {
        return transfer(reinterpret_cast<char const*>(s.data()),
                        [this](char const* next, std::size_t left) { return ::write(ends_[1], next, left); });
    }

    /// Gives up when all writers are gone.
    bool read(stream& s) {
        ::close(std::exchange(ends_[1], -1));
        return transfer(reinterpret_cast<char*>(s.data()),
                        [this](char* next, std::size_t left) { return ::read(ends_[0], next, left); });
    }

private:
    /// Whether `step`, which returns how many bytes it has moved, moves all.
    template <typename Byte, typename Step>
    static bool transfer(Byte* next, Step step) {
        for (std::size_t left = sizeof(stream); left != 0;) {
            ::ssize_t const count = step(next, left);
            if (count <= 0)
                return false;
            next += count;
            left -= static_cast<std::size_t>(count);
        }
        return true;
    }

    int ends_[2] = {-1, -1};
};

/// What a child draws that is forked from a process with this context, which is told of the fork.
stream drawn_by_child(asio::io_context& io) {
    stream_pipe pipe;
    io.notify_fork(asio::io_context::fork_prepare);
    ::pid_t const child = ::fork();
    if (child == 0) {
        io.notify_fork(asio::io_context::fork_child);
        ::_exit(pipe.write(draw_stream(scheduler(io))) ? 0 : 1);
    }
    io.notify_fork(asio::io_context::fork_parent);
    stream drawn{};
    EXPECT_GT(child, 0);
    EXPECT_TRUE(pipe.read(drawn));
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return drawn;
}

std::vector<stream> drawn_by_children(asio::io_context& io) {
    std::vector<stream> streams;
    for (std::size_t i = 0; i != stream_count; ++i)
        streams.push_back(drawn_by_child(io));
    return streams;
}

TEST(decision_33, forked_processes_and_their_parent_draw_independent_streams) {
    asio::io_context io;
    scheduler(io);
    std::vector<stream> streams = drawn_by_children(io);
    streams.push_back(draw_stream(scheduler(io)));
    EXPECT_TRUE(are_independent(streams));
}

TEST(decision_33, forked_processes_with_a_scheduler_of_their_own_draw_independent_streams) {
    asio::io_context io; // its scheduler is created after the fork
    EXPECT_TRUE(are_independent(drawn_by_children(io)));
}

TEST(decision_33, seeded_processes_repeat_the_streams_of_their_parent) {
    asio::io_context io;
    scheduler(io).seed(7);
    stream const first = drawn_by_child(io), second = drawn_by_child(io);
    EXPECT_EQ(first, second);
    EXPECT_EQ(first, draw_stream(scheduler(io)));
}

} // namespace
} // namespace asio_retry::test
