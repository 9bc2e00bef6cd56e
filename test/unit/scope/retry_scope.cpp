#include <asio_retry/retry_scope.hpp>

#include <asio_retry/async_retry.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"
#include "support/hooked_executor.hpp"
#include "support/in_virtual_time.hpp"
#include "support/policies.hpp"
#include "support/refuses.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

retry_policy always_after_100ms() {
    return retry_policy().backoff(constant(100ms)).jitter(no_jitter()).unlimited_attempts();
}

class retry_scope_test : public testing::Test, protected in_virtual_time {
protected:
    std::vector<std::string> order;
    script failing = script::failures(1000);

    auto operation() {
        return [this](auto token) { return async_scripted(io, failing, std::move(token)); };
    }
    auto note(std::string name) {
        return [this, name](error_code ec, int) {
            order.push_back(name + (ec == aborted() ? " aborted" : " ended"));
        };
    }
    auto note_join(std::string name) {
        return [this, name](error_code ec) { order.push_back(name + (ec ? " failed" : " joined")); };
    }
};

TEST(decision_40, an_empty_executor_is_refused_by_a_scope) {
    EXPECT_THAT(calling([] { retry_scope scope{asio::any_io_executor()}; }),
                refuses("asio_retry: retry_scope.executor = empty: must belong to an execution context"));
}

TEST_F(retry_scope_test, cancel_ends_waits_now_and_join_ends_when_the_last_handler_has_run) {
    retry_scope scope(io.get_executor());
    async_retry(scope, operation(), always_after_100ms(), note("a"));
    async_retry(scope, operation(), always_after_100ms(), note("b"));
    time.advance(50ms);
    scope.async_join(note_join("scope"));
    EXPECT_EQ(scope.pending(), 2u);
    time.advance(1s);
    EXPECT_TRUE(order.empty());
    scope.cancel();
    EXPECT_TRUE(order.empty()) << "never completed inside cancel";
    time.run();
    EXPECT_THAT(order, elements("a aborted", "b aborted", "scope joined"));
    EXPECT_EQ(scope.pending(), 0u);
    EXPECT_EQ(scheduler(io).pending(), 0u);
}

TEST_F(retry_scope_test, cancel_tells_attempts_to_stop) {
    retry_scope scope(io.get_executor());
    pending_attempts attempts(io);
    completion_record record;
    async_retry(
        scope, [&](auto token) { return attempts.async_attempt(std::move(token)); }, always_after_100ms(),
        record.handler());
    scope.cancel();
    time.run();
    EXPECT_THAT(attempts.cancellations, testing::ElementsAre(asio::cancellation_type::terminal));
    EXPECT_EQ(record.error, aborted());
    EXPECT_EQ(attempts.started, 1u);
}

TEST_F(retry_scope_test, operation_in_a_cancelled_scope_makes_no_attempt) {
    retry_scope scope(io.get_executor());
    scope.cancel();
    std::vector<stop_reason> reasons;
    async_retry(scope, operation(),
                always_after_100ms().on_give_up([&](stop_reason r) { reasons.push_back(r); }), note("late"));
    EXPECT_TRUE(order.empty());
    time.run();
    EXPECT_EQ(failing.attempts, 0u);
    EXPECT_THAT(order, elements("late aborted"));
    EXPECT_THAT(reasons, testing::ElementsAre(stop_reason::cancelled));
}

// Decision 12: a success wins over a cancellation of the scope that arrives meanwhile.
TEST_F(retry_scope_test, decision_12_success_wins) {
    retry_scope scope(io.get_executor());
    script succeeding;
    async_retry(
        scope, [&](auto token) { return async_scripted(io, succeeding, std::move(token)); },
        always_after_100ms(), note("success"));
    scope.cancel();
    time.run();
    EXPECT_THAT(order, elements("success ended"));
}

// Decision 15: seen before every initiation, even when cancelled by the operation's own callbacks.
TEST_F(retry_scope_test, decision_15_cancel_inside_a_callback_is_seen_at_once) {
    for (int where = 0; where != 3; ++where) {
        order.clear();
        failing.attempts = 0;
        retry_scope scope(io.get_executor());
        int retries = 0;
        auto const policy = always_after_100ms()
                                .retry_if([&](error_code) {
                                    if (where == 0)
                                        scope.cancel();
                                    return true;
                                })
                                .jitter([&](backoff_step const& s, random&) {
                                    if (where == 1)
                                        scope.cancel();
                                    return s.ceiling;
                                })
                                .on_retry([&](retry_event const&) {
                                    ++retries;
                                    scope.cancel();
                                });
        auto const began = time.now();
        async_retry(scope, operation(), policy, note("op"));
        time.run();
        EXPECT_THAT(order, elements("op aborted"));
        EXPECT_EQ(failing.attempts, 1u);
        EXPECT_EQ(time.now(), began);
        EXPECT_EQ(retries, where == 2 ? 1 : 0);
    }
}

TEST_F(retry_scope_test, handler_slot_and_scope_go_together) {
    for (bool const slot_first : {true, false}) {
        order.clear();
        retry_scope scope(io.get_executor());
        asio::cancellation_signal signal;
        async_retry(scope, operation(), always_after_100ms(),
                    asio::bind_cancellation_slot(signal.slot(), note("op")));
        time.advance(50ms);
        if (slot_first)
            signal.emit(asio::cancellation_type::terminal);
        scope.cancel();
        if (!slot_first)
            signal.emit(asio::cancellation_type::terminal);
        time.run();
        EXPECT_THAT(order, elements("op aborted"));
    }
}

TEST_F(retry_scope_test, scopes_nest) {
    retry_scope parent(io.get_executor());
    retry_scope child(parent), grandchild(child), sibling(parent);
    async_retry(child, operation(), always_after_100ms(), note("child"));
    async_retry(grandchild, operation(), always_after_100ms(), note("grandchild"));
    async_retry(sibling, operation(), always_after_100ms(), note("sibling"));
    EXPECT_EQ(parent.pending(), 3u);
    EXPECT_EQ(child.pending(), 2u);
    parent.async_join(note_join("parent"));
    child.cancel();
    time.advance(0s);
    EXPECT_THAT(order, testing::UnorderedElementsAre("child aborted", "grandchild aborted"));
    EXPECT_TRUE(grandchild.cancelled());
    EXPECT_FALSE(parent.cancelled());
    parent.cancel();
    time.run();
    EXPECT_EQ(order.size(), 4u);
    EXPECT_EQ(order.back(), "parent joined");
    retry_scope late(parent);
    EXPECT_TRUE(late.cancelled()) << "a child of a cancelled scope is cancelled";
}

TEST_F(retry_scope_test, destructor_cancels_and_detaches) {
    {
        retry_scope scope(io.get_executor());
        async_retry(scope, operation(), always_after_100ms(), note("op"));
        time.advance(50ms);
    }
    EXPECT_TRUE(order.empty());
    time.run();
    EXPECT_THAT(order, elements("op aborted"));
}

TEST_F(retry_scope_test, join_of_an_empty_scope_is_posted) {
    retry_scope scope(io);
    scope.async_join(note_join("scope"));
    EXPECT_TRUE(order.empty());
    time.run();
    EXPECT_THAT(order, elements("scope joined"));
}

TEST_F(retry_scope_test, joining_inside_the_coroutine_of_the_last_operation) {
    retry_scope scope(io.get_executor());
    bool joined = false;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            script played = script::failures(2);
            auto const op = [&](auto token) { return async_scripted(io, played, std::move(token)); };
            EXPECT_EQ(co_await async_retry(scope, op, always_after_100ms()), 3);
            scope.cancel();
            co_await scope.async_join();
            joined = true;
        },
        asio::detached);
    time.run();
    EXPECT_TRUE(joined);
}

TEST_F(retry_scope_test, join_can_be_cancelled_without_touching_the_operations) {
    retry_scope scope(io.get_executor());
    asio::cancellation_signal signal;
    async_retry(scope, operation(), always_after_100ms(), note("op"));
    scope.async_join(asio::bind_cancellation_slot(signal.slot(), note_join("first")));
    scope.async_join(note_join("second"));
    signal.emit(asio::cancellation_type::terminal);
    time.advance(0s);
    EXPECT_THAT(order, elements("first failed"));
    EXPECT_EQ(scope.pending(), 1u);
    scope.cancel();
    time.run();
    EXPECT_THAT(order, elements("first failed", "op aborted", "second joined"));
}

TEST_F(retry_scope_test, a_cancellation_of_no_type_does_not_end_a_join) {
    retry_scope scope(io);
    asio::cancellation_signal signal;
    async_retry(scope, operation(), always_after_100ms(), note("op"));
    scope.async_join(asio::bind_cancellation_slot(signal.slot(), note_join("scope")));
    signal.emit(asio::cancellation_type::none);
    scope.cancel();
    time.run();
    EXPECT_THAT(order, elements("op aborted", "scope joined"));
}

TEST_F(retry_scope_test, join_of_an_empty_scope_is_not_cancelled_any_more) {
    retry_scope scope(io);
    asio::cancellation_signal signal;
    scope.async_join(asio::bind_cancellation_slot(signal.slot(), note_join("scope")));
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_THAT(order, elements("scope joined"));
}

// Decision 39: in whatever the scope runs, on the thread that runs it.
TEST_F(retry_scope_test, decision_39_a_scope_may_end_inside_what_it_runs) {
    enum class inside { retry_hook, give_up_hook, handler, join, drain };
    for (inside const where :
         {inside::retry_hook, inside::give_up_hook, inside::handler, inside::join, inside::drain}) {
        order.clear();
        failing.attempts = 0;
        auto scope = std::make_unique<retry_scope>(io);
        auto child = std::make_unique<retry_scope>(*scope);
        auto const end_in = [&](inside here) {
            if (here == where) {
                child.reset();
                scope.reset();
            }
        };
        auto const policy = always_after_100ms()
                                .max_attempts(2)
                                .on_retry([&](retry_event const&) { end_in(inside::retry_hook); })
                                .on_give_up([&](stop_reason) { end_in(inside::give_up_hook); });
        async_retry(*child, operation(), policy, [&](error_code, int) {
            order.push_back("operation");
            end_in(inside::handler);
        });
        scope->async_join([&](error_code ec) {
            order.push_back(ec ? "no join" : "join");
            end_in(inside::join);
        });
        if (where == inside::drain)
            child->async_drain(0s, [&](error_code, std::size_t) { end_in(inside::drain); });
        time.run();
        EXPECT_THAT(order, elements("operation", "join"));
        EXPECT_FALSE(scope);
        EXPECT_EQ(scheduler(io).pending(), 0u);
    }
}

// Whoever cancels tells what still runs, below it too; to end the wait of a cancelled operation asks for
// nothing.
TEST_F(retry_scope_test, decision_58_cancelling_again_tells_the_attempt_again) {
    retry_scope scope(io.get_executor());
    retry_scope child(scope);
    pending_attempts attempts(io);
    attempts.on_cancel = nullptr;
    async_retry(
        child, [&](auto token) { return attempts.async_attempt(std::move(token)); }, always_after_100ms(),
        note("op"));
    scope.cancel();
    time.advance(0s);
    for (retry_scope* const which : {&scope, &child}) {
        which->cancel();
        which->retry_now();
        time.advance(0s);
    }
    {
        retry_scope const destroyed(child);
    }
    time.advance(0s);
    EXPECT_THAT(attempts.cancellations, testing::SizeIs(3));
    attempts.complete(refused());
    time.run();
    EXPECT_THAT(order, elements("op aborted"));
}

// --- the slot of a join

TEST_F(retry_scope_test, signal_may_end_before_the_join) {
    retry_scope scope(io);
    async_retry(scope, operation(), always_after_100ms(), note("op"));
    {
        asio::cancellation_signal signal;
        scope.async_join(asio::bind_cancellation_slot(signal.slot(), note_join("scope")));
    }
    scope.cancel();
    time.run();
    EXPECT_THAT(order, elements("op aborted", "scope joined"));
}

TEST_F(retry_scope_test, slot_may_serve_another_operation_after_the_join) {
    retry_scope scope(io);
    asio::cancellation_signal signal;
    bool emitted = false;
    scope.async_join(asio::bind_cancellation_slot(signal.slot(), [&](error_code) {
        EXPECT_FALSE(signal.slot().has_handler());
        signal.slot().assign([&](asio::cancellation_type_t) { emitted = true; });
    }));
    time.run();
    signal.emit(asio::cancellation_type::terminal);
    EXPECT_TRUE(emitted);
}

TEST_F(retry_scope_test, join_is_cancelled_while_its_turn_is_queued) {
    asio::io_context other;
    auto scope = std::make_unique<retry_scope>(io);
    asio::cancellation_signal signal;
    async_retry(*scope, operation(), always_after_100ms(), note("op"));
    scope->async_join(
        asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(other, note_join("scope"))));
    scope->cancel();
    scope.reset();
    time.run();
    signal.emit(asio::cancellation_type::terminal);
    other.run();
    EXPECT_THAT(order, elements("op aborted", "scope joined"));
}

TEST(retry_scope, signal_may_outlive_the_context_of_a_join) {
    asio::cancellation_signal signal;
    {
        asio::io_context io;
        retry_scope scope(io);
        pending_attempts attempts(io);
        async_retry(
            scope, [&](auto token) { return attempts.async_attempt(std::move(token)); }, always_after_100ms(),
            [](error_code, int) { FAIL(); });
        scope.async_join(asio::bind_cancellation_slot(signal.slot(), [](error_code) { FAIL(); }));
    }
    EXPECT_FALSE(signal.slot().has_handler());
    signal.emit(asio::cancellation_type::terminal);
}

TEST(retry_scope, a_join_that_begins_as_the_context_is_destroyed_goes_uncalled) {
    auto const alive = std::make_shared<int>();
    std::optional<retry_scope> scope;
    {
        asio::io_context io;
        scope.emplace(io);
        auto const ask = [](retry_scope* s) { (void)s->pending(); }; // as the handler's destructor may
        auto const join = [&, alive](retry_scope* s) {
            s->async_join([alive, asks = std::shared_ptr<retry_scope>(s, ask)](error_code) { FAIL(); });
        };
        async_retry(
            *scope, [] { return error_code(asio::error::connection_refused); }, always_after_100ms(),
            [last = std::shared_ptr<retry_scope>(&*scope, join)](error_code) {});
        io.poll();
    }
    EXPECT_EQ(alive.use_count(), 1);
}

TEST(retry_scope, pending_operations_and_joins_of_a_destroyed_context_are_destroyed_uncalled) {
    auto const held = std::make_shared<int>();
    int calls = 0;
    {
        asio::io_context io;
        retry_scope scope(io.get_executor());
        pending_attempts attempts(io);
        script failing = script::failures(10);
        async_retry(
            scope, [&](auto token) { return async_scripted(io, failing, std::move(token)); },
            always_after_100ms(), [held, &calls](error_code, int) { ++calls; });
        auto limited = always_after_100ms().attempt_timeout(1h);
        async_retry(
            scope,
            [&]() -> asio::awaitable<void> {
                asio::steady_timer timer(io, 1h);
                co_await timer.async_wait(asio::use_awaitable);
            },
            limited, [held, &calls](std::exception_ptr) { ++calls; });
        scope.async_join([held, &calls](error_code) { ++calls; });
        io.poll();
        EXPECT_EQ(held.use_count(), 4);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(calls, 0);
}

// From any thread: operations are told on their own executors.
TEST(retry_scope, cancel_from_another_thread) {
    for (int round = 0; round != 50; ++round) {
        asio::thread_pool pool(2);
        retry_scope scope(pool.get_executor());
        std::atomic<int> aborted_count = 0;
        auto const policy = retry_policy().backoff(constant(50us)).unlimited_attempts().attempt_timeout(60us);
        for (int i = 0; i != 20; ++i)
            async_retry(scope, refusing_operation(), policy,
                        asio::bind_executor(asio::make_strand(pool),
                                            [&](error_code ec) { aborted_count += ec == aborted(); }));
        std::thread canceller([&] { scope.cancel(); });
        canceller.join();
        pool.join();
        EXPECT_EQ(aborted_count, 20);
        EXPECT_EQ(scope.pending(), 0u);
    }
}

// --- requests that could not be told

/// A member that cannot be told, and waits for nothing but that.
class leaving_member final : public detail::scope_member {
public:
    explicit leaving_member(detail::scope_state& in) noexcept
        : in_(in) {}

    int told = 0;
    bool was_waiting = false;

private:
    void on_scope_notice() override {
        ++told;
        EXPECT_FALSE(in_.unlink(*this, true));
        throw std::bad_alloc();
    }
    void on_notice_failed() override {
        was_waiting = in_.miss_request(*this);
        in_.request(detail::scope_request::cancel); // as another thread does, before it has gone
        EXPECT_TRUE(in_.unlink(*this));
    }

    detail::scope_state& in_;
};

TEST(retry_scope, who_waits_to_leave_is_told_nothing_after_a_request_that_it_missed) {
    asio::io_context io;
    auto const scope = detail::scope_state::create(io.get_executor(), {}, time_point::max());
    leaving_member member(*scope);
    scope->link(member);
    EXPECT_THROW(scope->request(detail::scope_request::retry_now), std::bad_alloc);
    EXPECT_EQ(member.told, 1);
    EXPECT_TRUE(member.was_waiting);
}

// Whoever cancels relies on a request that is being told; that fails, and is made good by who could not tell.
TEST(retry_scope, decision_39_cancels_who_could_not_be_told_of_less) {
    asio::io_context io;
    virtual_time time(io);
    for (bool const of_a_child : {false, true}) {
        retry_scope scope(io);
        retry_scope child(scope);
        std::function<void()> hook;
        completion_record record;
        async_retry(
            child, [] { return refused(); }, every_100ms(),
            asio::bind_executor(hooked_executor(io.get_executor(), hook),
                                [&](error_code ec) { record.handler()(ec, 0); }));
        time.advance(0s);
        int refusals = 0;
        hook = [&] {
            if (++refusals == 1)
                of_a_child ? child.cancel() : scope.cancel();
            else
                hook = nullptr;
            out_of_memory();
        };
        EXPECT_THROW(scope.retry_now(), std::bad_alloc);
        EXPECT_EQ(refusals, 2);
        time.advance(0s);
        EXPECT_EQ(record.error, aborted());
    }
}

// --- contexts that end before another one has run what it was given

TEST(retry_scope, decision_25_may_tell_on_a_context_that_outlives_that_of_its_waits) {
    asio::io_context runs;
    auto const held = std::make_shared<int>();
    {
        asio::io_context waits;
        retry_scope scope(waits);
        async_retry(
            scope, [] { return refused(); }, every_100ms(),
            asio::bind_executor(runs, [held](error_code) { FAIL(); }));
        runs.poll();
        EXPECT_EQ(scheduler(waits).pending(), 1u);
    }
    EXPECT_EQ(held.use_count(), 2) << "for the notice";
    runs.restart();
    runs.poll();
    EXPECT_EQ(held.use_count(), 1);
}

TEST(retry_scope, decision_25_coroutines_may_outlive_the_context_where_they_wait) {
    for (bool const is_scoped : {false, true}) {
        asio::io_context runs(1);
        auto const held = std::make_shared<int>();
        {
            asio::io_context waits;
            retry_scope scope(waits);
            auto const session = [&, held]() -> asio::awaitable<void> {
                auto const attempt = []() -> asio::awaitable<void> {
                    throw boost::system::system_error(refused());
                    co_return;
                };
                if (is_scoped)
                    co_await async_retry(scope, attempt, every_100ms(), asio::use_awaitable);
                else
                    co_await async_retry(waits, attempt, every_100ms(), asio::use_awaitable);
            };
            asio::co_spawn(runs, session, [held](std::exception_ptr) { FAIL(); });
            runs.poll();
            EXPECT_EQ(scheduler(waits).pending(), 1u);
        }
        runs.restart();
        runs.poll();
        EXPECT_EQ(held.use_count(), 1);
    }
}

/// Of an io_context, with something that tells how many of it there are; or of a quick thread, which comes
/// before whoever gives it something to do has gone on.
struct counted_executor {
    asio::io_context* runs;
    std::shared_ptr<int> count;
    bool is_quick;

    asio::io_context& query(asio::execution::context_t) const noexcept { return *runs; }
    static constexpr auto query(asio::execution::blocking_t) noexcept {
        return asio::execution::blocking_t(asio::execution::blocking.never);
    }
    counted_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }
    template <typename Function>
    void execute(Function function) const {
        if (is_quick)
            std::thread(std::move(function)).join();
        else
            asio::post(*runs, [*this, own = std::move(function)]() mutable { std::move(own)(); });
    }
    bool operator==(counted_executor const&) const noexcept = default;
};

TEST(retry_scope, decision_25_completions_elsewhere_keep_no_executor_of_a_context_that_is_gone) {
    for (bool const is_child : {false, true}) {
        asio::io_context runs;
        auto const count = std::make_shared<int>();
        completion_record record;
        {
            asio::io_context waits;
            retry_scope scope{asio::any_io_executor(counted_executor{&waits, count, false})};
            retry_scope child(scope);
            async_retry(
                is_child ? child : scope, [] { return error_code(); }, every_100ms(),
                asio::bind_executor(runs, [&](error_code ec) { record.handler()(ec, 0); }));
            EXPECT_GT(count.use_count(), 1);
        }
        EXPECT_EQ(count.use_count(), 1);
        EXPECT_EQ(record.count, 0);
        runs.poll();
        EXPECT_EQ(record.count, 1);
    }
}

// Asio destroys the frames of a coroutine on the executor of the coroutine, and so after the other context.
TEST(retry_scope, decision_25_coroutines_elsewhere_keep_no_executor_of_a_context_that_is_gone) {
    auto const await_token = [](retry_scope& in, retry_policy const& policy) -> asio::awaitable<void> {
        co_await async_retry(in, refusing_operation(), policy, asio::use_awaitable);
    };
    auto const await_coroutine = [](retry_scope& in, retry_policy const& policy) -> asio::awaitable<void> {
        auto const attempt = []() -> asio::awaitable<void> {
            throw boost::system::system_error(refused());
            co_return;
        };
        co_await async_retry(in, attempt, policy, asio::use_awaitable);
    };
    using session = asio::awaitable<void> (*)(retry_scope&, retry_policy const&);
    for (session const awaits : {session(await_token), session(await_coroutine)})
        for (retry_policy const& policy : {every_100ms(), every_100ms().deliver_at_once()}) {
            asio::io_context runs(1);
            auto const count = std::make_shared<int>();
            {
                asio::io_context waits;
                retry_scope scope{asio::any_io_executor(counted_executor{&waits, count, false})};
                asio::co_spawn(runs, awaits(scope, policy), [](std::exception_ptr) { FAIL(); });
                runs.poll();
                EXPECT_EQ(scheduler(waits).pending(), 1u);
            }
            EXPECT_EQ(count.use_count(), 1);
            runs.restart();
            runs.poll();
        }
}

TEST(retry_scope, decision_25_a_handler_may_destroy_the_context_while_other_joins_end_elsewhere) {
    asio::io_context runs;
    auto waits = std::make_unique<asio::io_context>();
    auto const count = std::make_shared<int>();
    auto scope =
        std::make_unique<retry_scope>(asio::any_io_executor(counted_executor{waits.get(), count, false}));
    std::vector<std::string> ended;
    async_retry(
        *scope, [] { return error_code(); }, every_100ms(),
        asio::bind_executor(runs, [&](error_code) { ended.emplace_back("operation"); }));
    for (int i = 0; i != 2; ++i)
        scope->async_join(asio::bind_executor(counted_executor{&runs, nullptr, true}, [&](error_code ec) {
            EXPECT_EQ(ec, error_code());
            ended.emplace_back("quick");
            scope.reset();
            waits.reset();
            EXPECT_EQ(count.use_count(), 1);
        }));
    scope->async_join(asio::bind_executor(runs, [&](error_code ec) {
        EXPECT_EQ(ec, error_code());
        ended.emplace_back("slow");
    }));
    scope->async_join([&](error_code) { ended.emplace_back("never"); });
    runs.poll();
    EXPECT_THAT(ended, testing::ElementsAre("operation", "quick", "quick", "slow"));
}

} // namespace
} // namespace asio_retry::test
