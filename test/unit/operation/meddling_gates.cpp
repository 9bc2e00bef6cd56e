#include <asio_retry/async_retry.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/retry_observer.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/manual_waits.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

// Gates and observers that do something to the operation, or to its context, from within each of their
// functions.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// A gate and an observer that record, and that do what they are to do at one of their calls.
class meddler final : public retry_gate, public retry_observer {
public:
    bool acquire(failure_kind kind, time_point now) noexcept override {
        count();
        return gate.acquire(kind, now);
    }
    void give_back(failure_kind kind) noexcept override {
        gate.give_back(kind);
        count();
    }
    admission admit(std::uint64_t number, time_point now) noexcept override {
        admission const answer = gate.admit(number, now);
        count();
        return answer;
    }
    void on_end(attempt_end const& end) noexcept override {
        gate.on_end(end);
        count();
    }
    bool measures_time() const noexcept override { return true; }
    void on_event(observation const& event) noexcept override {
        observer.on_event(event);
        count();
    }

    bool has_meddled() const noexcept { return calls_ > at; }

    recording_gate gate;
    recording_observer observer;
    int at = 0;
    std::function<void()> deed;

private:
    void count() noexcept {
        if (calls_++ == at)
            deed();
    }

    int calls_ = 0;
};

enum class meddled_form { callback, deferred, scope, awaited, awaitable_with_a_limit, awaitable_in_a_scope };

/// Two failures and a success; the gate refuses the first attempt once, and a lease once.
class meddled_operation {
public:
    explicit meddled_operation(meddled_form f, int at)
        : form_(f) {
        meddling->at = at;
        meddling->gate.refusals = {std::nullopt, std::nullopt, 1s};
        meddling->gate.grants = {false};
    }

    void start() {
        auto const policy = retry_policy()
                                .backoff(constant(100ms))
                                .jitter(no_jitter())
                                .wait_when_refused()
                                .gate(meddling)
                                .observe(meddling);
        auto const by_token = [this](auto token) { return async_scripted(*io, played, std::move(token)); };
        auto const awaitable = [this] { return awaitable_scripted(played); };
        auto const cancellable = [this](auto handler) {
            return asio::bind_cancellation_slot(signal.slot(), std::move(handler));
        };
        auto const on_code = [this](error_code ec, auto...) { completions.push_back(ec); };
        auto const on_exception = [this](std::exception_ptr e) {
            completions.push_back(e ? code_of(e) : error_code());
        };
        switch (form_) {
        case meddled_form::callback:
            return async_retry(*io, by_token, policy, cancellable(on_code));
        case meddled_form::deferred:
            return async_retry(*io, by_token, policy, asio::deferred)(cancellable(on_code));
        case meddled_form::scope:
            return async_retry(*scope, by_token, policy, cancellable(on_code));
        case meddled_form::awaited:
            // Asio does not let a coroutine be cancelled that has not waited for anything.
            return asio::co_spawn(
                *io,
                [](auto attempt, retry_policy p) -> asio::awaitable<void> {
                    co_await asio::post(asio::use_awaitable);
                    co_await async_retry(attempt, p);
                }(awaitable, policy),
                cancellable(on_exception));
        case meddled_form::awaitable_with_a_limit:
            return async_retry(*io, awaitable, policy.attempt_timeout(1h), cancellable(on_exception));
        case meddled_form::awaitable_in_a_scope:
            return async_retry(*scope, awaitable, policy, cancellable(on_exception));
        }
    }

    void expect_over(std::size_t times) {
        EXPECT_EQ(completions.size(), times);
        for (error_code const& ec : completions)
            EXPECT_TRUE(!ec || ec == aborted() || ec == condition::refused) << ec;
        EXPECT_TRUE(meddling->gate.is_balanced()) << testing::PrintToString(meddling->gate.told);
        EXPECT_EQ(meddling->observer.fault, "");
        EXPECT_TRUE(meddling->observer.is_complete());
    }

    std::shared_ptr<meddler> meddling = std::make_shared<meddler>();
    script played = script::failures(2);
    std::vector<error_code> completions;
    asio::cancellation_signal signal;
    std::optional<asio::io_context> io{std::in_place, 1};
    std::optional<virtual_time> time{std::in_place, *io};
    std::optional<retry_scope> scope{std::in_place, io->get_executor()};

private:
    meddled_form form_;
};

class meddling_gate : public testing::TestWithParam<meddled_form> {
protected:
    /// Does it at the first call, at the second, and so on until there is none any more.
    template <typename Deed>
    void at_every_call(Deed deed, std::size_t completions) {
        int at = 0;
        for (bool meddled = true; meddled; ++at) {
            SCOPED_TRACE(at);
            meddled_operation operation(GetParam(), at);
            operation.meddling->deed = [&] { deed(operation); };
            operation.start();
            operation.time->run();
            meddled = operation.meddling->has_meddled();
            operation.expect_over(meddled ? completions : 1);
        }
        EXPECT_GT(at, 15);
    }
};

TEST_P(meddling_gate, may_cancel_its_operation) {
    at_every_call([](meddled_operation& o) { o.signal.emit(asio::cancellation_type::terminal); }, 1);
}

TEST_P(meddling_gate, may_cancel_its_scope) {
    at_every_call([](meddled_operation& o) { o.scope->cancel(); }, 1);
}

TEST_P(meddling_gate, may_destroy_its_scope) {
    at_every_call([](meddled_operation& o) { o.scope.reset(); }, 1);
}

TEST_P(meddling_gate, may_start_another_operation_that_uses_it) {
    at_every_call(
        [](meddled_operation& o) {
            async_retry(
                *o.io, [] { return error_code(); }, retry_policy().gate(o.meddling).observe(o.meddling),
                [&o](error_code ec) { o.completions.push_back(ec); });
        },
        2);
}

TEST_P(meddling_gate, may_stop_the_context_which_is_then_destroyed) {
    int at = 0;
    for (bool meddled = true; meddled; ++at) {
        SCOPED_TRACE(at);
        meddled_operation operation(GetParam(), at);
        bool stops = false;
        operation.meddling->deed = [&] { stops = true; };
        operation.start();
        for (int i = 0; i != 50 && !stops; ++i)
            operation.time->advance(50ms);
        meddled = operation.meddling->has_meddled();
        operation.scope.reset();
        operation.time.reset();
        operation.io.reset();
        operation.expect_over(operation.completions.size());
        EXPECT_LE(operation.completions.size(), 1u);
    }
    EXPECT_GT(at, 15);
}

INSTANTIATE_TEST_SUITE_P(every_form, meddling_gate,
                         testing::Values(meddled_form::callback, meddled_form::deferred, meddled_form::scope,
                                         meddled_form::awaited, meddled_form::awaitable_with_a_limit,
                                         meddled_form::awaitable_in_a_scope));

// On a thread of its own nobody can cancel from there but by the waits.
TEST(meddling_gates, may_block_and_begin_a_blocking_retry) {
    for (int at = 0; at != 20; ++at) {
        auto const meddling = std::make_shared<meddler>();
        meddling->at = at;
        manual_waits waits;
        script played = script::failures(2);
        int inner = 0;
        meddling->deed = [&] {
            retry([&] { ++inner; }, retry_policy().gate(meddling).observe(meddling), waits);
            waits.stop = at % 2 == 0;
        };
        error_code const ec =
            retry([&] { return played.next(); },
                  retry_policy().backoff(constant(100ms)).gate(meddling).observe(meddling), waits);
        EXPECT_TRUE(!ec || ec == aborted()) << ec;
        EXPECT_EQ(inner, meddling->has_meddled());
        EXPECT_EQ(meddling->observer.fault, "") << at;
        EXPECT_TRUE(meddling->observer.is_complete()) << at;
        EXPECT_TRUE(meddling->gate.is_balanced()) << at;
    }
}

} // namespace
} // namespace asio_retry::test
