#include "stress/counted_operations.hpp"

#include <asio_retry/async_retry.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

/// A wait for a timer of its own, which often fires just when it is cancelled.
class fresh_timer {
public:
    explicit fresh_timer(asio::io_context& io) noexcept
        : io_(&io) {}

    template <typename Token>
    auto operator()(Token&& token) const {
        auto const timer = std::make_shared<asio::steady_timer>(*io_, 30us);
        return timer->async_wait(asio::consign(std::forward<Token>(token), timer));
    }

private:
    asio::io_context* io_;
};

/// A read from a socket of its own, which another thread often makes ready just when it is cancelled.
class fresh_socket {
    using socket = asio::local::stream_protocol::socket;

public:
    explicit fresh_socket(asio::io_context& io) noexcept
        : io_(&io) {}

    template <typename Token>
    auto operator()(Token&& token) const {
        auto const reader = std::make_shared<socket>(*io_);
        auto const writer = std::make_shared<socket>(*io_);
        asio::local::connect_pair(*reader, *writer);
        auto const later = std::make_shared<asio::steady_timer>(*io_, 20us);
        later->async_wait(asio::consign(
            [writer](error_code) {
                error_code ignored;
                writer->write_some(asio::buffer("!", 1), ignored);
            },
            later));
        return reader->async_wait(socket::wait_read, asio::consign(std::forward<Token>(token), reader));
    }

private:
    asio::io_context* io_;
};

/// Operations on a context that four threads run, without a strand. The I/O object of each attempt ends with
/// its completion, on whichever thread that is, while another one tells the attempt to stop.
class interrupted_operations final : public counted_operations {
private:
    void start(int number) override {
        if (number % 2 == 0)
            begin(fresh_timer(io_), number / 2);
        else
            begin(fresh_socket(io_), number / 2);
    }

    template <typename Operation>
    void begin(Operation const& operation, int number) {
        auto const policy = retry_policy().backoff(constant(10us)).unlimited_attempts();
        auto const never_enough = fail_if(operation, [] { return true; });
        auto const scope = std::make_shared<retry_scope>(io_.get_executor());
        auto const on_end = [this, scope](error_code) { complete_one(); };
        if (number % 4 < 2)
            return async_retry(io_, never_enough,
                               number % 4 == 0 ? policy.max_attempts(3).attempt_timeout(30us)
                                               : policy.total_timeout(70us),
                               on_end);
        async_retry(*scope, never_enough, number % 8 < 4 ? policy : policy.attempt_timeout(35us), on_end);
        if (number % 4 == 2)
            at(30us, [scope] { scope->cancel(); });
        else
            scope->async_drain(20us, [scope](error_code, std::size_t) {});
    }
};

TEST(interrupted, decision_35_an_io_object_may_end_with_its_attempt) {
    interrupted_operations().expect_to_complete(20'000);
}

} // namespace
} // namespace asio_retry::test
