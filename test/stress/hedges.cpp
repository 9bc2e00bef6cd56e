#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <random>
#include <utility>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr int all_hedges = 10'000;

/// Hedges on a pool of four threads, and retries that leave attempts behind. Each attempt has a timer of its
/// own, which often fires just when it is told to stop, and succeeds, fails, or ignores what it is told. Some
/// hedges are cancelled by a slot, on a strand, and some by a scope, on any thread. In some each attempt is a
/// retry itself.
class hedges_on_a_pool {
public:
    void run() {
        for (int i = 0; i != 40; ++i) // so many at a time
            asio::post(pool_, [this] { start_next(); });
        pool_.join();
    }

    int completed() const noexcept { return completed_; }
    int attempts() const noexcept { return attempts_; }
    std::size_t pending() { return scheduler(pool_).pending(); }

private:
    unsigned draw(unsigned below) {
        std::lock_guard const lock(mutex_);
        return static_cast<unsigned>(generator_()) % below;
    }

    auto operation() {
        return [this](attempt, auto token) {
            ++attempts_;
            return asio::async_initiate<decltype(token), void(error_code)>(
                [this](auto handler, unsigned kind, unsigned delay) {
                    if (kind == 0)
                        return std::move(handler)(error_code()); // at once
                    if (kind == 1)
                        return asio::post(pool_, asio::append(std::move(handler),
                                                              error_code(asio::error::connection_refused)));
                    auto const timer =
                        std::make_shared<asio::steady_timer>(pool_, std::chrono::microseconds(delay));
                    if (kind == 2) // deaf
                        return timer->async_wait(asio::bind_cancellation_slot(
                            asio::cancellation_slot(), asio::consign(std::move(handler), timer)));
                    timer->async_wait(asio::consign(std::move(handler), timer));
                },
                token, draw(8), draw(200));
        };
    }

    static retry_policy twice() {
        return retry_policy().max_attempts(2).backoff(constant(20us)).retry_when_nested();
    }

    /// Each attempt retries. Its executor has to be a strand.
    auto nested() {
        return [inner = operation()](attempt const& outer, auto token) {
            return async_retry(outer, inner, twice(), std::move(token));
        };
    }

    auto awaitable() {
        return [this](attempt) -> asio::awaitable<void> {
            ++attempts_;
            asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::microseconds(draw(200)));
            co_await timer.async_wait(asio::use_awaitable);
            if (draw(4) == 0)
                throw boost::system::system_error(asio::error::connection_refused);
        };
    }

    auto nested_awaitable() {
        return [inner = awaitable()](attempt outer) -> asio::awaitable<void> {
            co_await async_retry(outer, inner, twice());
        };
    }

    struct ended {
        hedges_on_a_pool* self;

        void operator()(error_code) const { note(); }
        void operator()(std::exception_ptr) const { note(); }
        void note() const {
            ++self->completed_;
            self->start_next();
        }
    };
    ended on_end() { return {this}; }

    template <typename Where, typename Operation, typename Token>
    static void begin(Where& where, Operation operation, hedge_policy const& policy, Token token) {
        async_hedge(where, std::move(operation), policy, std::move(token));
    }
    template <typename Where, typename Operation, typename Token>
    static void begin(Where& where, Operation operation, retry_policy const& policy, Token token) {
        async_retry(where, std::move(operation), policy, std::move(token));
    }

    template <typename Operation, typename Policy>
    void start_on_strand(Operation operation, Policy const& policy) {
        auto const strand = asio::make_strand(pool_);
        auto const signal = std::make_shared<asio::cancellation_signal>();
        asio::post(strand, [=, this] {
            begin(pool_, operation, policy,
                  asio::bind_cancellation_slot(signal->slot(),
                                               asio::bind_executor(strand, asio::consign(on_end(), signal))));
        });
        auto const later = std::make_shared<asio::steady_timer>(strand, std::chrono::microseconds(draw(200)));
        later->async_wait([=](error_code) {
            static_cast<void>(later);
            signal->emit(asio::cancellation_type::terminal);
        });
    }

    template <typename Operation, typename Policy, typename Executor>
    void start_in_scope(Operation operation, Policy const& policy, Executor const& executor) {
        auto const scope = std::make_shared<retry_scope>(pool_.get_executor());
        begin(*scope, std::move(operation), policy,
              asio::bind_executor(executor, asio::consign(on_end(), scope)));
        auto const later = std::make_shared<asio::steady_timer>(pool_, std::chrono::microseconds(draw(200)));
        later->async_wait([scope, later](error_code) { scope->cancel(); });
    }

    void start_next() {
        int const number = left_.fetch_sub(1);
        if (number <= 0)
            return;
        auto policy = hedge_policy(std::chrono::microseconds(draw(60)))
                          .max_attempts(1 + static_cast<std::int64_t>(draw(4)))
                          .gate(budget_);
        if (draw(3) == 0)
            policy = policy.deliver_at_once();
        if (draw(4) == 0)
            policy = policy.total_timeout(std::chrono::microseconds(draw(150)));
        if (draw(3) != 0)
            return start(policy);
        start(retry_policy()
                  .max_attempts(1 + static_cast<std::int64_t>(draw(4)))
                  .backoff(constant(20us))
                  .attempt_timeout(std::chrono::microseconds(1 + draw(150)))
                  .deliver_at_once());
    }

    template <typename Policy>
    void start(Policy const& policy) {
        switch (draw(8)) {
        case 0:
            return begin(pool_, operation(), policy, on_end());
        case 1:
            return start_on_strand(operation(), policy);
        case 2:
            return start_in_scope(operation(), policy, pool_.get_executor());
        case 3:
            return start_on_strand(nested(), policy);
        case 4:
            return start_in_scope(nested(), policy, asio::make_strand(pool_));
        case 5:
            return begin(pool_, awaitable(), policy, on_end());
        case 6:
            return start_on_strand(nested_awaitable(), policy);
        default:
            return start_in_scope(nested_awaitable(), policy, pool_.get_executor());
        }
    }

    std::mutex mutex_;
    std::mt19937 generator_{17};
    std::shared_ptr<retry_budget> const budget_ =
        std::make_shared<retry_budget>(retry_budget_options{.ratio = 1, .keep = 1000, .initial = 1000});
    std::atomic<int> left_ = all_hedges;
    std::atomic<int> completed_ = 0;
    std::atomic<int> attempts_ = 0;
    asio::thread_pool pool_{4};
};

TEST(hedges, end_once_whatever_meets_on_four_threads) {
    hedges_on_a_pool all;
    all.run();
    EXPECT_EQ(all.completed(), all_hedges);
    EXPECT_GT(all.attempts(), all_hedges) << "some were hedged";
    EXPECT_EQ(all.pending(), 0u);
}

} // namespace
} // namespace asio_retry::test
