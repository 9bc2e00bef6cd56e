#include <asio_retry/async_retry.hpp>
#include <asio_retry/fresh_connection.hpp>
#include <asio_retry/retry_observer.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// One budget for all that talk to one peer, over sockets, in virtual time.

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;
using testing::IsEmpty;

/// When attempts began, in seconds.
struct timetable final : retry_observer {
    explicit timetable(time_point start)
        : begin(start) {}
    void on_event(observation const& event) noexcept override {
        running += event.what == observation::kind::attempt_began;
        running -= event.what == observation::kind::attempt_ended;
        if (event.what == observation::kind::attempt_began)
            attempts.push_back(std::chrono::duration<double>(event.now - begin).count());
    }
    time_point const begin;
    int running = 0;
    std::vector<double> attempts;
};

/// A peer that is down at first, a client that makes a request with a connection of its own each second, and
/// one that keeps a connection.
class shared_budget : public testing::Test {
protected:
    shared_budget() {
        peer.open(tcp::v4());
        peer.bind({asio::ip::address_v4::loopback(), 0}); // refuses until it listens
    }

    /// Each tenth of a second the sockets take as long as they need.
    void advance(duration by) {
        for (duration passed{}; passed < by; passed += 100ms) {
            time.advance(100ms);
            while (of_requests->running + of_connection->running > 0) {
                io.restart();
                io.run_one();
            }
        }
    }

    void request() {
        auto const own = std::make_shared<tcp::socket>(io);
        async_retry(io, fresh_connection(*own, {peer.local_endpoint()}), every(100ms).observe(of_requests),
                    [this, own](error_code ec, tcp::endpoint) { ++(ec ? failed : served); });
    }

    void keep_connected(std::shared_ptr<retry_gate> gate) {
        async_retry(
            scope, fresh_connection(connection, {peer.local_endpoint()}),
            every(1s).unlimited_attempts().gate(std::move(gate)).wait_when_refused().observe(of_connection),
            [this](error_code ec, tcp::endpoint) { connected = ec; });
    }

    retry_policy every(duration delay) const {
        return retry_policy().backoff(constant(delay)).jitter(no_jitter()).gate(budget);
    }

    asio::io_context io;
    virtual_time time{io};
    retry_scope scope{io.get_executor()};
    tcp::acceptor peer{io};
    tcp::socket connection{io};
    std::shared_ptr<retry_budget> budget = std::make_shared<retry_budget>();
    std::shared_ptr<timetable> of_requests = std::make_shared<timetable>(time.now());
    std::shared_ptr<timetable> of_connection = std::make_shared<timetable>(time.now());
    std::optional<error_code> connected;
    int served = 0;
    int failed = 0;
};

TEST_F(shared_budget, decision_26_what_requests_earn_pays_for_a_reconnect) {
    keep_connected(budget);
    advance(500ms);
    for (int second = 0; second != 10; ++second) {
        request();
        advance(1s);
    }
    EXPECT_THAT(of_connection->attempts, elements(0, 1)) << "the one retry that the budget had";
    EXPECT_EQ(of_requests->attempts.size(), 10u) << "a first attempt costs nothing, a retry was not paid for";
    EXPECT_EQ(failed, 10);
    EXPECT_FALSE(connected) << "it waits";
    EXPECT_LT(budget->balance(time.now()), 1);

    peer.listen();
    for (int second = 0; second != 10; ++second) {
        request();
        advance(1s);
    }
    EXPECT_EQ(served, 10);
    EXPECT_EQ(connected, error_code());
    EXPECT_THAT(of_connection->attempts, elements(0, 1, 20)) << "the tenth success was at 19.5";
    EXPECT_NEAR(budget->balance(time.now()), 0.1, 1e-9) << "its own success earns too";

    connection.close(); // and it is kept again, without a first attempt to be had for nothing
    keep_connected(budget);
    EXPECT_EQ(of_connection->attempts.size(), 4u) << "a first attempt costs nothing, ever";
    advance(100ms);
}

// The control: with a budget of its own the client goes on at once.
TEST_F(shared_budget, another_budget_knows_nothing_of_it) {
    keep_connected(std::make_shared<retry_budget>(retry_budget_options{.keep = 100, .initial = 100}));
    advance(500ms);
    for (int second = 0; second != 10; ++second) {
        request();
        advance(1s);
    }
    EXPECT_EQ(of_connection->attempts.size(), 11u);
    EXPECT_EQ(of_requests->attempts.size(), 11u) << "the requests have the one retry of theirs";
}

TEST_F(shared_budget, decision_26_a_reconnect_that_is_given_up_leaves_its_retry_to_requests) {
    keep_connected(budget);
    advance(500ms); // it holds what the next attempt costs
    EXPECT_EQ(budget->balance(time.now()), 0);
    scope.cancel();
    advance(100ms);
    EXPECT_EQ(connected, asio::error::operation_aborted);
    EXPECT_EQ(budget->balance(time.now()), 1);
    request();
    advance(1s);
    EXPECT_EQ(of_requests->attempts.size(), 2u);
    EXPECT_THAT(of_connection->attempts, elements(0));
}

} // namespace
} // namespace asio_retry::test
