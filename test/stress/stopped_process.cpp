// Everything that promises a time, when a process is stopped, or a handler keeps the loop for a second.
#include "support/late_promises.hpp"

#include <asio_retry/virtual_time.hpp>

#include <boost/asio/steady_timer.hpp>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

namespace asio_retry::test {
namespace {
namespace stopped_process {

using namespace late_promises;

time_point steady_now() {
    return std::chrono::steady_clock::now();
}

/// How many begin if nothing is late.
std::size_t count_without_a_stop(promise const& one) {
    asio::io_context io;
    virtual_time time(io);
    place here{io, [&] { return time.now(); }};
    one.arrange(here);
    time.advance(1min);
    here.scope->cancel();
    here.kept.clear();
    time.run();
    return here.begun.size();
}

void write_all(int to, void const* data, std::size_t size) {
    auto at = static_cast<char const*>(data);
    while (size != 0) {
        auto const written = ::write(to, at, size);
        if (written <= 0)
            ::_exit(1);
        at += written;
        size -= static_cast<std::size_t>(written);
    }
}

bool read_all(int from, void* data, std::size_t size) {
    auto at = static_cast<char*>(data);
    while (size != 0) {
        auto const got = ::read(from, at, size);
        if (got <= 0)
            return false;
        at += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

/// Makes all promises, says when 1.5 s have passed, and reports when all of them have been kept.
[[noreturn]] void keep_promises(int to, std::vector<std::size_t> const& counts, void (*at_half_time)()) {
    asio::io_context io;
    std::vector<std::unique_ptr<place>> places;
    for (promise const& one : all())
        one.arrange(*places.emplace_back(new place{io, steady_now}));
    asio::steady_timer half_time(io, 1500ms);
    half_time.async_wait([&](error_code) {
        write_all(to, "h", 1);
        at_half_time();
    });
    for (std::size_t i = 0; i != counts.size(); ++i)
        while (places[i]->begun.size() < counts[i])
            io.run_one();
    io.run_for(50ms); // whatever is too much
    for (auto const& one : places) {
        std::size_t const count = one->begun.size();
        write_all(to, &count, sizeof count);
        write_all(to, one->begun.data(), count * sizeof(beginning));
    }
    ::_exit(0);
}

void expect_kept(void (*at_half_time)(), void (*meanwhile)(::pid_t)) {
    std::vector<std::size_t> counts;
    for (promise const& one : all())
        counts.push_back(count_without_a_stop(one));
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::pid_t const child = ::fork();
    if (child == 0)
        keep_promises(ends[1], counts, at_half_time);
    ::close(ends[1]);
    char half_time = 0;
    ASSERT_TRUE(read_all(ends[0], &half_time, 1));
    meanwhile(child);
    for (std::size_t i = 0; i != counts.size(); ++i) {
        SCOPED_TRACE(all()[i].name);
        std::size_t count = 0;
        ASSERT_TRUE(read_all(ends[0], &count, sizeof count));
        beginnings begun(count);
        ASSERT_TRUE(read_all(ends[0], begun.data(), count * sizeof(beginning)));
        EXPECT_EQ(count, counts[i]);
        all()[i].holds(begun);
    }
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

void pause_for_a_second() {
    ::poll(nullptr, 0, 1000);
}

TEST(a_stopped_process, decision_77_keeps_its_promises) {
    expect_kept([] {},
                [](::pid_t child) {
                    ASSERT_EQ(::kill(child, SIGSTOP), 0);
                    ASSERT_EQ(::waitpid(child, nullptr, WUNTRACED), child);
                    pause_for_a_second();
                    ASSERT_EQ(::kill(child, SIGCONT), 0);
                });
}

TEST(a_stopped_process, decision_77_keeps_its_promises_after_a_handler_of_a_second) {
    expect_kept(pause_for_a_second, [](::pid_t) {});
}

} // namespace stopped_process
} // namespace
} // namespace asio_retry::test
