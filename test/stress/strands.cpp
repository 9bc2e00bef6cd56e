#include "stress/counted_operations.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

/// What can be cancelled, each cancelled on its strand while time limits, scopes and completions meet it from
/// four threads.
class cancelled_on_strands final : public counted_operations {
    using strand = asio::strand<asio::any_io_executor>;
    using signal = std::shared_ptr<asio::cancellation_signal>;
    using scope = std::shared_ptr<retry_scope>;

private:
    /// The next one starts when this one has ended.
    class turn {
    public:
        explicit turn(cancelled_on_strands& all) noexcept
            : all_(&all) {}
        template <typename... Args>
        void operator()(Args const&...) const {
            all_->complete_one();
        }

    private:
        cancelled_on_strands* all_;
    };

    void start(int number) override {
        strand const where(io_.get_executor());
        auto const cancelling = std::make_shared<asio::cancellation_signal>();
        asio::post(where, [this, where, cancelling, number] { begin(where, cancelling, number); });
        at(std::chrono::microseconds(number % 97), [where, cancelling] {
            asio::post(where, [cancelling] { cancelling->emit(asio::cancellation_type::terminal); });
        });
    }

    void begin(strand const& where, signal const& cancelling, int number) {
        switch (number % 9) {
        case 0:
        case 1:
            return start_timers(where, cancelling, number % 2 ? policy_ : policy_.attempt_timeout(30us));
        case 2:
        case 3:
            return start_coroutine(where, cancelling, number % 2 ? policy_ : policy_.attempt_timeout(30us));
        case 4:
            return start_awaitables(number % 3 ? policy_ : policy_.attempt_timeout(30us));
        case 5:
            return start_join(where, cancelling, number % 3);
        case 6:
            return start_coroutine_in_scope(where, cancelling,
                                            number % 2 ? policy_ : policy_.attempt_timeout(30us));
        default:
            return start_ticker(where, cancelling, number % 5);
        }
    }

    auto handler(strand const& where, signal const& cancelling) {
        return asio::bind_cancellation_slot(cancelling->slot(),
                                            asio::bind_executor(where, asio::consign(turn(*this), cancelling)));
    }

    /// Single operations, interrupted by their caller, a time limit and a scope.
    void start_timers(strand const& where, signal const& cancelling, retry_policy const& policy) {
        auto const in = make_scope();
        auto const attempt = [this](auto token) {
            auto const timer = std::make_shared<asio::steady_timer>(io_, 30us);
            return timer->async_wait(asio::consign(std::move(token), timer));
        };
        async_retry(*in, fail_if(attempt, [] { return true; }), policy, handler(where, cancelling));
    }

    /// One coroutine for the session and its attempts, or, with limits, one of its own for these.
    void start_coroutine(strand const& where, signal const& cancelling, retry_policy const& policy) {
        asio::co_spawn(where, session(policy), handler(where, cancelling));
    }

    static asio::awaitable<void> failing() {
        asio::steady_timer timer(co_await asio::this_coro::executor, 20us);
        co_await timer.async_wait(asio::use_awaitable);
        throw std::runtime_error("failure");
    }

    void start_coroutine_in_scope(strand const& where, signal const& cancelling, retry_policy const& policy) {
        asio::co_spawn(where, session_in(make_scope(), policy), handler(where, cancelling));
    }

    static asio::awaitable<void> session_in(scope in, retry_policy policy) {
        co_await async_retry(*in, failing, policy);
    }

    static asio::awaitable<void> session(retry_policy policy) { co_await async_retry(failing, policy); }

    /// Without a strand of the caller's.
    void start_awaitables(retry_policy const& policy) {
        async_retry(*make_scope(), failing, policy, turn(*this));
    }

    /// A join or a drain, which end with the last operation if nobody cancels them.
    void start_join(strand const& where, signal const& cancelling, int kind) {
        auto const in = make_scope();
        async_retry(*in, failing, policy_, asio::detached);
        if (kind == 0)
            in->async_join(handler(where, cancelling));
        else
            in->async_drain(kind * 30us, handler(where, cancelling));
    }

    void start_ticker(strand const& where, signal const& cancelling, int disturbance) {
        auto const ticker = std::make_shared<backoff_ticker>(where, policy_);
        tick(ticker, where, cancelling);
        at(30us, [ticker, where, disturbance] {
            asio::post(where, [ticker, disturbance] {
                if (disturbance == 0)
                    ticker->stop();
                else if (disturbance == 1)
                    ticker->reset();
                else if (disturbance == 2)
                    ticker->retry_now();
            });
        });
    }

    void tick(std::shared_ptr<backoff_ticker> const& ticker, strand const& where, signal const& cancelling) {
        auto on_tick = [this, ticker, where, cancelling](error_code ec) {
            if (ec)
                turn (*this)();
            else
                tick(ticker, where, cancelling);
        };
        ticker->async_wait(
            asio::bind_cancellation_slot(cancelling->slot(), asio::bind_executor(where, std::move(on_tick))));
    }

    /// Cancelled from whichever thread it happens to be; lives until then.
    scope make_scope() {
        auto result = std::make_shared<retry_scope>(io_.get_executor());
        at(60us, [result] { result->cancel(); });
        return result;
    }

    retry_policy const policy_ = retry_policy().backoff(constant(10us)).max_attempts(20);
};

TEST(strands, decision_46_cancellations_on_a_strand_meet_limits_and_scopes) {
    cancelled_on_strands().expect_to_complete(20'000);
}

} // namespace
} // namespace asio_retry::test
