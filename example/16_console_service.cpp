// A service in a console takes jobs until Ctrl-C, SIGTERM, or Ctrl-Break on Windows. Then those that it has may
// finish, for a while; the second signal ends that too.
#include <asio_retry/async_retry.hpp>

#include <boost/asio.hpp>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iostream>

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

/// Succeeds at the third attempt, but every fourth job never.
asio::awaitable<error_code> attempt_job(std::size_t job, asio_retry::attempt a) {
    asio::steady_timer work(co_await asio::this_coro::executor, job % 4 == 0 ? 1h : 10ms);
    co_await work.async_wait(asio::use_awaitable);
    co_return a.number < 3 ? error_code(asio::error::try_again) : error_code();
}

class service {
public:
    explicit service(asio::io_context& io)
        : jobs_(io.get_executor())
        , signals_(io, SIGINT, SIGTERM)
        , next_(io) {
#if defined(SIGBREAK)
        signals_.add(SIGBREAK);
#endif
    }

    asio::awaitable<void> take_jobs() {
        auto const policy = asio_retry::retry_policy().backoff(asio_retry::constant(10ms)).max_attempts(5);
        while (!stopped_) {
            auto const attempt = [job = ++taken_](asio_retry::attempt a) { return attempt_job(job, a); };
            asio_retry::async_retry(jobs_, attempt, policy,
                                    [this](error_code ec) { ++(ec ? cancelled_ : completed_); });
            next_.expires_after(20ms);
            error_code ignored;
            co_await next_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
        }
    }

    asio::awaitable<void> end_on_signal() {
        std::cout << "taking jobs; Ctrl-C ends it" << std::endl;
        co_await signals_.async_wait(asio::use_awaitable);
        std::cout << "no more jobs; what runs has half a second" << std::endl;
        stopped_ = true; // for `next_` may be over already, and then it cannot be cancelled
        next_.cancel();
        signals_.async_wait([this](error_code ec, int) { ec ? void() : jobs_.cancel(); });
        co_await jobs_.async_drain(500ms, asio::use_awaitable);
        signals_.cancel();
    }

    /// Whether nothing was lost.
    bool told_all() const {
        std::cout << taken_ << " jobs: " << completed_ << " completed, " << cancelled_ << " cancelled\n";
        return taken_ == completed_ + cancelled_;
    }

private:
    asio_retry::retry_scope jobs_;
    asio::signal_set signals_;
    asio::steady_timer next_;
    bool stopped_ = false;
    std::size_t taken_ = 0, completed_ = 0, cancelled_ = 0;
};

int main() {
    asio::io_context io(1);
    service all(io);
    asio::co_spawn(io, all.take_jobs(), asio::detached);
    asio::co_spawn(io, all.end_on_signal(), asio::detached);
    io.run();
    return all.told_all() ? EXIT_SUCCESS : EXIT_FAILURE;
}
