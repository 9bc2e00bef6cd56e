#include <asio_retry/traffic/concurrency_limit.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/elements.hpp"
#include "support/gate_values.hpp"
#include "support/split_mix_64.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// The limit never changes.
struct constant_limit {
    std::uint32_t most = 1;
    std::uint32_t limit() const noexcept { return most; }
    void update(duration, std::uint32_t, bool) noexcept {}
};
using limit_type = concurrency_limit<constant_limit>;

/// A server that answers each request after `takes`, of a client with `places` of them at a time.
class queueing_client : public testing::Test {
protected:
    explicit queueing_client(std::uint32_t places = 1,
                             queue_options const& queue = {.greatest = 1000, .longest_wait = 1h})
        : limit(std::make_shared<limit_type>(constant_limit{places}, queue))
        , policy(retry_policy().max_attempts(1).gate(limit)) {}

    auto request(char name, duration takes = 10ms) {
        return [this, name, takes](auto token) {
            order += name;
            return asio::async_initiate<decltype(token), void(error_code)>(
                [this, takes](auto handler) {
                    auto timer = std::make_shared<scheduled>(io, takes);
                    timer->wait(std::move(handler));
                },
                token);
        };
    }

    /// A wait on the virtual clock: a retry that waits.
    struct scheduled : std::enable_shared_from_this<scheduled> {
        scheduled(asio::io_context& context, duration length)
            : io(context)
            , takes(length) {}
        template <typename Handler>
        void wait(Handler handler) {
            auto const self = shared_from_this();
            auto const slot = asio::get_associated_cancellation_slot(handler);
            async_retry(
                io,
                [self] { return std::exchange(self->waited, true) ? error_code() : detail::timed_out_error(); },
                retry_policy().backoff(constant(takes)).jitter(no_jitter()),
                asio::bind_cancellation_slot(
                    slot, [handler = std::move(handler)](error_code ec) mutable { std::move(handler)(ec); }));
        }
        asio::io_context& io;
        duration takes;
        bool waited = false;
    };

    void start(char name, retry_policy const& with, duration takes = 10ms) {
        async_retry(io, request(name, takes), with, [this, name](error_code ec) { note(name, ec); });
    }
    void start(char name) { start(name, policy); }

    void note(char name, error_code ec) {
        ended.push_back(std::string(1, name) + ' ' +
                        (ec ? ec == error::too_many_in_flight ? "refused" : ec.message() : "ok") + ' ' +
                        std::to_string((time.now() - began) / 1ms));
    }

    asio::io_context io{1};
    virtual_time time{io};
    time_point const began = time.now();
    std::shared_ptr<limit_type> limit;
    retry_policy policy;
    std::string order;
    std::vector<std::string> ended;
};

TEST_F(queueing_client, decision_69_operations_wait_in_the_order_of_their_arrival) {
    for (char name : std::string("abcde"))
        start(name);
    EXPECT_EQ(limit->queued(), 4u);
    time.run();
    EXPECT_EQ(order, "abcde");
    EXPECT_THAT(ended, elements("a ok 10", "b ok 20", "c ok 30", "d ok 40", "e ok 50"));
    EXPECT_EQ(limit->queued(), 0u);
    EXPECT_EQ(limit->in_flight(), 0u);
}

TEST_F(queueing_client, a_higher_priority_comes_first) {
    start('a');
    start('b', policy.priority(request_priority::low));
    start('c');
    start('d', policy.priority(request_priority::high));
    start('e');
    start('f', policy.priority(request_priority::high));
    time.run();
    EXPECT_EQ(order, "adfceb");
}

TEST_F(queueing_client, decision_69_a_constant_service_time_leaves_no_place_idle) {
    for (int i = 0; i != 800; ++i)
        start('a');
    time.run();
    EXPECT_EQ(time.now() - began, 8s) << "8 s of work";
}

TEST_F(queueing_client, a_wait_in_the_queue_ends_after_the_longest_wait) {
    limit =
        std::make_shared<limit_type>(constant_limit{1}, queue_options{.greatest = 1000, .longest_wait = 25ms});
    policy = policy.gate(limit);
    for (char name : std::string("abcd"))
        start(name);
    time.run();
    EXPECT_THAT(ended, elements("a ok 10", "b ok 20", "d refused 25", "c ok 30"));
}

TEST_F(queueing_client, a_full_queue_refuses) {
    limit = std::make_shared<limit_type>(constant_limit{1}, queue_options{.greatest = 2});
    policy = policy.gate(limit);
    for (char name : std::string("abcd"))
        start(name);
    time.run();
    EXPECT_THAT(ended, elements("d refused 0", "a ok 10", "b ok 20", "c ok 30"));
}

TEST_F(queueing_client, a_full_queue_expels_the_last_of_a_lower_priority) {
    limit = std::make_shared<limit_type>(constant_limit{1}, queue_options{.greatest = 3});
    policy = policy.gate(limit);
    start('a');
    start('b', policy.priority(request_priority::low));
    start('c', policy.priority(request_priority::low));
    start('d');
    start('e');
    start('f', policy.priority(request_priority::high));
    start('g', policy.priority(request_priority::low));
    start('h');
    time.run();
    EXPECT_THAT(ended, testing::UnorderedElementsAre("g refused 0", "h refused 0", "b refused 0", "c refused 0",
                                                     "a ok 10", "f ok 20", "d ok 30", "e ok 40"));
}

TEST_F(queueing_client, the_limits_of_the_operation_end_a_wait_in_the_queue) {
    start('a', policy, 50ms);
    start('b', policy.total_timeout(20ms));
    start('c', policy.deadline(began + 30ms));
    start('d', policy.max_elapsed(40ms));
    start('e');
    time.run();
    EXPECT_THAT(ended, elements("b " + detail::timed_out_error().message() + " 20",
                                "c " + detail::timed_out_error().message() + " 30", "d refused 40", "a ok 50",
                                "e ok 60"));
    EXPECT_EQ(order, "ae");
    EXPECT_EQ(limit->in_flight(), 0u);
}

TEST_F(queueing_client, a_cancelled_operation_leaves_the_queue) {
    asio::cancellation_signal signal;
    start('a');
    async_retry(io, request('b'), policy,
                asio::bind_cancellation_slot(signal.slot(), [this](error_code ec) { note('b', ec); }));
    start('c');
    time.advance(5ms);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_THAT(ended, elements("b " + detail::aborted_error().message() + " 5", "a ok 10", "c ok 20"));
    EXPECT_EQ(order, "ac");
}

TEST_F(queueing_client, a_drain_ends_the_waits_in_the_queue) {
    retry_scope scope(io.get_executor());
    start('a');
    for (char name : std::string("bc"))
        async_retry(scope, request(name), policy, [this, name](error_code ec) { note(name, ec); });
    start('d');
    time.advance(5ms);
    scope.async_drain(1s, [](error_code, std::size_t) {});
    time.run();
    std::string const aborted = detail::aborted_error().message() + " 5";
    EXPECT_THAT(ended, elements("b " + aborted, "c " + aborted, "a ok 10", "d ok 20"));
}

TEST_F(queueing_client, a_retry_waits_in_the_queue_again) {
    start('a');
    auto const fails_once = [this, failed = false]() mutable {
        order += 'b';
        return std::exchange(failed, true) ? error_code() : detail::timed_out_error();
    };
    async_retry(io, fails_once, policy.max_attempts(2).backoff(constant(5ms)).jitter(no_jitter()),
                [this](error_code ec) { note('b', ec); });
    start('c');
    time.run();
    EXPECT_EQ(order, "abcb");
    EXPECT_THAT(ended, elements("a ok 10", "c ok 20", "b ok 20"));
}

TEST_F(queueing_client, retry_now_does_not_end_a_wait_in_the_queue) {
    retry_scope scope(io.get_executor());
    start('a');
    async_retry(scope, request('b'), policy, [this](error_code ec) { note('b', ec); });
    time.advance(5ms);
    scope.retry_now();
    time.run();
    EXPECT_THAT(ended, elements("a ok 10", "b ok 20"));
}

TEST_F(queueing_client, a_destroyed_context_leaves_the_queue) {
    std::optional<asio::io_context> other(std::in_place, 1);
    start('a');
    async_retry(*other, request('b'), policy, [this](error_code ec) { note('b', ec); });
    start('c');
    EXPECT_EQ(limit->queued(), 2u);
    other.reset();
    EXPECT_EQ(limit->queued(), 1u);
    time.run();
    EXPECT_THAT(ended, elements("a ok 10", "c ok 20"));
}

// A place that was granted to an operation that ends at the same time goes to the next one.
TEST_F(queueing_client, decision_69_no_place_is_lost_when_an_operation_ends_as_it_is_granted) {
    asio::cancellation_signal signal;
    async_retry(io, request('a'), policy, [&](error_code ec) {
        note('a', ec);
        signal.emit(asio::cancellation_type::terminal); // b has been granted the place
    });
    async_retry(io, request('b'), policy,
                asio::bind_cancellation_slot(signal.slot(), [this](error_code ec) { note('b', ec); }));
    start('c');
    time.run();
    EXPECT_THAT(ended, elements("a ok 10", "b " + detail::aborted_error().message() + " 10", "c ok 20"));
    EXPECT_EQ(limit->in_flight(), 0u);
}

// Whenever it is cancelled, and however: the others get their places.
TEST_F(queueing_client, decision_69_a_cancellation_at_any_time_loses_no_place) {
    for (auto const type :
         {asio::cancellation_type::terminal, asio::cancellation_type::partial, asio::cancellation_type::total})
        for (bool const is_awaited : {false, true})
            for (int at = 0; at != 45; ++at) {
                SCOPED_TRACE(std::to_string(at) + (is_awaited ? ", awaited" : ""));
                ended.clear();
                auto const signal = std::make_shared<asio::cancellation_signal>();
                start('a');
                start('b');
                if (is_awaited)
                    asio::co_spawn(
                        io,
                        [this]() -> asio::awaitable<void> {
                            co_await asio::this_coro::reset_cancellation_state(
                                asio::enable_total_cancellation());
                            error_code ec;
                            co_await async_retry(request('x'), policy,
                                                 asio::redirect_error(asio::use_awaitable, ec));
                            note('x', ec);
                        },
                        asio::bind_cancellation_slot(signal->slot(), asio::detached));
                else
                    async_retry(
                        io, request('x'), policy,
                        asio::bind_cancellation_slot(signal->slot(), [this](error_code ec) { note('x', ec); }));
                start('c');
                time.advance(at * 1ms);
                signal->emit(type);
                time.run();
                ASSERT_EQ(ended.size(), 4u);
                EXPECT_EQ(limit->in_flight(), 0u);
                EXPECT_EQ(limit->queued(), 0u);
                for (std::string const& each : ended)
                    EXPECT_TRUE(each.starts_with("x ") || each.find(" ok ") != each.npos) << each;
            }
}

TEST_F(queueing_client, decision_69_a_hedge_is_refused_and_keeps_no_time) {
    auto const rate = std::make_shared<rate_limit>(10, 1s);
    EXPECT_EQ(rate->admit(1, time.now()).until, time.now());
    async_hedge(io, request('a'), hedge_policy(5ms).gate(rate), [this](error_code ec) { note('a', ec); });
    time.run();
    EXPECT_THAT(ended, elements("a " + make_error_code(error::rate_limited).message() + " 0"));
    EXPECT_EQ(rate->admit(1, time.now()).until, time.now() + 100ms);
}

TEST_F(queueing_client, a_coroutine_waits_too) {
    start('a');
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto [ec] = co_await async_retry(request('b'), policy, asio::as_tuple(asio::use_awaitable));
            note('b', ec);
        },
        asio::detached);
    start('c');
    time.run();
    EXPECT_THAT(ended, elements("a ok 10", "c ok 20", "b ok 30"));
}

TEST_F(queueing_client, a_blocking_retry_is_refused) {
    start('a');
    auto const try_once = [] {};
    EXPECT_THROW(
        try { retry(try_once, policy); } catch (boost::system::system_error const& e) {
            EXPECT_EQ(e.code(), error::too_many_in_flight);
            throw;
        },
        boost::system::system_error);
    time.run();
}

TEST_F(queueing_client, decision_69_other_gates_have_admitted_an_operation_that_waits) {
    auto const breaker = std::make_shared<circuit_breaker>();
    auto const rate = std::make_shared<rate_limit>(50, 1s);
    policy = policy.gate(all_gates({breaker, limit, rate})).wait_when_refused();
    for (char name : std::string("abcd"))
        start(name);
    time.run();
    EXPECT_THAT(ended, elements("a ok 10", "b ok 30", "c ok 50", "d ok 70")) << "one each 20 ms";
    EXPECT_EQ(limit->in_flight(), 0u);
}

TEST_F(queueing_client, a_wait_for_a_reserved_time_counts_for_max_waited_as_long_as_it_was) {
    auto const rate = std::make_shared<rate_limit>(10, 1s);
    EXPECT_EQ(rate->admit(1, time.now()).until, time.now());
    auto const fails_once = [failed = false]() mutable {
        return std::exchange(failed, true) ? error_code() : detail::timed_out_error();
    };
    retry_policy const twice = policy.gate(rate).max_attempts(2).backoff(constant(5ms)).jitter(no_jitter());
    async_retry(io, fails_once, twice.wait_when_refused().max_waited(200ms),
                [this](error_code ec) { note('a', ec); });
    time.run();
    EXPECT_THAT(ended, elements("a ok 200")) << "100 ms, 5 ms of the backoff, and 95 ms";
}

TEST_F(queueing_client, a_queue_option_that_makes_no_sense_is_refused) {
    EXPECT_THROW(limit_type(constant_limit(), {.greatest = 1, .longest_wait = 0s}), std::invalid_argument);
}

// --- twice the load

/// Twenty places that serve 5 to 15 ms at a time, at a load; returns the 99th percentile of what a tenth of the
/// operations take.
duration p99_of_high(double load, bool has_priority) {
    asio::io_context io(1);
    virtual_time time(io);
    constexpr std::uint32_t places = 20;
    auto const limit =
        std::make_shared<limit_type>(constant_limit{places}, queue_options{.greatest = 50, .longest_wait = 1s});
    retry_policy const policy = retry_policy().max_attempts(1).gate(limit);
    split_mix_64 random{7};
    std::vector<duration> took;
    duration const between = std::chrono::duration_cast<duration>(10ms / (load * places));
    for (int i = 0; i != 20'000; ++i) {
        bool const is_high = random.up_to(9) == 0;
        time_point const began = time.now();
        auto waited = std::make_shared<bool>(false);
        auto const takes = std::chrono::microseconds(5000 + random.up_to(10'000));
        auto const serve = [waited, takes, &io](auto token) {
            return async_retry(
                io,
                [waited] { return std::exchange(*waited, true) ? error_code() : detail::timed_out_error(); },
                retry_policy().backoff(constant(takes)).jitter(no_jitter()), std::move(token));
        };
        auto const rank = is_high && has_priority ? request_priority::high : request_priority::normal;
        async_retry(io, serve, policy.priority(rank), [&, began, is_high](error_code ec) {
            if (is_high)
                took.push_back(ec ? 1h : time.now() - began);
        });
        time.advance(between);
    }
    time.run();
    std::ranges::sort(took);
    return took[took.size() * 99 / 100];
}

TEST(attempt_queue, decision_69_a_high_priority_keeps_its_time_at_twice_the_load) {
    duration const unloaded = p99_of_high(0.5, true);
    EXPECT_NEAR(static_cast<double>(unloaded.count()), 14.9e6, 0.1e6);
    EXPECT_LE(p99_of_high(2, true), unloaded * 12 / 10);
    EXPECT_GT(p99_of_high(2, false), unloaded * 2) << "without a priority";
}

} // namespace
} // namespace asio_retry::test
