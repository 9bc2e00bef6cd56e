#include <asio_retry/async_retry.hpp>

#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/coroutine_ends.hpp"
#include "support/policies.hpp"
#include "support/recording_gate.hpp"
#include "support/scripted_operation.hpp"
#include "support/throws_at.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// What became of a handler and its copies.
struct tally {
    int handlers = 0;
    int calls = 0;
    error_code error;
    bool planned = false; // the exception it was called with
    bool other = false;
};

class tallied {
public:
    explicit tallied(tally& t) noexcept
        : tally_(&t) {
        ++tally_->handlers;
    }
    tallied(tallied&& other) noexcept
        : tallied(*other.tally_) {}
    tallied& operator=(tallied&&) = delete;
    ~tallied() { --tally_->handlers; }

    template <typename... Values>
    void operator()(error_code const& ec, Values const&...) {
        ++tally_->calls;
        tally_->error = ec;
    }
    template <typename... Values>
    void operator()(std::exception_ptr const& e, Values const&...) {
        ++tally_->calls;
        try {
            if (e)
                std::rethrow_exception(e);
        } catch (planned_exception const&) {
            tally_->planned = true;
        } catch (boost::system::system_error const& thrown) {
            tally_->error = thrown.code();
        } catch (...) {
            tally_->other = true;
        }
    }

private:
    tally* tally_;
};

/// A context whose handlers may throw; it is run until it is dry all the same.
struct stage {
    tally result;
    script played;
    asio::io_context io;
    virtual_time time{io};
    bool refused = false;
    int escaped = 0;

    template <typename Function>
    void guard(Function function) {
        try {
            function();
        } catch (planned_exception const&) {
            ++escaped;
        }
    }

    template <typename Initiate>
    void start(Initiate initiate) {
        try {
            initiate();
        } catch (planned_exception const&) {
            refused = true;
        }
    }

    void run() {
        for (int before = -1; before != escaped;) {
            before = escaped;
            guard([this] { time.run(); });
        }
    }

    auto posting() {
        return [this](auto token) { return async_scripted(io, played, std::move(token)); };
    }
    auto completing_inline() {
        return [this](auto token) { return async_inline(played, std::move(token)); };
    }
};

// --- the callables of the policy

struct throwing_callable {
    std::string name;
    error stage;
    std::function<retry_policy(throws_at&)> policy;
};

std::vector<throwing_callable> throwing_callables() {
    return {
        {"retry_if_code", error::predicate_threw,
         [](throws_at& plan) { return every_100ms().retry_if([&](error_code) { return plan(), true; }); }},
        {"retry_if_exception", error::predicate_threw,
         [](throws_at& plan) {
             return every_100ms().retry_if([&](std::exception_ptr const&) { return plan(), true; });
         }},
        {"backoff", error::backoff_threw,
         [](throws_at& plan) {
             return every_100ms().backoff([&](std::uint64_t) -> duration { return plan(), 100ms; });
         }},
        {"jitter", error::jitter_threw,
         [](throws_at& plan) {
             return every_100ms().jitter(
                 [&](backoff_step const& step, random&) { return plan(), step.ceiling; });
         }},
        {"on_retry", error::hook_threw,
         [](throws_at& plan) { return every_100ms().on_retry([&](retry_event const&) { plan(); }); }},
    };
}

class throwing_policy : public testing::TestWithParam<throwing_callable> {
protected:
    /// Runs `start(stage, policy)` for a callable that throws after the first or the second failure, with a
    /// gate and without, and expects no attempt after that, and nothing left in the gate.
    template <typename Start, typename Expect>
    void expect_end(Start start, Expect expect) {
        for (std::size_t const failure : {1u, 2u}) {
            expect_end(failure, nullptr, start, expect);
            expect_end(failure, std::make_shared<recording_gate>(), start, expect);
        }
    }
    template <typename Start, typename Expect>
    void expect_end(std::size_t failure, std::shared_ptr<recording_gate> const& gate, Start& start,
                    Expect& expect) {
        SCOPED_TRACE(failure);
        throws_at plan(failure);
        stage s;
        s.played = script::failures(10);
        start(s, GetParam().policy(plan).gate(gate));
        s.run();
        EXPECT_EQ(s.result.calls, 1);
        EXPECT_EQ(s.result.handlers, 0);
        EXPECT_EQ(s.escaped, 0);
        EXPECT_EQ(s.played.attempts, failure);
        EXPECT_TRUE(s.io.stopped());
        expect(s);
        if (gate) {
            EXPECT_EQ(gate->ends.size(), failure);
            EXPECT_TRUE(gate->is_balanced());
        }
    }
    void expect_code(stage const& s) { EXPECT_EQ(s.result.error, GetParam().stage); }
    void expect_exception(stage const& s) { EXPECT_TRUE(s.result.planned); }
};

TEST_P(throwing_policy, decision_21_ends_an_operation_with_codes) {
    expect_end([](stage& s, retry_policy policy) { async_retry(s.io, s.posting(), policy, tallied(s.result)); },
               [&](stage const& s) { expect_code(s); });
}

TEST_P(throwing_policy, decision_21_ends_an_operation_that_completes_inline) {
    expect_end([](stage& s,
                  retry_policy policy) { async_retry(s.io, s.completing_inline(), policy, tallied(s.result)); },
               [&](stage const& s) { expect_code(s); });
}

TEST_P(throwing_policy, decision_21_ends_a_limited_operation) {
    expect_end(
        [](stage& s, retry_policy policy) {
            async_retry(s.io, s.posting(), policy.attempt_timeout(1s).total_timeout(1h), tallied(s.result));
        },
        [&](stage const& s) { expect_code(s); });
}

TEST_P(throwing_policy, decision_21_ends_an_operation_in_a_scope) {
    expect_end(
        [](stage& s, retry_policy policy) {
            retry_scope scope(s.io.get_executor());
            async_retry(scope, s.posting(), policy, tallied(s.result));
            s.run();
            EXPECT_EQ(scope.pending(), 0u);
        },
        [&](stage const& s) { expect_code(s); });
}

asio::awaitable<int> follow(script& played) {
    if (error_code const ec = played.next())
        throw boost::system::system_error(ec);
    co_return 1;
}

// With exceptions, the operation ends with what the callable threw.
TEST_P(throwing_policy, decision_88_ends_a_plain_callable) {
    expect_end(
        [](stage& s, retry_policy policy) {
            async_retry(
                s.io,
                [&s] {
                    if (s.played.next())
                        throw 1;
                },
                policy, tallied(s.result));
        },
        [&](stage const& s) { expect_exception(s); });
}

TEST_P(throwing_policy, decision_88_ends_an_awaitable_operation_with_a_handler) {
    expect_end(
        [](stage& s, retry_policy policy) {
            async_retry(s.io, [&s] { return follow(s.played); }, policy, tallied(s.result));
        },
        [&](stage const& s) { expect_exception(s); });
}

TEST_P(throwing_policy, decision_88_ends_an_awaited_operation) {
    for (bool const limited : {false, true})
        expect_end(
            [=](stage& s, retry_policy policy) {
                if (limited)
                    policy = policy.attempt_timeout(1s);
                auto operation = [&s] { return follow(s.played); };
                asio::co_spawn(s.io, async_retry(operation, policy), tallied(s.result));
            },
            [&](stage const& s) { expect_exception(s); });
}

INSTANTIATE_TEST_SUITE_P(callables, throwing_policy, testing::ValuesIn(throwing_callables()),
                         [](auto const& tested) { return tested.param.name; });

// What on_give_up throws does not hide the last error, in every form.
TEST(callback_exceptions, decision_53_on_give_up_that_throws_changes_nothing) {
    auto const policy =
        every_100ms().max_attempts(2).on_give_up([](stop_reason) { throw planned_exception(); });
    stage with_codes;
    with_codes.played = script::failures(10);
    async_retry(with_codes.io, with_codes.completing_inline(), policy, tallied(with_codes.result));
    with_codes.run();
    EXPECT_EQ(with_codes.result.calls, 1);
    EXPECT_EQ(with_codes.result.error, refused());
    EXPECT_EQ(with_codes.played.attempts, 2u);

    stage late; // it gives up before its first attempt
    async_retry(late.io, late.posting(), policy.deadline(late.time.now()), tallied(late.result));
    EXPECT_EQ(late.result.calls, 0);
    late.run();
    EXPECT_EQ(late.result.calls, 1);
    EXPECT_EQ(late.result.error, asio::error::timed_out);
    EXPECT_EQ(late.played.attempts, 0u);

    stage awaited;
    awaited.played = script::failures(10);
    auto operation = [&] { return follow(awaited.played); };
    asio::co_spawn(awaited.io, async_retry(operation, policy), tallied(awaited.result));
    awaited.run();
    EXPECT_EQ(awaited.result.calls, 1);
    EXPECT_EQ(awaited.result.error, refused());
}

// The predicate of fail_if is asked about a success, which it spoils by throwing; no attempt follows.
TEST(callback_exceptions, decision_21_fail_if_that_throws_after_a_rejection) {
    for (bool const completes_inline : {false, true}) {
        throws_at plan(2);
        stage s;
        auto const gate = std::make_shared<recording_gate>();
        auto const policy = every_100ms().gate(gate);
        auto const predicate = [&](int) { return plan(), true; };
        if (completes_inline)
            async_retry(s.io, fail_if(s.completing_inline(), predicate), policy, tallied(s.result));
        else
            async_retry(s.io, fail_if(s.posting(), predicate), policy, tallied(s.result));
        s.run();
        EXPECT_EQ(s.result.calls, 1);
        EXPECT_EQ(s.result.error, error::predicate_threw);
        EXPECT_EQ(s.played.attempts, 2u);
        EXPECT_EQ(gate->ends.size(), 2u);
        EXPECT_TRUE(gate->is_balanced());
    }
}

// --- the operation

/// An operation that throws at the k-th call, for every k, and succeeds otherwise. Its exceptions are failures
/// like any other, so that the retry succeeds.
template <typename MakeOperation>
void expect_retry_of_throwing(MakeOperation make_operation) {
    for (std::size_t k = 1; k <= 3; ++k) {
        SCOPED_TRACE(k);
        throws_at plan(k);
        stage s;
        s.played = script::failures(k - 1);
        async_retry(s.io, make_operation(s, plan), every_100ms().max_attempts(4), tallied(s.result));
        s.run();
        EXPECT_TRUE(plan.has_thrown());
        EXPECT_EQ(s.result.calls, 1);
        EXPECT_EQ(s.result.handlers, 0);
        EXPECT_FALSE(s.result.error);
        EXPECT_FALSE(s.result.planned || s.result.other);
        EXPECT_EQ(s.escaped, 0);
        EXPECT_TRUE(s.io.stopped());
    }
}

TEST(callback_exceptions, call_of_a_token_operation_that_throws) {
    expect_retry_of_throwing([](stage& s, throws_at& plan) {
        return [&](auto token) {
            if constexpr (!std::is_same_v<decltype(token), detail::signature_probe>)
                plan();
            return async_scripted(s.io, s.played, std::move(token));
        };
    });
}

TEST(callback_exceptions, initiation_of_a_token_operation_that_throws) {
    expect_retry_of_throwing([](stage& s, throws_at& plan) {
        return [&](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&](auto handler) {
                    plan();
                    asio::post(s.io, asio::append(std::move(handler), s.played.next()));
                },
                token);
        };
    });
}

TEST(callback_exceptions, initiation_that_throws_after_completing_inline_counts_as_that_failure) {
    expect_retry_of_throwing([](stage& s, throws_at& plan) {
        return [&](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&](auto handler) {
                    std::move(handler)(s.played.next());
                    plan();
                },
                token);
        };
    });
}

TEST(callback_exceptions, callable_that_throws_instead_of_returning_a_deferred_operation) {
    expect_retry_of_throwing([](stage& s, throws_at& plan) {
        return [&] { return plan(), async_scripted(s.io, s.played, asio::deferred); };
    });
}

TEST(callback_exceptions, callable_that_throws_instead_of_returning_an_awaitable) {
    expect_retry_of_throwing(
        [](stage& s, throws_at& plan) { return [&] { return plan(), follow(s.played); }; });
}

// The coroutine of the attempts goes on after an attempt that was to be, not only after one that failed.
TEST(callback_exceptions, callable_that_throws_in_a_coroutine_that_awaits_directly) {
    throws_at plan(2);
    stage s;
    s.played = script::failures(1);
    auto operation = [&] { return plan(), follow(s.played); };
    asio::co_spawn(s.io, async_retry(operation, every_100ms()), tallied(s.result));
    s.run();
    EXPECT_TRUE(plan.has_thrown());
    EXPECT_EQ(s.result.calls, 1);
    EXPECT_FALSE(s.result.planned || s.result.other);
}

// --- moves

/// After the k-th of something threw, for every k until nothing throws: the operation completed once, or its
/// handler was destroyed uncalled, by the initiating function that threw or with the context.
template <typename Play>
void expect_consistency_for_every(Play play) {
    std::size_t k = 0;
    for (bool threw = true; threw;) {
        SCOPED_TRACE(++k);
        ASSERT_LT(k, 100u);
        tally result;
        throws_at plan(k);
        {
            stage s;
            play(s, plan, result);
            threw = plan.has_thrown();
            s.run();
            EXPECT_LE(result.calls, 1);
            if (s.refused) {
                EXPECT_EQ(result.calls, 0);
                EXPECT_EQ(result.handlers, 0) << "its initiating function threw and kept the handler";
            }
            if (!threw) {
                EXPECT_EQ(result.calls, 1);
                EXPECT_FALSE(result.error || result.planned || result.other);
            }
            if (result.calls != 0) {
                EXPECT_EQ(result.handlers, 0);
                EXPECT_TRUE(s.io.stopped());
                EXPECT_EQ(scheduler(s.io).pending(), 0u);
            } else {
                EXPECT_TRUE(threw);
                EXPECT_TRUE(s.refused || s.escaped != 0) << "nobody was told";
            }
        }
        EXPECT_EQ(result.handlers, 0) << "leaked";
    }
    EXPECT_GT(k, 1u) << "nothing ever threw";
}

TEST(callback_exceptions, handler_whose_move_throws) {
    for (bool const completes_inline : {false, true})
        for (std::size_t const failures : {0u, 2u})
            expect_consistency_for_every([=](stage& s, throws_at& plan, tally& result) {
                s.played = script::failures(failures);
                s.start([&] {
                    throwing_on_move<tallied> handler(tallied(result), plan);
                    if (completes_inline)
                        async_retry(s.io, s.completing_inline(), every_100ms(), std::move(handler));
                    else
                        async_retry(s.io, s.posting(), every_100ms(), std::move(handler));
                });
                s.run();
            });
}

TEST(callback_exceptions, callable_whose_move_throws) {
    expect_consistency_for_every([](stage& s, throws_at& plan, tally& result) {
        s.played = script::failures(2);
        s.start([&] {
            auto const operation = [&s]() -> error_code { return s.played.next(); };
            using operation_type = std::decay_t<decltype(operation)>;
            throwing_on_move<operation_type> throwing(operation, plan);
            async_retry(s.io, std::move(throwing), every_100ms(), tallied(result));
        });
        if (plan.has_thrown()) {
            EXPECT_TRUE(s.refused);
            EXPECT_EQ(result.handlers, 0);
        }
        s.run();
    });
}

// --- executors

/// An io_context's executor that throws instead of taking its k-th function.
template <typename Inner>
class throwing_executor {
public:
    throwing_executor(Inner inner, throws_at& plan) noexcept
        : inner_(std::move(inner))
        , plan_(&plan) {}

    template <typename Function>
    void execute(Function&& function) const {
        (*plan_)();
        inner_.execute(std::forward<Function>(function));
    }
    template <typename Property>
        requires asio::can_require_v<Inner const&, Property>
    auto require(Property const& p) const {
        return rewrapped(asio::require(inner_, p));
    }
    template <typename Property>
        requires asio::can_prefer_v<Inner const&, Property>
    auto prefer(Property const& p) const {
        return rewrapped(asio::prefer(inner_, p));
    }
    template <typename Property>
        requires asio::can_query_v<Inner const&, Property>
    decltype(auto) query(Property const& p) const noexcept {
        return asio::query(inner_, p);
    }
    friend bool operator==(throwing_executor const& a, throwing_executor const& b) noexcept {
        return a.inner_ == b.inner_;
    }
    friend bool operator!=(throwing_executor const& a, throwing_executor const& b) noexcept {
        return !(a == b);
    }

private:
    template <typename Other>
    throwing_executor<Other> rewrapped(Other other) const noexcept {
        return {std::move(other), *plan_};
    }

    Inner inner_;
    throws_at* plan_;
};

using throwing_io_executor = throwing_executor<asio::io_context::executor_type>;
static_assert(asio::execution::is_executor<throwing_io_executor>::value);

TEST(callback_exceptions, executor_that_throws_while_attempts_fail) {
    for (auto const delay : {0ms, 100ms})
        for (bool const completes_inline : {false, true})
            expect_consistency_for_every([=](stage& s, throws_at& plan, tally& result) {
                s.played = script::failures(2);
                throwing_io_executor const executor(s.io.get_executor(), plan);
                auto const policy = every_100ms().backoff(constant(delay));
                s.start([&] {
                    if (completes_inline)
                        async_retry(executor, s.completing_inline(), policy, tallied(result));
                    else
                        async_retry(executor, s.posting(), policy, tallied(result));
                });
                s.run();
            });
}

// An exception out of a thread of a pool would end the process.
TEST(callback_exceptions, executor_of_a_pool_that_throws_when_a_wait_is_over) {
    for (std::size_t const kth : {1u, 2u, 3u}) {
        SCOPED_TRACE(kth);
        throws_at plan(kth);
        tally result;
        asio::thread_pool pool(1);
        throwing_executor const executor(pool.get_executor(), plan);
        // Begun there too: the moved-from handlers are counted on one thread.
        asio::post(pool, [&] {
            async_retry(
                executor, [] { return refused(); },
                retry_policy().backoff(constant(1ns)).max_attempts(3).jitter(no_jitter()), tallied(result));
        });
        pool.join();
        EXPECT_EQ(result.calls, 1);
        EXPECT_EQ(result.handlers, 0);
    }
}

// --- what is told to stop

TEST(callback_exceptions, slot_handler_that_throws_leaves_the_operation_as_it_was) {
    for (bool const by_scope : {false, true}) {
        throws_at plan(1);
        stage s;
        retry_scope scope(s.io.get_executor());
        asio::cancellation_signal signal;
        asio::any_completion_handler<void(error_code)> pending;
        auto const operation = [&](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&](auto handler) {
                    asio::get_associated_cancellation_slot(handler).assign(
                        [&](asio::cancellation_type_t) { plan(); });
                    asio::any_completion_handler<void(error_code)>(
                        asio::bind_cancellation_slot(asio::cancellation_slot(), std::move(handler)))
                        .swap(pending);
                },
                token);
        };
        async_retry(scope, operation, every_100ms(),
                    asio::bind_cancellation_slot(signal.slot(), tallied(s.result)));
        if (by_scope)
            scope.cancel();
        else
            s.guard([&] { signal.emit(asio::cancellation_type::terminal); });
        s.guard([&] { s.time.run(); });
        EXPECT_EQ(s.escaped, 1);
        EXPECT_EQ(s.result.calls, 0);
        asio::post(s.io, [&] { std::move(pending)(refused()); });
        s.run();
        EXPECT_EQ(s.result.calls, 1);
        EXPECT_EQ(s.result.error, aborted());
        EXPECT_EQ(s.result.handlers, 0);
    }
}

// --- values

/// Throws the planned exception when it is made or moved.
template <bool WhenMoved>
struct throwing_value {
    throws_at* plan = current;
    static inline throws_at* current = nullptr;

    throwing_value() {
        if (!WhenMoved && plan)
            (*plan)();
    }
    throwing_value(throwing_value&& other)
        : plan(other.plan) {
        if (WhenMoved && plan)
            (*plan)();
    }
};

/// An operation that posts the script's next error with a value.
template <typename Value>
auto posting_value(stage& s, throws_at* plan) {
    return [&s, plan](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, Value)>(
            [&s, plan](auto handler) {
                asio::post(s.io, [&s, plan, handler = std::move(handler)]() mutable {
                    Value value;
                    value.plan = plan;
                    std::move(handler)(s.played.next(), std::move(value));
                });
            },
            token);
    };
}

TEST(callback_exceptions, value_whose_move_throws) {
    for (std::size_t const failures : {0u, 2u})
        expect_consistency_for_every([=](stage& s, throws_at& plan, tally& result) {
            s.played = script::failures(failures);
            s.start([&] {
                async_retry(s.io, posting_value<throwing_value<true>>(s, &plan), every_100ms(),
                            [done = tallied(result)](error_code ec, auto&&) mutable { done(ec); });
            });
            s.run();
        });
}

TEST(callback_exceptions, value_of_a_coroutine_whose_move_throws) {
    using value = throwing_value<true>;
    for (std::size_t const failures : {0u, 2u})
        expect_consistency_for_every([=](stage& s, throws_at& plan, tally& result) {
            s.played = script::failures(failures);
            auto const operation = [&s, &plan]() -> asio::awaitable<value> {
                if (error_code const refusal = s.played.next())
                    throw boost::system::system_error(refusal);
                value made;
                made.plan = &plan;
                co_return made;
            };
            s.start([&] {
                async_retry(s.io, operation, every_100ms(),
                            [done = tallied(result)](std::exception_ptr e, auto&&) mutable { done(e); });
            });
            s.run();
            EXPECT_EQ(result.handlers, 0) << "it never ends";
        });
}

/// Whose n-th move throws, and from then on its default constructor too.
struct valueless {
    static inline int moves_left = 0;
    static inline bool has_thrown = false;

    valueless() {
        if (has_thrown)
            throw planned_exception();
    }
    explicit valueless(int) {}
    valueless(valueless&&) {
        if (moves_left > 0 && --moves_left == 0) {
            has_thrown = true;
            throw planned_exception();
        }
    }
    valueless& operator=(valueless&&) = delete;
};

TEST(callback_exceptions, value_of_a_coroutine_whose_move_and_default_constructor_throw) {
    for (int nth = 1; nth != 12; ++nth) {
        stage s;
        valueless::moves_left = nth;
        auto const operation = []() -> asio::awaitable<valueless> { co_return valueless(1); };
        s.start([&] {
            async_retry(
                s.io, operation, every_100ms(),
                [done = tallied(s.result)](std::exception_ptr e, valueless const&) mutable { done(e); });
        });
        s.run();
        valueless::moves_left = 0;
        valueless::has_thrown = false;
        s.run();
        EXPECT_EQ(s.result.handlers, 0) << "it never ends, after move " << nth;
    }
}

/// A coroutine that goes on although there was no value for the result of its retry: what it waits for then is
/// cancelled as ever.
struct valueless_caller {
    using value = throwing_value<false>;
    enum class lack { of_a_failed_attempt, of_a_cancelled_wait };

    stage s;
    throws_at plan{1};
    asio::cancellation_signal signal;
    std::optional<retry_scope> scope;
    bool has_caught = false;
    std::optional<error_code> ended;
    bool has_joined = true;

    explicit valueless_caller(bool is_scoped) {
        if (!is_scoped)
            return;
        scope.emplace(s.io);
    }

    asio::awaitable<value> attempt(lack when) {
        if (when == lack::of_a_failed_attempt)
            value::current = &plan;
        throw boost::system::system_error(refused());
        co_return value();
    }

    asio::awaitable<void> run(lack when, retry_policy policy) {
        auto const operation = [&] { return attempt(when); };
        try {
            if (scope)
                co_await async_retry(*scope, operation, policy);
            else
                co_await async_retry(operation, policy);
        } catch (planned_exception const&) {
            has_caught = true;
        }
        value::current = nullptr;
        co_await asio::this_coro::reset_cancellation_state();
        asio::steady_timer timer(s.io, 1h);
        auto const [ec] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        ended = ec;
    }

    void expect_end(lack when, retry_policy const& policy) {
        asio::co_spawn(s.io, run(when, policy), asio::bind_cancellation_slot(signal.slot(), asio::detached));
        s.time.advance(50ms);
        if (when == lack::of_a_cancelled_wait) {
            EXPECT_FALSE(has_caught);
            value::current = &plan;
            signal.emit(asio::cancellation_type::terminal);
            s.time.advance(0s);
        }
        EXPECT_TRUE(has_caught);
        if (scope) {
            has_joined = false;
            scope->async_join([this](error_code) { has_joined = true; });
            s.time.advance(0s);
        }
        EXPECT_TRUE(has_joined);
        EXPECT_FALSE(ended);
        signal.emit(asio::cancellation_type::terminal);
        s.run();
        EXPECT_EQ(ended, error_code(asio::error::operation_aborted));
    }
};

// A spawned attempt fails without a value: only what the caller gets needs one.
TEST(callback_exceptions, value_of_an_awaited_coroutine_whose_default_constructor_throws) {
    using lack = valueless_caller::lack;
    for (bool const is_scoped : {false, true})
        for (lack const when : {lack::of_a_failed_attempt, lack::of_a_cancelled_wait}) {
            bool const ends_here = !awaits_itself && when == lack::of_a_failed_attempt;
            auto const plain = every_100ms(ends_here ? 1 : 3);
            for (retry_policy const& policy : {plain, plain.attempt_timeout(1s)})
                valueless_caller(is_scoped).expect_end(when, policy);
        }
}

// A cancelled wait has no value to deliver but a new one. Without it the handler cannot be called.
TEST(callback_exceptions, value_whose_default_constructor_throws) {
    using value = throwing_value<false>;
    throws_at plan(1);
    stage s;
    s.played = script::failures(9);
    asio::cancellation_signal signal;
    async_retry(s.io, posting_value<value>(s, nullptr), every_100ms(),
                asio::bind_cancellation_slot(
                    signal.slot(), [done = tallied(s.result)](error_code ec, value&&) mutable { done(ec); }));
    s.time.advance(50ms);
    value::current = &plan;
    s.guard([&] { signal.emit(asio::cancellation_type::terminal); });
    s.run();
    value::current = nullptr;
    EXPECT_EQ(s.escaped, 1);
    EXPECT_EQ(s.result.calls, 0);
    EXPECT_EQ(s.result.handlers, 0);
    EXPECT_TRUE(s.io.stopped());
    EXPECT_EQ(scheduler(s.io).pending(), 0u);
}

TEST(callback_exceptions, value_whose_default_constructor_throws_after_an_initiation_that_threw) {
    using value = throwing_value<false>;
    throws_at plan(1);
    stage s;
    auto const operation = [&](auto token) {
        return asio::async_initiate<decltype(token), void(error_code, value)>(
            [&](auto) {
                value::current = &plan;
                throw std::runtime_error("initiation");
            },
            token);
    };
    s.start([&] {
        async_retry(s.io, operation, every_100ms(),
                    [done = tallied(s.result)](error_code ec, value&&) mutable { done(ec); });
    });
    value::current = nullptr;
    EXPECT_TRUE(s.refused);
    s.run();
    EXPECT_EQ(s.result.calls, 0);
    EXPECT_EQ(s.result.handlers, 0);
}

} // namespace
} // namespace asio_retry::test
