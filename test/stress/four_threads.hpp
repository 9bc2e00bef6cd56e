#pragma once

#include "stress/operations_of_threads.hpp"

#include <asio_retry/async_retry.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

namespace asio_retry::test {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

/// Operations of four kinds on one context that four threads run, each cancelled at some time by whichever
/// thread it happens to be.
class four_threads final : public operations_of_threads {
public:
    using cancel = std::function<void(asio::strand<asio::io_context::executor_type> const&,
                                      std::shared_ptr<asio::cancellation_signal> const&)>;

    /// `how` cancels an operation; right is to go through its executor.
    explicit four_threads(cancel how)
        : how_(std::move(how)) {}

    void run(int operations) { operations_of_threads::run(operations, 200); }

    int completed() const noexcept { return succeeded_ + aborted_ + failed_; }
    int succeeded() const noexcept { return succeeded_; }
    int aborted() const noexcept { return aborted_; }
    int failed() const noexcept { return failed_; }
    asio::io_context& context() noexcept { return io_; }

private:
    void start(int number) override {
        auto const strand = asio::make_strand(io_);
        asio::post(strand, [this, strand, number] { begin(strand, number); });
    }

    void begin(asio::strand<asio::io_context::executor_type> const& strand, int number) {
        auto const signal = std::make_shared<asio::cancellation_signal>();
        auto handler = [this, signal](error_code ec) {
            (!ec ? succeeded_ : ec == asio::error::operation_aborted ? aborted_ : failed_)++;
            start_next();
        };
        auto const failing = [this, made = 0, failures = number % 5](auto token) mutable {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [this](auto h, bool fails) {
                    asio::post(io_, asio::append(std::move(h),
                                                 fails ? error_code(asio::error::try_again) : error_code()));
                },
                token, made++ < failures);
        };
        auto const slow = [timer = std::make_shared<asio::steady_timer>(strand)](auto token) {
            timer->expires_after(100us);
            return timer->async_wait(std::move(token));
        };
        auto const policy = retry_policy().backoff(constant(number % 2 ? 20us : 0us)).max_attempts(4);
        auto completion =
            asio::bind_cancellation_slot(signal->slot(), asio::bind_executor(strand, std::move(handler)));
        switch (number % 4) {
        case 0:
            async_retry(io_, failing, policy, std::move(completion));
            break;
        case 1:
            async_retry(io_, failing, policy.attempt_timeout(1s), std::move(completion));
            break;
        case 2:
            async_retry(io_, slow, policy.attempt_timeout(50us), std::move(completion));
            break;
        default:
            async_retry(scope_, failing, policy, std::move(completion));
        }
        if (number % 3 == 0)
            asio::post(io_, [this, strand, signal] { how_(strand, signal); });
    }

    cancel how_;
    retry_scope scope_{io_.get_executor()};
    std::atomic<int> succeeded_ = 0;
    std::atomic<int> aborted_ = 0;
    std::atomic<int> failed_ = 0;
};

} // namespace asio_retry::test
