#include "combinations/combination.hpp"

#include <boost/asio/any_io_executor.hpp> // which the next headers want and do not include
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/experimental/promise.hpp>
#include <boost/asio/experimental/use_promise.hpp>
#include <boost/asio/strand.hpp>

namespace asio_retry::test {
namespace {

using asio::experimental::use_promise;

// Before Boost 1.82 a promise that somebody waits for hands him results that it has moved away already: an
// exception that is none.
#if BOOST_ASIO_VERSION >= 102800
using promise_combinations = all_combinations<>;
#else
using promise_combinations = all_combinations<forms_with_code, list<token_operation, plain_error_code>>;
#endif

// A promise takes the executor that is given to async_retry; one operation of it and the wait for it must not
// meet on two threads.

COMBINATION_TEST(promise, waited_for_at_once, promise_combinations) {
    expect_everything_on<Combination>(given, [](auto& t) {
        auto const strand = asio::make_strand(t.given_executor());
        asio::dispatch(strand, [&t, strand, busy = t.busy()] {
            auto promised = async_retry(strand, t.operation(), t.policy(), use_promise);
            auto const kept = std::make_shared<decltype(promised)>(std::move(promised));
            (*kept)(asio::bind_executor(
                strand, [kept, handler = t.handler()](auto const&... results) { handler(results...); }));
        });
    });
}

/// An operation that fails, and is to wait for hours.
struct promise_of_hours : testing::Test {
    promise_of_hours() {
        failing.emplace(1000, io.get_executor());
        policy = failing->policy().unlimited_attempts().backoff(constant(1h));
    }

    auto start() {
        return async_retry(io.get_executor(), token_operation::make(*failing, held), policy, use_promise);
    }

    auto note() {
        return [this](error_code ec, int) { results.push_back(ec); };
    }

    void expect_nothing_left() {
        EXPECT_EQ(failing->attempts(), 1);
        EXPECT_EQ(scheduler(io).pending(), 0u);
        held.reset();
        EXPECT_TRUE(watched.expired()) << "somebody still holds the operation";
    }

    asio::io_context io;
    virtual_time time{io};
    std::optional<story> failing;
    retry_policy policy;
    busy_token held = std::make_shared<int>();
    std::weak_ptr<void> const watched = held;
    std::vector<error_code> results;
};

TEST_F(promise_of_hours, cancelled_ends_the_wait) {
    auto promised = start();
    promised(note());
    io.poll();
    EXPECT_EQ(scheduler(io).pending(), 1u);
    promised.cancel();
    io.restart();
    io.run();
    EXPECT_EQ(results, std::vector{aborted()});
    EXPECT_TRUE(promised.completed());
    expect_nothing_left();
}

TEST_F(promise_of_hours, destroyed_ends_the_wait) {
    {
        auto promised = start();
        io.poll();
        EXPECT_EQ(scheduler(io).pending(), 1u);
    }
    io.restart();
    io.run();
    expect_nothing_left();
}

TEST_F(promise_of_hours, not_cancelled_goes_on_unobserved) {
    auto promised = start();
    promised.cancel(asio::cancellation_type::none);
    io.poll();
    promised.cancel(asio::cancellation_type::total); // which means nothing after a failure
    time.advance(1h);
    EXPECT_EQ(failing->attempts(), 2);
    EXPECT_FALSE(promised.completed());
    promised.cancel(asio::cancellation_type::terminal);
    io.restart();
    io.run();
    EXPECT_TRUE(promised.completed());
    promised(note()); // waits for what has ended already
    io.restart();
    io.run();
    EXPECT_EQ(results, std::vector{aborted()});
}

} // namespace
} // namespace asio_retry::test
