#include <asio_retry/async_retry.hpp>

#include <asio_retry/fail_if.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/elements.hpp"
#include "support/policies.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/scripted_operation.hpp"
#include "support/tallying_gate.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

enum class form {
    callback,
    plain_callable,
    deferred,
    scope,
    awaited,
    awaited_by_who_can_be_cancelled,
    awaitable_with_a_limit,
    awaitable_in_a_scope
};

/// The same operation in every form: it fails as the script says, its gate answers as the gate is told.
class gated_operation {
public:
    explicit gated_operation(form f)
        : form_(f)
        , io_(std::in_place)
        , time_(std::in_place, *io_)
        , begin(time_->now()) {}

    void start(retry_policy policy) {
        policy =
            policy.gate(gate).observe(observer).on_give_up([this](stop_reason r) { reasons.push_back(r); });
        auto const by_token = [this](auto token) { return async_scripted(*io_, played, std::move(token)); };
        auto const awaitable = [this] { return awaitable_scripted(played); };
        auto const on_code = [this](error_code ec, auto...) { complete(ec); };
        auto const on_exception = [this](std::exception_ptr e) { complete(e ? code_of(e) : error_code()); };
        switch (form_) {
        case form::callback:
            return async_retry(*io_, by_token, policy, on_code);
        case form::plain_callable:
            return async_retry(*io_, [this] { return played.next(); }, policy, on_code);
        case form::deferred:
            return async_retry(*io_, by_token, policy, asio::deferred)(on_code);
        case form::scope:
            return async_retry(scope_.emplace(io_->get_executor()), by_token, policy, on_code);
        case form::awaited:
            return asio::co_spawn(*io_, async_retry(awaitable, policy), on_exception);
        case form::awaited_by_who_can_be_cancelled:
            return asio::co_spawn(*io_, async_retry(awaitable, policy),
                                  asio::bind_cancellation_slot(signal_.slot(), on_exception));
        case form::awaitable_with_a_limit:
            return async_retry(*io_, awaitable, policy.attempt_timeout(1h), on_exception);
        case form::awaitable_in_a_scope:
            return async_retry(scope_.emplace(io_->get_executor()), awaitable, policy, on_exception);
        }
    }

    void run() { time_->run(); }
    duration elapsed() const { return time_->now() - begin; }
    void advance(duration by) { time_->advance(by); }

    /// Through whatever the form has for it; false if it has nothing.
    bool cancel() {
        if (scope_)
            scope_->cancel();
        else if (form_ == form::awaited_by_who_can_be_cancelled)
            signal_.emit(asio::cancellation_type::terminal);
        else
            return false;
        return true;
    }
    void destroy() {
        time_.reset();
        io_.reset();
    }

    /// Whether nothing is left of it, and what was told is one story.
    void expect_over() {
        EXPECT_TRUE(gate->is_balanced());
        EXPECT_EQ(observer->fault, "");
        EXPECT_TRUE(observer->is_complete());
    }

    std::shared_ptr<recording_gate> gate = std::make_shared<recording_gate>();
    std::shared_ptr<recording_observer> observer = std::make_shared<recording_observer>();
    script played;
    std::vector<error_code> completions;
    std::vector<stop_reason> reasons;

private:
    void complete(error_code ec) { completions.push_back(ec); }

    form form_;
    asio::cancellation_signal signal_;
    std::optional<asio::io_context> io_;
    std::optional<virtual_time> time_;
    std::optional<retry_scope> scope_;

public:
    time_point const begin;
};

class async_retry_gate : public testing::TestWithParam<form> {
protected:
    gated_operation operation{GetParam()};
    void TearDown() override { operation.expect_over(); }
};

TEST_P(async_retry_gate, decision_26_is_told_of_every_attempt_and_asked_for_every_retry) {
    operation.played = script::failures(1);
    operation.start(every_100ms());
    operation.run();
    EXPECT_THAT(operation.completions, ElementsAre(error_code()));
    EXPECT_THAT(operation.gate->told,
                elements("admit 1", "failed 1 transient", "acquire transient", "admit 2", "succeeded 2"));
    EXPECT_TRUE(operation.gate->is_balanced());
}

TEST_P(async_retry_gate, refuses_a_first_attempt) {
    operation.gate->refusals = {no_idea};
    operation.start(every_100ms());
    EXPECT_THAT(operation.completions, IsEmpty()) << "what follows belongs on the executor";
    EXPECT_THAT(operation.reasons, IsEmpty());
    if (GetParam() != form::awaited && GetParam() != form::awaited_by_who_can_be_cancelled) {
        EXPECT_THAT(operation.gate->told, elements("refuse 1")) << "asked in the initiating function";
    }
    operation.run();
    EXPECT_THAT(operation.completions, ElementsAre(error_code(error::circuit_open)));
    EXPECT_THAT(operation.reasons, ElementsAre(stop_reason::refused));
    EXPECT_EQ(operation.played.attempts, 0u);
    EXPECT_THAT(operation.gate->told, elements("refuse 1"));
}

TEST_P(async_retry_gate, refuses_a_retry_and_the_last_error_is_delivered) {
    operation.played = script::failures(5);
    operation.gate->refusals = {let_in, no_idea};
    operation.start(every_100ms());
    operation.run();
    EXPECT_THAT(operation.completions, ElementsAre(refused()));
    EXPECT_THAT(operation.reasons, ElementsAre(stop_reason::refused));
    EXPECT_EQ(operation.played.attempts, 1u);
    EXPECT_EQ(operation.elapsed(), 100ms);
    EXPECT_TRUE(operation.gate->is_balanced());
}

TEST_P(async_retry_gate, is_waited_for_before_the_first_attempt_and_before_a_retry) {
    operation.played = script::failures(1);
    operation.gate->refusals = {5s, no_idea, let_in, 1s};
    operation.gate->grants = {false};
    operation.start(every_100ms().wait_when_refused());
    operation.run();
    EXPECT_THAT(operation.completions, ElementsAre(error_code()));
    EXPECT_THAT(operation.gate->told,
                elements("refuse 1", "refuse 1", "admit 1", "failed 1 transient", "no lease transient",
                         "acquire transient", "refuse 2", "admit 2", "succeeded 2"));
    EXPECT_EQ(operation.elapsed(), 5100ms + 100ms + 100ms + 1100ms);
    EXPECT_TRUE(operation.gate->is_balanced());
}

TEST_P(async_retry_gate, decision_13_a_wait_for_it_ends_where_it_is_cancelled) {
    struct waits {
        char const* for_what;
        std::vector<std::optional<duration>> refusals;
        bool refuses_lease;
    } const all[] = {{"the first attempt", {5s}, false},
                     {"a lease", {}, true},
                     {"a retry that has its lease", {let_in, 5s}, false}};
    for (waits const& w : all) {
        SCOPED_TRACE(w.for_what);
        gated_operation each(GetParam());
        each.played = script::failures(5);
        each.gate->refusals.assign(w.refusals.begin(), w.refusals.end());
        if (w.refuses_lease)
            each.gate->grants.assign(50, false);
        each.start(every_100ms().wait_when_refused());
        each.advance(250ms);
        EXPECT_THAT(each.completions, IsEmpty());
        if (!each.cancel())
            continue;
        each.advance(0ms);
        EXPECT_THAT(each.completions, ElementsAre(aborted()));
        EXPECT_THAT(each.reasons, ElementsAre(stop_reason::cancelled));
        each.expect_over();
    }
}

TEST_P(async_retry_gate, a_wait_for_it_keeps_within_the_limits_of_time) {
    retry_policy const waiting = every_100ms().wait_when_refused();
    for (retry_policy const& policy :
         {waiting.total_timeout(1s), waiting.max_elapsed(1s), waiting.total_timeout(1s).clamp()}) {
        gated_operation each(GetParam());
        each.played = script::failures(5);
        each.gate->refusals = {let_in};
        each.gate->grants.assign(50, false);
        each.start(policy);
        each.run();
        ASSERT_THAT(each.completions, testing::SizeIs(1));
        EXPECT_THAT(each.completions, ElementsAre(refused()));
        EXPECT_THAT(each.reasons, ElementsAre(testing::AnyOf(stop_reason::deadline, stop_reason::elapsed)));
        EXPECT_LE(each.elapsed(), 1s);
        EXPECT_EQ(each.played.attempts, 1u) << "refusals are no attempts";
        each.expect_over();
    }
}

TEST_P(async_retry_gate, decision_25_a_context_that_is_destroyed_leaves_nothing_behind) {
    struct stop {
        char const* where;
        std::vector<std::optional<duration>> refusals;
        bool refuses_lease;
        duration after;
    } const stops[] = {{"waiting for the first attempt", {5s}, false, 1s},
                       {"waiting for a retry", {}, false, 50ms},
                       {"waiting for a lease", {}, true, 150ms},
                       {"waiting with a lease", {let_in, 5s}, false, 150ms},
                       {"queued", {}, false, 0s}};
    for (stop const& s : stops) {
        SCOPED_TRACE(s.where);
        gated_operation each(GetParam());
        each.played = script::failures(5);
        each.gate->refusals.assign(s.refusals.begin(), s.refusals.end());
        if (s.refuses_lease)
            each.gate->grants = {false, false};
        each.start(every_100ms().wait_when_refused());
        if (s.after != 0s)
            each.advance(s.after);
        each.destroy();
        EXPECT_THAT(each.completions, IsEmpty());
        each.expect_over();
    }
}

INSTANTIATE_TEST_SUITE_P(every_form, async_retry_gate,
                         testing::Values(form::callback, form::plain_callable, form::deferred, form::scope,
                                         form::awaited, form::awaited_by_who_can_be_cancelled,
                                         form::awaitable_with_a_limit, form::awaitable_in_a_scope));

// The whole way of what a peer said, through a nested retry.
TEST(async_retry_gates, decision_29_an_attempt_heeds_its_peer_and_an_inner_retry_its_own) {
    asio::io_context io;
    virtual_time time(io);
    time_point const begin = time.now();
    std::vector<stop_reason> reasons;
    auto const noting = [&](retry_policy const& policy) {
        return policy.pushback_spread(0).on_give_up([&](stop_reason r) { reasons.push_back(r); });
    };
    int calls = 0;
    auto const inner = [&](attempt which) -> asio::awaitable<void> {
        which.heed(++calls == 1 ? pushback::after(3s) : pushback::never());
        throw boost::system::system_error(refused());
        co_return;
    };
    auto const outer = [&](attempt which) -> asio::awaitable<void> {
        co_await async_retry(which, inner, noting(every_100ms().retry_when_nested()));
    };
    error_code delivered;
    asio::co_spawn(io, async_retry(outer, noting(every_100ms())),
                   [&](std::exception_ptr e) { delivered = code_of(e); });
    time.run();
    EXPECT_EQ(delivered, refused());
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(time.now() - begin, 3s);
    EXPECT_THAT(reasons, ElementsAre(stop_reason::pushback, stop_reason::pushback));
}

// Attempts that heed on one thread, a scope that is cancelled on another.
TEST(async_retry_gates, are_told_on_any_thread) {
    auto const gate = std::make_shared<tallying_gate>();
    auto const observer = std::make_shared<recording_observer>();
    retry_policy const policy = retry_policy()
                                    .backoff(constant(10us))
                                    .unlimited_attempts()
                                    .wait_when_refused()
                                    .gate(gate)
                                    .observe(observer);
    for (int round = 0; round != 20; ++round) {
        asio::thread_pool pool(2);
        retry_scope scope(pool.get_executor());
        auto const operation = [&](attempt which, auto token) {
            which.heed(pushback::after(1us));
            return asio::async_initiate<decltype(token), void(error_code)>(
                [&](auto handler) { asio::post(pool, asio::append(std::move(handler), refused())); }, token);
        };
        for (int i = 0; i != 20; ++i)
            async_retry(scope, operation, policy, [](error_code) {});
        scope.cancel();
        pool.join();
    }
    EXPECT_EQ(gate->running, 0);
    EXPECT_EQ(gate->leases, 0);
    EXPECT_EQ(observer->fault, "");
    EXPECT_TRUE(observer->is_complete());
}

// A ceiling of a scope comes before a wait for a gate.
TEST(async_retry_gates, a_scope_without_room_does_not_wait_for_the_gate) {
    asio::io_context io;
    virtual_time time(io);
    retry_scope scope(io.get_executor());
    scope.max_pending(1);
    auto const gate = std::make_shared<recording_gate>();
    script played;
    std::vector<error_code> completions;
    auto const on_done = [&](error_code ec, int) { completions.push_back(ec); };
    auto const operation = [&](auto token) { return async_scripted(io, played, std::move(token)); };
    gate->refusals = {5s, 5s};
    async_retry(scope, operation, every_100ms().gate(gate).wait_when_refused(), on_done);
    async_retry(scope, operation, every_100ms().gate(gate).wait_when_refused(), on_done);
    time.run();
    EXPECT_THAT(completions, ElementsAre(asio::error::no_buffer_space, error_code()));
    EXPECT_TRUE(gate->is_balanced());
}

TEST(async_retry_gates, a_client_that_only_reconnects_needs_a_budget_that_fills_by_itself) {
    auto const dials_in_an_hour = [](double per_second) {
        asio::io_context io;
        virtual_time time(io);
        int dials = 0;
        auto const dial = [&]() -> error_code {
            ++dials;
            return asio::error::connection_refused;
        };
        auto const staying =
            retry_policy()
                .unlimited_attempts()
                .gate(std::make_shared<retry_budget>(retry_budget_options{.per_second = per_second}))
                .wait_when_refused();
        async_retry(io, dial, staying, asio::detached);
        time.advance(1h);
        return dials;
    };
    EXPECT_EQ(dials_in_an_hour(0), 2);
    EXPECT_GT(dials_in_an_hour(0.1), 100);
}

// What judges values says what they mean, and what the peer said.
TEST(async_retry_gates, a_judgement_reaches_the_gate) {
    asio::io_context io;
    virtual_time time(io);
    auto const gate = std::make_shared<recording_gate>();
    std::vector<int> statuses{429, 503, 404};
    std::size_t calls = 0;
    int delivered = 0;
    std::vector<stop_reason> reasons;
    auto const judged = fail_if([&]() -> asio::awaitable<int> { co_return statuses[calls++]; },
                                [](int status) { return judge_http(status, "2"); });
    asio::co_spawn(io,
                   async_retry(judged, every_100ms().gate(gate).pushback_spread(0).on_give_up(
                                           [&](stop_reason r) { reasons.push_back(r); })),
                   [&](std::exception_ptr, int status) { delivered = status; });
    time_point const begin = time.now();
    time.run();
    EXPECT_EQ(delivered, 404) << "a permanent one is delivered as it is";
    EXPECT_THAT(reasons, ElementsAre(stop_reason::not_retryable));
    EXPECT_EQ(time.now() - begin, 4s);
    EXPECT_THAT(gate->told,
                elements("admit 1", "failed 1 throttled", "acquire throttled", "admit 2", "failed 2 overloaded",
                         "acquire overloaded", "admit 3", "failed 3 permanent"));
    EXPECT_EQ(gate->ends.at(0).said, pushback::after(2s));
}

} // namespace
} // namespace asio_retry::test
