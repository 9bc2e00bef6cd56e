#include "stress/watchdog.hpp"

#include <asio_retry/async_retry.hpp>

#include "support/naps.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <ostream>
#include <random>
#include <thread>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace asio::experimental::awaitable_operators;
using std::chrono::microseconds;

constexpr int pools = 40;

struct tally {
    std::atomic<int> begun = 0;
    std::atomic<int> ended = 0;
    std::atomic<int> overlapping = 0;   // attempts of one operation
    std::atomic<int> led_elsewhere = 0; // coroutines that go on where they were not
};

retry_policy short_of_time() {
    return retry_policy()
        .backoff(constant(microseconds(100)))
        .max_attempts(3)
        .attempt_timeout(microseconds(2000));
}

/// Attempts as people write them: they throw, choose between two, retry something themselves, or take no notice
/// of being told to stop.
class attempts_of_all_kinds {
public:
    attempts_of_all_kinds(tally& counts, retry_scope* scope, unsigned seed, bool composes, int depth = 0)
        : counts_(&counts)
        , scope_(scope)
        , seed_(seed)
        , composes_(composes)
        , depth_(depth) {}

    asio::awaitable<void> operator()(attempt number) {
        struct alone {
            explicit alone(attempts_of_all_kinds& of)
                : all(of) {
                if (all.running_->fetch_add(1) != 0)
                    ++all.counts_->overlapping;
            }
            ~alone() { all.running_->fetch_sub(1); }
            attempts_of_all_kinds& all;
        } const here(*this);

        dice roll(seed_ + unsigned(number.number));
        if (roll(2))
            number.mark_healthy();
        if (roll(4) == 0)
            throw boost::system::system_error(asio::error::connection_reset);
        switch (depth_ > 0 ? 6 * roll(2) : roll(7)) {
        case 1:
            if (composes_)
                co_await (nap(roll(400)) || nap(roll(400)));
            break;
        case 2:
            co_await async_retry(nested(), short_of_time());
            break;
        case 3:
            if (composes_)
                co_await (async_retry(nested(), short_of_time()) || nap(roll(600)));
            break;
        case 4:
            if (scope_)
                co_await async_retry(*scope_, nested(), short_of_time());
            break;
        case 5:
            co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
            try {
                co_await nap(800);
            } catch (std::exception const&) {
            }
            break;
        case 6:
            for (int i = roll(6); i != 0; --i) {
                co_await nap(roll(200));
                number.progress();
            }
            break;
        default:
            co_await nap(roll(400));
        }
        if (roll(3) == 0)
            throw std::runtime_error("failure");
    }

private:
    attempts_of_all_kinds nested() const { return {*counts_, scope_, seed_ * 3, composes_, depth_ + 1}; }

    tally* counts_;
    retry_scope* scope_;
    unsigned seed_;
    bool composes_; // whether parts of an attempt run one at a time
    int depth_;
    std::shared_ptr<std::atomic<int>> running_ = std::make_shared<std::atomic<int>>(0);
};

retry_policy any_policy(dice& roll, bool has_limit) {
    retry_policy result = retry_policy()
                              .backoff(exponential(microseconds(50 + roll(200))))
                              .max_attempts(1 + roll(5))
                              .retry_if(any_failure);
    if (has_limit || roll(2))
        result = result.attempt_timeout(microseconds(200 + roll(2000)));
    if (roll(2))
        result = result.total_timeout(microseconds(500 + roll(5000)));
    if (roll(3) == 0)
        result = result.setup_timeout(microseconds(100 + roll(400)));
    if (roll(3) == 0)
        result = result.idle_timeout(microseconds(100 + roll(400)));
    return result;
}

asio::awaitable<void> session(tally& counts, retry_scope* scope, unsigned seed, bool on_strand) {
    dice roll(seed);
    asio::any_io_executor const before = co_await asio::this_coro::executor;
    for (int i = 0; i != 6; ++i) {
        ++counts.begun;
        try {
            // With a time limit the attempts have a strand, wherever their caller is.
            bool const has_limit = roll(2) != 0;
            attempts_of_all_kinds const attempts(counts, scope, seed * 100 + unsigned(i),
                                                 on_strand || has_limit);
            retry_policy const policy = any_policy(roll, has_limit);
            int const way = roll(3);
            if (way == 0 && scope)
                co_await async_retry(*scope, attempts, policy);
            else if (way == 1 && on_strand)
                co_await (async_retry(attempts, policy) || nap(roll(2000)));
            else
                co_await async_retry(attempts, policy);
        } catch (std::exception const&) {
        }
        if (before != co_await asio::this_coro::executor)
            ++counts.led_elsewhere;
        ++counts.ended;
    }
}

/// Forty sessions on four threads, each second one on a strand, and a scope for half of them that somebody
/// cancels. `ends_early` stops the threads while sessions run, and destroys what is left.
void run_round(tally& counts, watchdog& dog, unsigned seed, bool ends_early) {
    dice roll(seed);
    asio::thread_pool pool(4);
    retry_scope scope(pool);
    for (unsigned i = 0; i != 40; ++i) {
        bool const on_strand = i % 2 == 0;
        asio::any_io_executor const where = on_strand ? asio::any_io_executor(asio::make_strand(pool))
                                                      : asio::any_io_executor(pool.get_executor());
        asio::co_spawn(where, session(counts, roll(2) ? &scope : nullptr, seed * 1000 + i, on_strand),
                       [&dog](std::exception_ptr) { dog.moved(); });
    }
    if (ends_early) {
        asio::steady_timer(pool, microseconds(roll(8000))).wait();
        pool.stop();
    } else if (roll(2)) {
        asio::steady_timer(pool, microseconds(roll(8000))).wait();
        scope.cancel();
    }
    pool.join();
}

class coroutines : public testing::Test {
protected:
    tally counts;
    watchdog dog{[this](std::ostream& out) { out << counts.ended << " of " << counts.begun << " have ended"; }};

    void run(bool ends_early) {
        for (unsigned round = 1; round <= unsigned(pools); ++round) {
            SCOPED_TRACE(round);
            run_round(counts, dog, round, ends_early);
        }
        EXPECT_EQ(counts.overlapping, 0);
        EXPECT_EQ(counts.led_elsewhere, 0);
    }
};

TEST_F(coroutines, of_a_pool_retry_whatever_their_attempts_do) {
    run(false);
    EXPECT_EQ(counts.ended, pools * 40 * 6);
}

TEST_F(coroutines, of_a_pool_are_destroyed_with_it) {
    run(true);
    EXPECT_LE(counts.ended, counts.begun);
}

} // namespace
} // namespace asio_retry::test
