// A drain that waits until each caller has written its answer.
#include <asio_retry/async_pause.hpp>
#include <asio_retry/retry_scope.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class drained_sessions : public testing::Test, protected in_virtual_time {
protected:
    std::vector<std::string> done;

    asio::awaitable<void> take(duration d) {
        co_await async_pause(co_await asio::this_coro::executor, d, asio::use_awaitable);
    }

    asio::awaitable<void> ask(std::string question) {
        if (question == "down")
            throw boost::system::system_error(refused());
        co_await take(3s);
    }

    /// Each session is an operation of the scope, with a single attempt; what it asks for is one of a child.
    void start_session(retry_scope& sessions, retry_scope& requests, std::string question) {
        auto const session = [this, &requests, question]() -> asio::awaitable<void> {
            std::string answer = "answer";
            try {
                auto const asking = [&] { return ask(question); };
                co_await async_retry(requests, asking, hourly());
            } catch (boost::system::system_error const& e) {
                answer = e.code() == aborted() ? "sorry" : "wrong";
            }
            co_await take(1s);
            done.push_back(question + ": " + answer);
        };
        async_retry(sessions, session, retry_policy().max_attempts(1), asio::detached);
    }

    void drain(retry_scope& sessions, duration timeout) {
        sessions.async_drain(timeout, [this](error_code, std::size_t cancelled) {
            done.push_back("drained, " + std::to_string(cancelled) + " cancelled");
        });
    }
};

TEST_F(drained_sessions, have_written_their_answers_when_the_drain_ends) {
    retry_scope sessions(io), requests(sessions);
    start_session(sessions, requests, "slow");
    start_session(sessions, requests, "down");
    time.advance(1s);
    drain(sessions, 10s);
    time.run();
    EXPECT_THAT(done, ElementsAre("down: sorry", "slow: answer", "drained, 0 cancelled"));
    EXPECT_EQ(time.now() - begin, 3s + 1s);
}

TEST_F(drained_sessions, are_told_to_stop_where_they_take_too_long) {
    retry_scope sessions(io), requests(sessions);
    start_session(sessions, requests, "slow");
    time.advance(1s);
    drain(sessions, 500ms);
    time.run();
    EXPECT_THAT(done, ElementsAre(testing::EndsWith("cancelled")));
    EXPECT_EQ(time.now() - begin, 1500ms);
}

} // namespace
} // namespace asio_retry::test
