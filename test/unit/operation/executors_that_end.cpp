// Each form of operation, on each kind of executor, whose context ends at each step: each handler is called
// once or destroyed once, whatever the executor does with a turn inside `post`.

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/fresh_connection.hpp>
#include <asio_retry/inject.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry_scope.hpp>

#include "support/policies.hpp"
#include "support/scripted_operation.hpp"
#include "support/swayed_executor.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

namespace asio_retry::test {
namespace {
namespace ending_executors {

using namespace std::chrono_literals;
using tcp = asio::ip::tcp;

/// A handler that counts its calls. `held` tells whether it was destroyed.
struct counted_handler {
    std::size_t* calls;
    std::shared_ptr<int> held;
    template <typename... Args>
    void operator()(Args const&...) {
        ++*calls;
    }
};

/// What a program has at hand; the contexts outlive the scope.
struct program {
    asio::any_io_executor base;     ///< of the waits and the attempts
    asio::any_io_executor executor; ///< of the handler, on the same context
    counted_handler done;
    std::function<void()> on_step = [] {}; ///< before each half of an attempt
    retry_scope scope{base};

    /// Ends so in the second turn after its beginning, on the handler's executor.
    auto ending_with(error_code ec) {
        return [this, ec](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [this, ec](auto handler) {
                    auto const where = asio::get_associated_executor(handler, base);
                    asio::post(base, [this, ec, where, handler = std::move(handler)]() mutable {
                        on_step();
                        asio::post(where, [this, ec, handler = std::move(handler)]() mutable {
                            on_step();
                            std::move(handler)(ec);
                        });
                    });
                },
                token);
        };
    }
    auto failing() { return ending_with(refused()); }
    auto on_executor() const { return asio::bind_executor(executor, done); }
    auto awaitable() {
        return [this]() -> asio::awaitable<void> { co_await failing()(asio::use_awaitable); };
    }
};

retry_policy quick() {
    return retry_policy().backoff(constant(1ns)).jitter(no_jitter()).max_attempts(3);
}

using form = std::pair<std::string, std::function<void(program&)>>;

void connect(program& p) {
    struct connection {
        explicit connection(asio::any_io_executor const& executor, asio::any_io_executor const& base)
            : listening(base, {asio::ip::address_v4::loopback(), 0})
            , socket(executor) {}
        tcp::acceptor listening;
        tcp::socket socket;
    };
    auto const own = std::make_shared<connection>(p.executor, p.base);
    tcp::endpoint const where = own->listening.local_endpoint();
    async_retry(
        fresh_connection(own->socket, {where, where}), quick(),
        asio::bind_executor(p.executor, [own, done = p.done](error_code, tcp::endpoint) mutable { done(); }));
}

void tick(program& p) {
    auto const ticker = std::make_shared<backoff_ticker>(p.executor, quick());
    ticker->async_wait(asio::bind_executor(p.executor, [p = &p, ticker, done = p.done](auto...) {
        ticker->async_wait(asio::bind_executor(p->executor, [ticker, done](auto...) mutable { done(); }));
    }));
}

std::vector<form> const& forms() {
    static std::vector<form> const all = {
        {"callback", [](program& p) { async_retry(p.executor, p.failing(), quick(), p.on_executor()); }},
        {"limited",
         [](program& p) {
             async_retry(p.executor, p.failing(), quick().attempt_timeout(1ns), p.on_executor());
         }},
        {"left_behind",
         [](program& p) {
             async_retry(p.executor, p.failing(), quick().attempt_timeout(1ns).deliver_at_once(),
                         p.on_executor());
         }},
        {"awaited",
         [](program& p) { asio::co_spawn(p.executor, async_retry(p.awaitable(), quick()), p.done); }},
        {"awaited_and_limited",
         [](program& p) {
             asio::co_spawn(p.executor, async_retry(p.awaitable(), quick().attempt_timeout(1ns)), p.done);
         }},
        {"spawned",
         [](program& p) {
             async_retry(p.executor, p.awaitable(), quick().attempt_timeout(1ns), p.on_executor());
         }},
        {"hedge",
         [](program& p) {
             async_hedge(p.executor, p.failing(), hedge_policy(1ns).max_attempts(3), p.on_executor());
         }},
        {"hedge_that_wins",
         [](program& p) {
             async_hedge(p.base, p.ending_with(error_code()), hedge_policy(1ns).max_attempts(2),
                         p.on_executor());
         }},
        {"hedge_that_leaves_losers",
         [](program& p) {
             async_hedge(
                 p.base,
                 [n = 0, &p](auto token) mutable {
                     return p.ending_with(n++ == 0 ? error_code() : refused())(std::move(token));
                 },
                 hedge_policy(0ns).max_attempts(3).deliver_at_once(), p.on_executor());
         }},
        {"on_endpoint",
         [](program& p) {
             auto const set = std::make_shared<endpoint_set<int>>(std::vector{1, 2});
             async_retry(p.executor,
                         on_endpoint([&p](int, auto token) { return p.failing()(std::move(token)); }, set),
                         quick(), p.on_executor());
         }},
        {"injected",
         [](program& p) {
             auto const faults = std::make_shared<fault_plan>(fault_options{.delays = {1, 1ns, 1ns}});
             faults->enable();
             async_retry(p.executor, inject(p.failing(), faults), quick(), p.on_executor());
         }},
        {"in_a_scope",
         [](program& p) {
             async_retry(p.scope, p.failing(), quick().backoff(constant(1h)), p.on_executor());
             asio::post(p.base, [&p] { p.scope.cancel(); });
         }},
        {"joined",
         [](program& p) {
             async_retry(p.scope, p.failing(), quick(), asio::bind_executor(p.executor, [](error_code) {}));
             p.scope.async_join(p.on_executor());
         }},
        {"drained",
         [](program& p) {
             async_retry(p.scope, p.failing(), hourly(), asio::bind_executor(p.executor, [](error_code) {}));
             p.scope.async_drain(1ns, p.on_executor());
         }},
        {"ticker", tick},
        {"fresh_connection", connect},
    };
    return all;
}

/// An executor, and how it ends.
struct ending {
    std::string name;
    enum class where { context, older_strand, younger_strand, pool } on;
    sway::how then =
        sway::how::queues; ///< from the nth function on; otherwise the context ends at the nth turn
};

std::vector<ending> const& endings() {
    using enum ending::where;
    static std::vector<ending> const all = {
        {"context", context},
        {"older_strand", older_strand},
        {"younger_strand", younger_strand},
        {"stopped_pool", pool},
        {"one_that_throws", context, sway::how::throws},
        {"one_that_drops", context, sway::how::drops},
        {"inline", context, sway::how::runs_at_once},
        {"one_that_drops_on_a_strand", younger_strand, sway::how::drops},
    };
    return all;
}

/// Each returns whether there was an nth step.
bool destroy_context_at(int step, ending const& how, form const& what, counted_handler done) {
    bool const is_swayed = how.then != sway::how::queues;
    sway state{how.then, step};
    asio::io_context io;
    if (how.on == ending::where::younger_strand)
        scheduler(io);
    asio::any_io_executor executor = io.get_executor();
    if (how.on != ending::where::context) {
        auto const strand = asio::make_strand(io);
        executor = is_swayed ? asio::any_io_executor(swayed_executor(strand, state)) : strand;
    } else if (is_swayed) {
        executor = swayed_executor(io.get_executor(), state);
    }

    program p{io.get_executor(), executor, std::move(done)};
    try {
        what.second(p);
    } catch (std::bad_alloc const&) { // the executor takes nothing, and the initiating function says so
    }
    int turns = 0;
    while ((is_swayed || turns != step) && turns != 200) {
        try {
            if (io.run_one_for(5ms) == 0 && io.poll_one() == 0)
                break;
        } catch (std::bad_alloc const&) {
        }
        ++turns;
    }
    return is_swayed ? state.functions_before < 0 : turns == step;
}

bool stop_pool_at(int step, form const& what, counted_handler done) {
    asio::thread_pool pool(1);
    int steps = 0;
    program p{pool.get_executor(), pool.get_executor(), std::move(done), [&] {
                  if (steps++ == step)
                      pool.stop();
              }};
    asio::post(pool, [&] { what.second(p); });
    pool.join();
    return steps > step;
}

/// Asio's coroutines post in a destructor: it ends the program if their executor throws there.
std::vector<std::tuple<form, ending>> combinations() {
    std::vector<std::tuple<form, ending>> all;
    for (form const& what : forms())
        for (ending const& how : endings())
            if (how.then != sway::how::throws ||
                (!what.first.starts_with("awaited") && what.first != "spawned"))
                all.emplace_back(what, how);
    return all;
}

class executors_that_end : public testing::TestWithParam<std::tuple<form, ending>> {};

TEST_P(executors_that_end, decision_25_end_each_handler_once) {
    auto const& [what, how] = GetParam();
    int step = 0;
    for (bool has_more = true; has_more; ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        ASSERT_LT(step, 100);
        std::size_t calls = 0;
        auto const held = std::make_shared<int>();
        has_more = how.on == ending::where::pool ? stop_pool_at(step, what, {&calls, held})
                                                 : destroy_context_at(step, how, what, {&calls, held});
        EXPECT_EQ(held.use_count(), 1);
        EXPECT_LE(calls, 1u);
    }
    EXPECT_GT(step, what.first == "ticker" || what.first == "fresh_connection" ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(all, executors_that_end, testing::ValuesIn(combinations()), [](auto const& tested) {
    return std::get<0>(tested.param).first + "_on_" + std::get<1>(tested.param).name;
});

} // namespace ending_executors
} // namespace
} // namespace asio_retry::test
