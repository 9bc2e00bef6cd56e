// Subscribers of a real Redis that hangs, is killed and is started again.
#include "fleet/redis_process.hpp"
#include "integration/child_process.hpp"
#include "integration/redis_client.hpp"
#include "integration/redis_outage.hpp"
#include "integration/run_with_programs.hpp"
#include "redis/feed.hpp"

#include <asio_retry/random.hpp>
#include <asio_retry/retry_event.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAreArray;

std::string redis_server, subscribe_program;

constexpr std::uint64_t seed = 5;

/// Waits for what a server, another thread or another process does; a minute means that it never will.
template <typename Condition>
testing::AssertionResult becomes_true(Condition condition) {
    for (auto const end = std::chrono::steady_clock::now() + 1min; !condition();) {
        if (std::chrono::steady_clock::now() > end)
            return testing::AssertionFailure() << "a minute has passed";
        std::this_thread::sleep_for(5ms);
    }
    return testing::AssertionSuccess();
}

/// A subscriber on a thread of its own, and what it has been told.
class listener {
public:
    listener(unsigned short port, retry_policy const& policy)
        : subscriber_(
              on_loopback(port), "feed",
              [this](long long number, std::string text) { hear(number, std::move(text)); },
              policy.on_retry([this](retry_event const& e) {
                  std::lock_guard const lock(mutex_);
                  losses_.push_back(e);
              })) {
        subscriber_.on_subscribed = [this] { ++subscriptions_; };
        asio::co_spawn(io_, subscriber_.run(),
                       asio::bind_cancellation_slot(stop_.slot(), [](std::exception_ptr) {}));
        thread_ = std::thread([this] { io_.run(); });
    }

    ~listener() {
        asio::post(io_, [this] { stop_.emit(asio::cancellation_type::terminal); });
        thread_.join();
    }
    listener(listener const&) = delete;
    listener& operator=(listener const&) = delete;

    int subscriptions() const noexcept { return subscriptions_; }

    std::vector<std::string> heard() const {
        std::lock_guard const lock(mutex_);
        return heard_;
    }

    std::vector<retry_event> losses() const {
        std::lock_guard const lock(mutex_);
        return losses_;
    }

private:
    void hear(long long number, std::string text) {
        std::lock_guard const lock(mutex_);
        EXPECT_EQ(number, static_cast<long long>(heard_.size())) << "once and in order";
        heard_.push_back(std::move(text));
    }

    mutable std::mutex mutex_;
    std::vector<std::string> heard_;
    std::vector<retry_event> losses_;
    std::atomic<int> subscriptions_ = 0;
    asio::io_context io_{1};
    asio::cancellation_signal stop_;
    feed::subscriber subscriber_;
    std::thread thread_;
};

retry_policy quick() {
    return feed::lasting().backoff(exponential(20ms).cap(640ms)).setup_timeout(5s).idle_timeout(1s);
}

class subscriptions : public testing::Test {
protected:
    fleet::redis_process server{redis_server, fleet::on_the_disk};

    std::vector<std::string> kept() {
        fleet::redis_reply const list = redis_client(server.port()).command({"LRANGE", "{feed}", "0", "-1"});
        std::vector<std::string> result;
        for (std::size_t i = 0; i != list->elements; ++i)
            result.emplace_back(list->element[i]->str, list->element[i]->len);
        return result;
    }
};

TEST_F(subscriptions, that_have_worked_are_tried_again_after_the_base_at_most) {
    listener hears(server.port(), quick().reset_after(200ms));
    for (int lost = 0; lost != 3; ++lost) {
        ASSERT_TRUE(becomes_true([&] { return hears.subscriptions() > lost; }));
        std::size_t const before = hears.losses().size();
        std::this_thread::sleep_for(300ms); // longer only makes it healthier
        server.kill();
        ASSERT_TRUE(becomes_true([&] { return hears.losses().size() > before; }));
        EXPECT_LE(hears.losses()[before].delay, 20ms);
        server.restart();
    }
}

TEST_F(subscriptions, that_flap_are_tried_again_later_and_later) {
    listener hears(server.port(), quick().jitter(no_jitter()).reset_after(1h));
    for (int lost = 0; lost != 4; ++lost) {
        ASSERT_TRUE(becomes_true([&] { return hears.subscriptions() > lost; }));
        server.kill();
        server.restart();
    }
    ASSERT_TRUE(becomes_true([&] { return hears.losses().size() >= 4; }));
    duration expected = 20ms;
    for (retry_event const& loss : hears.losses()) {
        EXPECT_EQ(loss.delay, expected) << "after connection " << loss.attempt;
        expected = std::min<duration>(2 * expected, 640ms);
    }
}

TEST_F(subscriptions, of_a_server_that_hangs_are_lost_after_the_idle_timeout) {
    listener hears(server.port(), quick());
    ASSERT_TRUE(becomes_true([&] { return hears.subscriptions() == 1; }));
    server.pause(); // its connections stay
    ASSERT_TRUE(becomes_true([&] { return !hears.losses().empty(); }));
    retry_event const loss = hears.losses().front();
    EXPECT_EQ(loss.error, asio::error::timed_out);
    EXPECT_GE(loss.took, 1s) << "not before it has been silent for so long";
    server.go_on();
    EXPECT_TRUE(becomes_true([&] { return hears.subscriptions() == 2; }));
}

TEST_F(subscriptions, of_a_quiet_server_stay) {
    listener hears(server.port(), quick().idle_timeout(3s));
    ASSERT_TRUE(becomes_true([&] { return hears.subscriptions() == 1; }));
    std::this_thread::sleep_for(7s); // more than twice the idle timeout; pings are answered
    EXPECT_EQ(hears.subscriptions(), 1);
    EXPECT_EQ(hears.losses().size(), 0u);
}

// --- nothing is lost

/// Publishes until it is told to stop; notes what was acknowledged.
class source {
public:
    explicit source(unsigned short port)
        : publisher_(on_loopback(port), "feed", counting::patient().attempt_timeout(400ms))
        , thread_([this] {
            asio::co_spawn(io_, publish(), [](std::exception_ptr e) { EXPECT_FALSE(e); });
            io_.run();
        }) {}
    ~source() { stop(); }
    source(source const&) = delete;
    source& operator=(source const&) = delete;

    std::vector<std::string> const& stop() {
        is_enough_ = true;
        if (thread_.joinable())
            thread_.join();
        return acknowledged_;
    }

private:
    asio::awaitable<void> publish() {
        asio::steady_timer pause(io_);
        for (int i = 0; !is_enough_; ++i) {
            std::string message = "message " + std::to_string(i);
            co_await publisher_.publish(message, message);
            acknowledged_.push_back(std::move(message));
            pause.expires_after(1ms);
            co_await pause.async_wait(asio::use_awaitable);
        }
    }

    asio::io_context io_{1};
    feed::publisher publisher_;
    std::atomic<bool> is_enough_ = false;
    std::vector<std::string> acknowledged_;
    std::thread thread_;
};

TEST_F(subscriptions, miss_nothing_that_was_acknowledged) {
    std::list<listener> all;
    for (int i = 0; i != 3; ++i)
        all.emplace_back(server.port(), quick());
    source messages(server.port());
    random dice(seed);
    for (int i = 0; i != 10; ++i) {
        std::this_thread::sleep_for(dice.uniform(duration(100ms), duration(600ms)));
        hang_or_restart(server, dice, i == 2, 500ms, 1500ms);
    }
    std::vector<std::string> const acknowledged = messages.stop();
    EXPECT_THAT(kept(), ElementsAreArray(acknowledged)) << "each once, in order";
    std::size_t losses = 0;
    for (listener const& each : all) {
        EXPECT_TRUE(becomes_true([&] { return each.heard().size() >= acknowledged.size(); }));
        EXPECT_THAT(each.heard(), ElementsAreArray(acknowledged));
        losses += each.losses().size();
    }
    EXPECT_GT(losses, 0u);
    std::cout << acknowledged.size() << " messages, " << losses << " lost connections and vain attempts\n";
}

/// Hears what is published while it is subscribed, and nothing else, until its connection is lost.
asio::awaitable<void> hear_without_a_list(tcp::endpoint server, std::atomic<int>& subscriptions,
                                          std::vector<std::string>& heard) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio::use_awaitable);
    fleet::redis_connection news(std::move(socket));
    std::vector<std::string> const subscribe{"SUBSCRIBE", "{feed}:news"};
    co_await news.send(subscribe);
    co_await news.receive();
    ++subscriptions;
    for (;;) {
        fleet::redis_reply const reply = co_await news.receive();
        heard.emplace_back(reply->element[2]->str, reply->element[2]->len);
    }
}

// The negative control: publishing alone reaches who is there.
TEST_F(subscriptions, without_a_list_miss_what_was_published_meanwhile) {
    auto const publish = [&](std::string const& number) {
        asio::io_context io;
        feed::publisher publisher(on_loopback(server.port()), "feed");
        asio::co_spawn(io, publisher.publish(number, "text"), [](std::exception_ptr e) { EXPECT_FALSE(e); });
        io.run();
    };
    std::atomic<int> times = 0;
    std::vector<std::string> heard;
    for (int connection = 1; connection != 3; ++connection) {
        asio::io_context io;
        asio::co_spawn(io, hear_without_a_list(on_loopback(server.port()), times, heard),
                       [](std::exception_ptr) {});
        std::thread listening([&] { io.run(); });
        EXPECT_TRUE(becomes_true([&] { return times == connection; }));
        publish(std::to_string(2 * connection - 1));
        server.kill();
        listening.join();
        server.restart();
        publish(std::to_string(2 * connection));
    }
    EXPECT_THAT(kept(), testing::SizeIs(4));
    EXPECT_THAT(heard, testing::SizeIs(testing::Lt(4u)));
}

// --- the program

TEST_F(subscriptions, of_the_program_end_on_sigterm) {
    std::filesystem::path const log =
        std::filesystem::temp_directory_path() / ("asio_retry_subscribe_" + std::to_string(server.port()));
    auto const says = [&](std::string const& text) {
        std::ifstream file(log);
        return std::string(std::istreambuf_iterator<char>(file), {}).find(text) != std::string::npos;
    };
    source messages(server.port());
    {
        child_process program({subscribe_program, std::to_string(server.port()), "feed"}, log);
        EXPECT_TRUE(becomes_true([&] { return says("0: message 0\n1: message 1\n"); }));
        server.kill();
        EXPECT_TRUE(becomes_true([&] { return says("connection 1 was lost: "); }));
        server.restart();
        std::size_t const sent = messages.stop().size();
        EXPECT_TRUE(becomes_true([&] { return says("message " + std::to_string(sent - 1) + '\n'); }));
        program.send(SIGTERM);
        EXPECT_EQ(program.wait(), 0);
    }
    std::filesystem::remove(log);
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&subscribe_program, &redis_server}, "redis-server");
}
