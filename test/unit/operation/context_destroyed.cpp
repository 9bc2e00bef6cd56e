#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry_scope.hpp>

#include "support/policies.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// A handler that posts itself so many times before it calls the one in it.
template <typename Handler>
struct hop {
    asio::io_context* io;
    int left;
    Handler handler;

    void operator()() {
        if (left-- == 0)
            return std::move(handler)(refused());
        asio::post(*io, std::move(*this));
    }
};

/// An operation that fails after some turns of the context.
template <typename Token>
auto async_hops(asio::io_context& io, int hops, Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [&io, hops](auto handler) { asio::post(io, hop<decltype(handler)>{&io, hops, std::move(handler)}); },
        token);
}

struct held_handler {
    std::size_t* calls;
    std::shared_ptr<int> held;
    template <typename... Args>
    void operator()(Args const&...) {
        ++*calls;
    }
};

/// What a program has at hand. The scope ends before the context, as it has to.
struct at_hand {
    asio::io_context io;
    retry_scope scope{io.get_executor()};
    asio::cancellation_signal signal;
    int hops = 0;

    auto hopping() {
        return [this](auto token) { return async_hops(io, hops, std::move(token)); };
    }
};

/// On a strand, where nothing is spawned for the operation.
void spawn_in_scope(at_hand& s, held_handler done, retry_policy policy) {
    auto operation = [&s]() -> asio::awaitable<void> { co_await s.hopping()(asio::use_awaitable); };
    asio::co_spawn(asio::make_strand(s.io), async_retry(s.scope, operation, std::move(policy)), done);
}

struct program {
    std::string name;
    std::function<void(at_hand&, held_handler)> begin;
};

std::ostream& operator<<(std::ostream& out, program const& p) {
    return out << p.name;
}

std::vector<program> programs() {
    return {
        {"plain", [](at_hand& s, auto done) { async_retry(s.io, s.hopping(), hourly(), done); }},
        {"ended_at_once",
         [](at_hand& s, auto done) { async_retry(s.io, [held = done.held] {}, hourly(), done); }},
        {"ended_at_once_in_a_scope",
         [](at_hand& s, auto done) { async_retry(s.scope, [] { return error_code(); }, hourly(), done); }},
        {"without_delay",
         [](at_hand& s, auto done) {
             async_retry(s.io, s.hopping(), hourly().backoff(constant(0ms)).max_attempts(4), done);
         }},
        {"limited",
         [](at_hand& s, auto done) { async_retry(s.io, s.hopping(), hourly().attempt_timeout(1ns), done); }},
        {"limited_and_retried",
         [](at_hand& s, auto done) {
             async_retry(s.io, s.hopping(),
                         hourly().backoff(constant(1ns)).attempt_timeout(1ns).max_attempts(3), done);
         }},
        {"cancels_its_scope",
         [](at_hand& s, auto done) {
             async_retry(s.scope, [&s] { return s.scope.cancel(), refused(); }, hourly(), done);
         }},
        {"cancels_its_scope_under_a_limit",
         [](at_hand& s, auto done) {
             async_retry(
                 s.scope, [&s] { return s.scope.cancel(), refused(); }, hourly().attempt_timeout(1ns), done);
         }},
        {"scope_cancelled_in_an_attempt",
         [](at_hand& s, auto done) {
             async_retry(s.scope, s.hopping(), hourly(), done);
             s.scope.cancel();
         }},
        {"scope_cancelled_in_a_wait",
         [](at_hand& s, auto done) {
             async_retry(s.scope, [] { return refused(); }, hourly(), done);
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.cancel(); });
         }},
        {"scope_cancelled_and_attempt_limited",
         [](at_hand& s, auto done) {
             async_retry(s.scope, s.hopping(), hourly().attempt_timeout(1ns), done);
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.cancel(); });
         }},
        {"drained",
         [](at_hand& s, auto done) {
             async_retry(s.scope, s.hopping(), hourly(), done);
             async_hops(s.io, s.hops, [&s, done](error_code) {
                 s.scope.async_drain(1h, [done](error_code ec, std::size_t) mutable { done(ec); });
             });
         }},
        {"drained_to_its_timeout",
         [](at_hand& s, auto done) {
             async_retry(s.scope, s.hopping(), hourly(), done);
             s.scope.async_drain(0s, [done](error_code ec, std::size_t) mutable { done(ec); });
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.cancel(); });
         }},
        {"sent_to_retry_now",
         [](at_hand& s, auto done) {
             async_retry(s.scope, [] { return refused(); }, hourly().max_attempts(3), done);
             s.scope.retry_now();
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.retry_now(); });
         }},
        {"without_room",
         [](at_hand& s, auto done) {
             s.scope.max_pending(1);
             async_retry(s.scope, s.hopping(), hourly(), done);
             async_retry(s.scope, s.hopping(), hourly(), done);
         }},
        {"joined",
         [](at_hand& s, auto done) {
             async_retry(s.scope, s.hopping(), hourly(), done);
             s.scope.async_join(done);
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.cancel(); });
         }},
        {"signalled",
         [](at_hand& s, auto done) {
             async_retry(
                 s.io, [] { return refused(); }, hourly(), asio::bind_cancellation_slot(s.signal.slot(), done));
             async_hops(s.io, s.hops, [&s](error_code) { s.signal.emit(asio::cancellation_type::terminal); });
         }},
        {"awaitable_called_back",
         [](at_hand& s, auto done) {
             auto operation = [&s]() -> asio::awaitable<void> { co_await s.hopping()(asio::use_awaitable); };
             async_retry(s.scope, operation, hourly().attempt_timeout(1ns), done);
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.cancel(); });
         }},
        {"awaited",
         [](at_hand& s, auto done) {
             auto operation = [&s]() -> asio::awaitable<void> { co_await s.hopping()(asio::use_awaitable); };
             asio::co_spawn(s.io, async_retry(operation, hourly().backoff(constant(1ns)).max_attempts(3)),
                            done);
         }},
        {"awaited_with_a_value_that_it_does_not_wait_for", // AddressSanitizer looks for the value's place
         [](at_hand& s, auto done) {
             auto operation = [&s]() -> asio::awaitable<int> {
                 co_await s.hopping()(asio::use_awaitable);
                 co_return 1;
             };
             asio::co_spawn(s.io, async_retry(operation, hourly().deliver_at_once().attempt_timeout(1h)), done);
         }},
        {"awaited_in_a_scope",
         [](at_hand& s, auto done) {
             spawn_in_scope(s, done, hourly().backoff(constant(1ns)).max_attempts(3));
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.cancel(); });
         }},
        {"awaited_in_a_scope_under_a_limit",
         [](at_hand& s, auto done) {
             spawn_in_scope(s, done, hourly().attempt_timeout(1ns));
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.cancel(); });
         }},
        {"awaited_in_a_scope_and_joined",
         [](at_hand& s, auto done) {
             spawn_in_scope(s, done, hourly());
             s.scope.async_join([](error_code) {});
             async_hops(s.io, s.hops + 1, [&s](error_code) { s.scope.cancel(); });
         }},
        {"awaited_in_a_scope_and_drained",
         [](at_hand& s, auto done) {
             spawn_in_scope(s, done, hourly());
             async_hops(s.io, s.hops, [&s](error_code) {
                 s.scope.async_drain(1h, [](error_code, std::size_t) {});
                 s.scope.retry_now();
             });
         }},
        {"nested_under_limits",
         [](at_hand& s, auto done) {
             auto inner = [&s](auto token) {
                 return async_retry(s.scope, s.hopping(), hourly(), std::move(token));
             };
             async_retry(s.io, inner, hourly().attempt_timeout(2h), done);
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.cancel(); });
         }},
        {"on_a_strand",
         [](at_hand& s, auto done) {
             async_retry(s.scope, s.hopping(), hourly().attempt_timeout(1ns),
                         asio::bind_executor(asio::make_strand(s.io), done));
             async_hops(s.io, s.hops, [&s](error_code) { s.scope.cancel(); });
         }},
    };
}

/// Runs what is ready or will be at once, where only waits of an hour are left beside it. A busy machine may
/// let the five milliseconds pass before anything was looked at.
bool run_a_turn(asio::io_context& io) {
    return io.run_one_for(5ms) != 0 || io.poll_one() != 0;
}

class context_destroyed : public testing::TestWithParam<program> {};

// After any number of turns each handler is destroyed once, and what was not called by then never is.
TEST_P(context_destroyed, decision_25_after_every_turn) {
    for (int hops = 0; hops != 4; ++hops) {
        std::size_t wanted = 0, turns = 0;
        do {
            SCOPED_TRACE(std::to_string(hops) + " hops, " + std::to_string(wanted) + " turns");
            ASSERT_LT(wanted, 100u);
            std::size_t calls = 0, calls_before = 0;
            auto const held = std::make_shared<int>();
            {
                at_hand s;
                s.hops = hops;
                GetParam().begin(s, held_handler{&calls, held});
                for (turns = 0; turns != wanted && run_a_turn(s.io);)
                    ++turns;
                calls_before = calls;
            }
            EXPECT_EQ(held.use_count(), 1);
            EXPECT_EQ(calls, calls_before);
            EXPECT_LE(calls, 2u);
        } while (turns == wanted++);
        EXPECT_GT(turns, 0u);
    }
}

/// What ended in its initiating function waits for the context of its handler alone.
void expect_delivered_without(void (*begin)(asio::io_context& waits_on, asio::io_context& elsewhere,
                                            held_handler done)) {
    std::size_t calls = 0;
    asio::io_context elsewhere;
    {
        asio::io_context io;
        begin(io, elsewhere, held_handler{&calls, nullptr});
        EXPECT_EQ(io.poll(), 0u);
        EXPECT_TRUE(io.stopped());
    }
    EXPECT_EQ(calls, 0u);
    elsewhere.run();
    EXPECT_EQ(calls, 1u);
}

TEST(context_of_the_waits, is_not_kept_running_for_a_delivery_elsewhere) {
    expect_delivered_without([](asio::io_context& io, asio::io_context& elsewhere, held_handler done) {
        async_retry(io, [] { return error_code(); }, retry_policy(), asio::bind_executor(elsewhere, done));
    });
}

TEST(context_of_the_waits, nor_for_that_of_a_hedge) {
    expect_delivered_without([](asio::io_context& io, asio::io_context& elsewhere, held_handler done) {
        async_hedge(io, [] { return error_code(); }, hedge_policy(1h), asio::bind_executor(elsewhere, done));
    });
}

INSTANTIATE_TEST_SUITE_P(programs, context_destroyed, testing::ValuesIn(programs()),
                         [](auto const& tested) { return tested.param.name; });

} // namespace
} // namespace asio_retry::test
