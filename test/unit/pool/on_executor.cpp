// Functions that block on a pool, as the attempts of operations whose waits are in virtual time.
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/inject.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/on_executor.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include "support/elements.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"

#include <boost/asio.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/system/result.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// What a function on the pool waits for.
class pool_gate {
public:
    void open() { opened_.set_value(); }
    void pass() { future_.wait(); }

    /// A function that waits here, and then returns the value.
    auto then(int value) {
        return [this, value] {
            began.set_value();
            pass();
            return value;
        };
    }

    std::promise<void> began;

private:
    std::promise<void> opened_;
    std::shared_future<void> future_ = opened_.get_future().share();
};

class on_executor_test : public testing::Test, protected in_virtual_time {
protected:
    asio::thread_pool pool{1};
    std::thread::id const here = std::this_thread::get_id();
    std::optional<std::pair<std::exception_ptr, int>> ended;

    auto note_end() {
        return [this](std::exception_ptr e, int value) {
            EXPECT_EQ(std::this_thread::get_id(), here);
            EXPECT_FALSE(ended);
            ended.emplace(e, value);
        };
    }

    /// Waits take no time; for the pool this waits.
    template <typename Done>
    void run_until(Done done) {
        for (;;) {
            time.run();
            if (done())
                return;
            io.restart();
            io.run_one();
        }
    }
    void run_to_end() {
        run_until([this] { return ended.has_value(); });
    }

    void run_coroutine(asio::awaitable<void> body) {
        bool done = false;
        asio::co_spawn(io, std::move(body), [&](std::exception_ptr e) {
            done = true;
            if (e)
                std::rethrow_exception(e);
        });
        run_until([&] { return done; });
    }

    error_code ended_with() const { return ended->first ? code_of(ended->first) : error_code(); }
};

TEST_F(on_executor_test, runs_on_the_pool_and_completes_on_the_executor_of_the_operation) {
    std::vector<std::string> where;
    auto const place = [&] { return std::this_thread::get_id() == here ? "here" : "pool"; };
    auto const fail_twice = [&, calls = 0]() mutable {
        where.push_back(place());
        if (++calls < 3)
            throw boost::system::system_error(refused());
        return calls;
    };
    auto const note = [&](auto const&) { where.push_back(place()); };
    auto const judge = [&](int) {
        where.push_back(place());
        return false;
    };
    auto const operation = with_hooks(fail_if(on_executor(pool, fail_twice), judge), note, note);
    async_retry(io, operation, every_100ms(), note_end());
    run_to_end();
    EXPECT_EQ(ended_with(), error_code());
    EXPECT_EQ(ended->second, 3);
    EXPECT_THAT(where, elements("pool", "here", "pool", "here", "pool", "here", "here"));
    EXPECT_EQ(time.now() - begin, 200ms);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

int seven() {
    return 7;
}

struct adder {
    int a;
    int operator()() const { return a; }
};

TEST_F(on_executor_test, results_are_those_of_plain_callables) {
    run_coroutine([this]() -> asio::awaitable<void> {
        auto const policy = every_100ms(1);
        int calls = 0;
        auto nothing = on_executor(pool, [&] { ++calls; });
        co_await async_retry(nothing, policy);
        EXPECT_EQ(calls, 1);
        auto owned = on_executor(pool, [] { return std::make_unique<int>(5); });
        EXPECT_EQ(*co_await async_retry(owned, policy), 5);
        auto by_pointer = on_executor(pool, seven);
        EXPECT_EQ(co_await async_retry(by_pointer, policy), 7);
        auto by_object = on_executor(pool, adder{3});
        EXPECT_EQ(co_await async_retry(by_object, policy), 3);
        auto by_executor = on_executor(pool.get_executor(), std::function<int()>(seven));
        EXPECT_EQ(co_await async_retry(by_executor, policy), 7);
        auto by_any = on_executor(asio::any_io_executor(pool.get_executor()), seven);
        EXPECT_EQ(co_await async_retry(by_any, policy), 7);
        auto code = on_executor(pool, [] { return refused(); });
        auto [ec] = co_await async_retry(code, policy, asio::as_tuple(asio::use_awaitable));
        EXPECT_EQ(ec, refused());
        auto good = on_executor(pool, []() -> boost::system::result<std::string> { return "yes"; });
        auto [none, value] = co_await async_retry(good, policy, asio::as_tuple(asio::deferred));
        EXPECT_EQ(none, error_code());
        EXPECT_EQ(value, "yes");
        auto bad = on_executor(pool, []() -> boost::system::result<int> { return refused(); });
        auto [failed, zero] = co_await async_retry(bad, policy, asio::as_tuple(asio::deferred));
        EXPECT_EQ(failed, refused());
        EXPECT_EQ(zero, 0);
    }());
}

TEST_F(on_executor_test, exceptions_come_out_unchanged) {
    int calls = 0;
    auto fail = on_executor(pool, [&]() -> int {
        if (++calls == 1)
            throw boost::system::system_error(refused());
        throw std::out_of_range("no " + std::to_string(calls));
    });
    async_retry(io, fail, every_100ms(2), note_end());
    run_to_end();
    EXPECT_EQ(calls, 2);
    ASSERT_TRUE(ended->first);
    try {
        std::rethrow_exception(ended->first);
    } catch (std::out_of_range const& e) {
        EXPECT_STREQ(e.what(), "no 2");
    }
    ended.reset();
    auto end = on_executor(pool, [&]() -> int { throw permanent(refused()); });
    async_retry(io, end, every_100ms(9), note_end());
    run_to_end();
    EXPECT_EQ(ended_with(), refused());
}

TEST_F(on_executor_test, takes_every_token) {
    auto const ask = on_executor(pool, seven);
    auto const policy = every_100ms();
    auto future = async_retry(io, ask, policy, asio::use_future);
    run_until([&] { return future.wait_for(0s) == std::future_status::ready; });
    EXPECT_EQ(future.get(), 7);

    async_retry(io, ask, policy, asio::deferred)(note_end());
    run_to_end();
    EXPECT_EQ(ended->second, 7);

    ended.reset();
    asio::any_completion_handler<void(std::exception_ptr, int)> erased(note_end());
    async_retry(io, ask, policy, std::move(erased));
    run_to_end();
    EXPECT_EQ(ended->second, 7);

    ended.reset();
    async_retry(io, ask, policy, asio::bind_executor(asio::make_strand(io), note_end()));
    run_to_end();
    EXPECT_EQ(ended->second, 7);

    ended.reset();
    ask(asio::bind_executor(io, note_end())); // without a retry
    run_to_end();
    EXPECT_EQ(ended->second, 7);

    std::promise<int> told;
    async_retry(io, on_executor(pool, [&] { told.set_value(1); }), policy, asio::detached);
    EXPECT_EQ(told.get_future().get(), 1);
    pool.join();
    time.run();
}

TEST_F(on_executor_test, the_attempt_is_told_what_the_function_says) {
    std::vector<std::uint64_t> numbers;
    std::vector<time_point> deadlines;
    pool_gate gates[3];
    auto ask = [&](attempt which) {
        gates[which.number - 1].pass();
        numbers.push_back(which.number);
        deadlines.push_back(which.deadline);
        which.heed(pushback::after(5s));
        which.progress();
        which.mark_healthy();
        which.mark_sent();
        if (which.number < 3)
            throw boost::system::system_error(refused());
        return static_cast<int>(which.number);
    };
    int decisions = 0;
    auto const decide = [&](retry_event const&) { ++decisions; };
    async_retry(io, with_hooks(on_executor(pool, ask), decide, decide),
                every_100ms().total_timeout(1min).pushback_spread(0), note_end());
    for (int i = 0; i != 3; ++i) {
        gates[i].open();
        while (decisions == i) {
            io.restart();
            io.run_one();
        }
        time.advance(5s);
    }
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->second, 3);
    EXPECT_THAT(numbers, testing::ElementsAre(1, 2, 3));
    EXPECT_THAT(deadlines, testing::Each(begin + 1min));
    EXPECT_EQ(time.now() - begin, 15s) << "with the waits that the server wished";
}

TEST_F(on_executor_test, an_attempt_counts_as_sent_from_its_beginning) {
    for (bool const takes_attempt : {false, true}) {
        ended.reset();
        int calls = 0;
        auto const refuse = [&]() -> int {
            ++calls;
            throw boost::system::system_error(asio::error::connection_reset);
        };
        auto const policy = every_100ms().retry_sent(false);
        if (takes_attempt)
            async_retry(io, on_executor(pool, [&](attempt) { return refuse(); }), policy, note_end());
        else
            async_retry(io, on_executor(pool, refuse), policy, note_end());
        run_to_end();
        EXPECT_EQ(calls, 1);
    }
}

TEST_F(on_executor_test, a_limit_takes_an_attempt_out_of_the_queue_of_the_pool) {
    pool_gate gate;
    asio::post(pool, [&] { gate.pass(); });
    std::atomic<int> calls = 0;
    auto const count = on_executor(pool, [&] { return ++calls; });
    async_retry(io, count, every_100ms(2).attempt_timeout(1s), note_end());
    run_to_end();
    EXPECT_EQ(ended_with(), timed_out());
    EXPECT_EQ(time.now() - begin, 2100ms);
    gate.open();
    pool.join();
    EXPECT_EQ(calls, 0);
}

TEST_F(on_executor_test, a_limit_waits_for_a_function_that_runs) {
    for (bool const succeeds : {true, false}) {
        ended.reset();
        pool_gate gate;
        auto const slow = gate.then(5);
        auto const ask = on_executor(pool, [&] {
            int const value = slow();
            if (!succeeds)
                throw boost::system::system_error(refused());
            return value;
        });
        async_retry(io, ask, every_100ms(1).attempt_timeout(1s), note_end());
        gate.began.get_future().wait();
        time.run();
        EXPECT_FALSE(ended) << "nothing interrupts a function";
        gate.open();
        run_to_end();
        EXPECT_EQ(ended_with(), succeeds ? error_code() : timed_out());
        EXPECT_EQ(ended->second, succeeds ? 5 : 0);
    }
}

/// What outlives an operation, as long as it is in use.
struct witness {
    std::shared_ptr<int> value = std::make_shared<int>(5);
    bool is_gone() const { return value.use_count() == 1; }
};

TEST_F(on_executor_test, deliver_at_once_lets_a_function_go) {
    pool_gate gate;
    witness kept;
    auto ask = on_executor(pool, [&gate, value = kept.value] {
        gate.began.set_value();
        gate.pass();
        return std::make_unique<int>(*value);
    });
    bool done = false;
    async_retry(io, std::move(ask), every_100ms(1).attempt_timeout(1s).deliver_at_once(),
                [&](std::exception_ptr e, std::unique_ptr<int> value) {
                    done = true;
                    EXPECT_EQ(code_of(e), timed_out());
                    EXPECT_FALSE(value);
                });
    gate.began.get_future().wait();
    time.run();
    EXPECT_TRUE(done) << "while the function runs";
    EXPECT_FALSE(kept.is_gone());
    gate.open();
    pool.join();
    time.run();
    EXPECT_TRUE(kept.is_gone());
}

TEST_F(on_executor_test, cancellation_of_an_attempt_in_the_queue_and_of_one_that_runs) {
    using asio::cancellation_type;
    for (auto const type :
         {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
        pool_gate gate;
        asio::cancellation_signal running, queued;
        std::atomic<int> calls = 0;
        async_retry(io, on_executor(pool, gate.then(5)), every_100ms(),
                    asio::bind_cancellation_slot(running.slot(), note_end()));
        gate.began.get_future().wait();
        std::optional<error_code> of_queued;
        async_retry(io, on_executor(pool, [&] { return ++calls; }), every_100ms(),
                    asio::bind_cancellation_slot(queued.slot(),
                                                 [&](std::exception_ptr e, int) { of_queued = code_of(e); }));
        queued.emit(cancellation_type::none);
        running.emit(type);
        queued.emit(type);
        time.run();
        EXPECT_EQ(of_queued, aborted());
        EXPECT_FALSE(ended);
        gate.open();
        run_to_end();
        EXPECT_EQ(ended->second, 5) << "a success wins";
        EXPECT_EQ(calls, 0);
        ended.reset();
    }
}

TEST_F(on_executor_test, stands_in_every_wrapper) {
    std::atomic<int> calls = 0;
    auto const fail_once = [&] { return ++calls; };
    retry_report report;
    int steps = 0;
    auto const faults = std::make_shared<fault_plan>();
    auto const judged = fail_if(inject(on_executor(pool, fail_once), faults), [](int v) { return v == 1; });
    auto const stepped = before_retry(judged, on_executor(pool, [&] { ++steps; }));
    async_retry(io, with_report(with_hooks(stepped, nullptr, [](stop_reason) {}), report), every_100ms(),
                note_end());
    run_to_end();
    EXPECT_EQ(ended->second, 2);
    EXPECT_EQ(steps, 1);
    EXPECT_EQ(report.attempts, 2u);
    EXPECT_EQ(time.now() - begin, 100ms);
}

struct pool_server {
    std::string name;
    std::string ask() const { return name; }
    bool operator==(pool_server const&) const = default;
};

TEST_F(on_executor_test, gets_a_copy_of_its_endpoint) {
    auto const servers = std::make_shared<endpoint_set<std::string>>(std::vector<std::string>{"a"});
    std::vector<std::string> asked;
    auto const ask = [&](attempt which, std::string const& server) {
        asked.push_back(server + std::to_string(which.number));
        if (which.number == 1)
            throw boost::system::system_error(refused());
        return 7;
    };
    async_retry(io, on_endpoint(on_executor(pool, ask), servers), every_100ms(), note_end());
    run_to_end();
    EXPECT_EQ(ended->second, 7);
    EXPECT_THAT(asked, testing::ElementsAre("a1", "a2"));

    auto const others = std::make_shared<endpoint_set<pool_server>>(std::vector<pool_server>{{"b"}});
    run_coroutine([&]() -> asio::awaitable<void> {
        auto by_member = on_endpoint(on_executor(pool, &pool_server::ask), others);
        EXPECT_EQ(co_await async_retry(by_member, every_100ms()), "b");
        auto judged =
            fail_if(on_endpoint(on_executor(pool, [](pool_server const& s) { return s.name; }), others),
                    [](std::string const& s) { return s != "b"; });
        EXPECT_EQ(co_await async_retry(judged, every_100ms()), "b");
    }());
}

TEST_F(on_executor_test, hedges_run_on_several_threads) {
    asio::thread_pool two(2);
    pool_gate slow;
    auto const ask = [&](attempt which) {
        if (which.number == 1)
            slow.pass();
        return static_cast<int>(which.number);
    };
    async_hedge(io, on_executor(two, ask), hedge_policy(10ms).deliver_at_once(), note_end());
    run_to_end();
    EXPECT_EQ(ended->second, 2);
    slow.open();
    two.join();

    ended.reset();
    asio::thread_pool others(2);
    pool_gate first;
    auto const again = [&](attempt which) {
        if (which.number == 1)
            first.pass();
        else
            first.open();
        return static_cast<int>(which.number);
    };
    async_hedge(io, on_executor(others, again), hedge_policy(10ms), note_end());
    run_to_end();
    EXPECT_THAT(ended->second, testing::AnyOf(1, 2));
}

TEST_F(on_executor_test, a_copy_of_the_operation_has_a_function_of_its_own) {
    auto const counting = on_executor(pool, [calls = 0]() mutable { return ++calls; });
    for (int i = 0; i != 2; ++i) {
        ended.reset();
        async_retry(io, counting, every_100ms(), note_end());
        run_to_end();
        EXPECT_EQ(ended->second, 1);
    }
    auto move_only = on_executor(pool, [owned = std::make_unique<int>(4)] { return *owned; });
    static_assert(!std::is_copy_constructible_v<decltype(move_only)>);
    static_assert(std::is_copy_constructible_v<std::remove_const_t<decltype(counting)>>);
    ended.reset();
    async_retry(io, std::move(move_only), every_100ms(), note_end());
    run_to_end();
    EXPECT_EQ(ended->second, 4);
}

TEST_F(on_executor_test, a_pool_that_is_destroyed_loses_no_handler) {
    std::atomic<int> calls = 0;
    {
        asio::thread_pool stopped(1);
        stopped.stop();
        stopped.join();
        async_retry(io, on_executor(stopped, [&] { return ++calls; }), every_100ms(), note_end());
        time.run();
        EXPECT_FALSE(ended) << "a stopped pool keeps what it is given";
    }
    run_to_end();
    EXPECT_EQ(ended_with(), aborted());
    EXPECT_EQ(calls, 0);

    ended.reset();
    {
        asio::thread_pool busy(1);
        async_retry(io, on_executor(busy, [&] { return ++calls; }), every_100ms(), note_end());
    } // waits for the function
    run_to_end();
    EXPECT_EQ(ended_with(), calls == 1 ? error_code() : aborted());
}

struct refusing_executor {
    asio::thread_pool* of;
    asio::execution_context& query(asio::execution::context_t) const noexcept { return *of; }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking.never;
    }
    refusing_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
    template <typename F>
    void execute(F&&) const {
        throw std::runtime_error("the pool takes nothing");
    }
    bool operator==(refusing_executor const&) const noexcept = default;
};

TEST_F(on_executor_test, an_executor_that_throws_fails_the_attempt) {
    int calls = 0;
    async_retry(io, on_executor(refusing_executor{&pool}, [&] { return ++calls; }), every_100ms(2), note_end());
    run_to_end();
    ASSERT_TRUE(ended->first);
    EXPECT_THROW(std::rethrow_exception(ended->first), std::runtime_error);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(time.now() - begin, 100ms);
}

TEST(on_executor_lifetimes, the_context_of_the_operation_may_end_while_the_function_runs) {
    asio::thread_pool pool(1);
    pool_gate gate;
    witness handlers, functions, queued;
    int calls = 0;
    {
        asio::io_context io;
        async_retry(io,
                    on_executor(pool,
                                [&gate, value = functions.value](attempt which) {
                                    gate.began.set_value();
                                    gate.pass();
                                    which.heed(pushback::never());
                                    return *value;
                                }),
                    retry_policy(), [value = handlers.value](std::exception_ptr, int) { ADD_FAILURE(); });
        async_retry(io, on_executor(pool, [&calls, value = queued.value] { return ++calls, *value; }),
                    retry_policy(), [value = handlers.value](std::exception_ptr, int) { ADD_FAILURE(); });
        gate.began.get_future().wait();
    }
    EXPECT_TRUE(handlers.is_gone()) << "destroyed with the context";
    EXPECT_FALSE(functions.is_gone()) << "it runs";
    gate.open();
    pool.join();
    EXPECT_TRUE(functions.is_gone());
    EXPECT_TRUE(queued.is_gone());
    EXPECT_EQ(calls, 0) << "it was still queued";
}

// The operation waits in one context and runs in another.
TEST(on_executor_lifetimes, either_context_of_the_operation_may_end_first) {
    for (bool const has_returned : {false, true})
        for (bool const ends_where_it_waits : {false, true}) {
            asio::thread_pool pool(1);
            pool_gate gate;
            witness handlers, functions;
            auto waits = std::make_unique<asio::io_context>(), runs = std::make_unique<asio::io_context>();
            auto end = asio::bind_executor(
                runs->get_executor(), [value = handlers.value](std::exception_ptr, int) { ADD_FAILURE(); });
            async_retry(*waits,
                        on_executor(pool,
                                    [&gate, value = functions.value] {
                                        gate.began.set_value();
                                        gate.pass();
                                        return *value;
                                    }),
                        retry_policy(), std::move(end));
            gate.began.get_future().wait();
            if (has_returned) {
                gate.open();
                pool.join();
            }
            (ends_where_it_waits ? waits : runs).reset();
            EXPECT_TRUE(handlers.is_gone());
            if (!has_returned) {
                gate.open();
                pool.join();
            }
            for (auto* const left : {waits.get(), runs.get()})
                if (left)
                    left->run();
            EXPECT_TRUE(functions.is_gone());
        }
}

TEST(on_executor_lifetimes, contexts_end_at_any_time) {
    asio::thread_pool pool(2);
    for (int i = 0; i != 300; ++i) {
        asio::io_context io;
        auto const ask = on_executor(pool, [] { return std::make_unique<int>(1); });
        for (int k = 0; k != 3; ++k)
            async_retry(io, ask, retry_policy(), [](std::exception_ptr, std::unique_ptr<int>) {});
        io.run_for(std::chrono::microseconds(i % 3 * 20));
    }
    pool.join();
}

// Cancelled on one thread of a strand while threads of the pool begin and end the functions.
TEST(on_executor_threads, operations_end_once) {
    asio::thread_pool pool(3), home(2);
    std::atomic<int> ends = 0, calls = 0;
    constexpr int count = 500;
    for (int i = 0; i != count; ++i) {
        auto const strand = asio::make_strand(home);
        auto const signal = std::make_shared<asio::cancellation_signal>();
        auto const ask = on_executor(pool, [&, i](attempt which) {
            ++calls;
            which.mark_healthy();
            if (i % 3 == 0)
                throw boost::system::system_error(refused());
            return std::to_string(i);
        });
        auto policy =
            every_100ms().backoff(constant(10us)).attempt_timeout(std::chrono::microseconds(10 + i % 60));
        if (i % 2 == 0)
            policy = policy.deliver_at_once();
        asio::post(strand, [=, &ends] {
            async_retry(strand, ask, policy,
                        asio::bind_executor(
                            strand, asio::bind_cancellation_slot(
                                        signal->slot(),
                                        [&ends, signal](std::exception_ptr, std::string const&) { ++ends; })));
            asio::post(strand, [signal] { signal->emit(asio::cancellation_type::terminal); });
        });
    }
    home.join();
    pool.join();
    EXPECT_EQ(ends, count);
}

TEST_F(on_executor_test, decision_04_refuses_what_is_empty) {
    auto const message = [](auto make) -> std::string {
        try {
            make();
        } catch (std::invalid_argument const& e) {
            return e.what();
        }
        return "nothing refused";
    };
    EXPECT_THAT(message([] { (void)on_executor(asio::any_io_executor(), seven); }),
                HasSubstr("on_executor.pool"));
    EXPECT_THAT(message([&] { (void)on_executor(pool, std::function<int()>()); }), HasSubstr("on_executor.f"));
    EXPECT_THAT(message([&] { (void)on_executor(pool, static_cast<int (*)()>(nullptr)); }),
                HasSubstr("on_executor.f"));
}

} // namespace
} // namespace asio_retry::test
