#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>

#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include "support/post_completion.hpp"
#include "support/scripted_operation.hpp"
#include "support/test_wait.hpp"

#include <boost/asio.hpp>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

// Whoever asks an attempt to stop is heard, whoever has asked before: every ordered pair of interrupters.

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct interrupter {
    enum kind { caller, scope, drain, limit_of_attempts, limit_of_operation } what;
    std::string_view name;
    asio::cancellation_type_t type = asio::cancellation_type::none;
};
constexpr interrupter interrupters[] = {
    {interrupter::caller, "terminal", asio::cancellation_type::terminal},
    {interrupter::caller, "partial", asio::cancellation_type::partial},
    {interrupter::caller, "total", asio::cancellation_type::total},
    {interrupter::scope, "scope"},
    {interrupter::drain, "drain"},
    {interrupter::limit_of_attempts, "attempt_timeout"},
    {interrupter::limit_of_attempts, "setup_timeout"},
    {interrupter::limit_of_attempts, "idle_timeout"},
    {interrupter::limit_of_operation, "total_timeout"},
    {interrupter::limit_of_operation, "deadline"},
    {interrupter::limit_of_operation, "deadline of the scope"},
};
constexpr bool is_limit(interrupter const& one) {
    return one.what >= interrupter::limit_of_attempts;
}

/// What an attempt hears.
enum class hearing {
    from_its_second_step_on, ///< as a lookup that cannot be cancelled, and then a connect
    but_hangs_in_a_clean_up,
    nothing,
};
enum class interrupted_form { callback, spawned, awaited, hedged, hedged_awaitable };
constexpr std::string_view names_of_forms[] = {"callback", "spawned", "awaited", "hedged", "hedged_awaitable"};
constexpr bool is_hedge(interrupted_form one) {
    return one >= interrupted_form::hedged;
}

constexpr duration first_at = 100ms, hears_from = 150ms, second_at = 200ms, ends_at = 10s;

/// Completes at `until`, or when it is told to stop, if it `hears`.
template <typename Token>
auto async_hold(asio::io_context& io, time_point until, bool hears, Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [](auto handler, asio::io_context* context, time_point end, bool is_told) {
            struct hold {
                asio::io_context& io;
                decltype(handler) to_call;
                test_wait wait{};

                void finish(error_code ec) {
                    asio::post(io, [keep = std::exchange(wait.expired, nullptr)] {}); // not under itself
                    auto const executor = asio::get_associated_executor(to_call, io.get_executor());
                    post_completion(executor, std::move(to_call), ec);
                }
            };
            auto const held = std::make_shared<hold>(*context, std::move(handler));
            held->wait.expired = [held] { held->finish({}); };
            auto slot = asio::get_associated_cancellation_slot(held->to_call);
            if (is_told && slot.is_connected())
                slot.assign([one = held.get()](asio::cancellation_type_t) {
                    if (scheduler(one->io).cancel(one->wait))
                        one->finish(aborted());
                });
            scheduler(*context).schedule(held->wait, end);
        },
        token, &io, until, hears);
}

class interrupted_twice {
public:
    interrupted_twice(interrupted_form shape, hearing heard, interrupter const& first,
                      interrupter const& second, bool at_once)
        : form_(shape)
        , heard_(heard)
        , first_(first)
        , second_(second) {
        if (first.name == "total" || second.name == "total") // which only a single attempt obeys
            hedge_ = hedge_policy(1h);
        if (at_once) {
            policy_ = policy_.deliver_at_once();
            hedge_ = hedge_.deliver_at_once();
        }
    }

    void run() {
        set(first_, first_at);
        set(second_, second_at);
        scope_.emplace(io_, scope_deadline_);
        start();
        for (auto const& [who, when] : {std::pair(first_, first_at), std::pair(second_, second_at)}) {
            time_.advance(50ms);
            if (who.what == interrupter::drain)
                scope_->async_drain(50ms, [](error_code, std::size_t) {});
            time_.advance(50ms);
            fire(who);
            time_.advance(0s);
        }
        time_.run();
    }

    duration ended() const { return ended_; }
    bool is_hedged() const { return is_hedge(form_); }
    int completions() const { return completions_; }
    error_code error() const { return error_; }
    bool is_over() {
        return attempts_ == ended_attempts_ && scope_->pending() == 0 && scheduler(io_).pending() == 0;
    }

private:
    void set(interrupter const& one, duration after) {
        if (one.name == "attempt_timeout")
            policy_ = policy_.attempt_timeout(after);
        else if (one.name == "setup_timeout")
            policy_ = policy_.setup_timeout(after);
        else if (one.name == "idle_timeout")
            policy_ = policy_.idle_timeout(after);
        else if (one.name == "total_timeout")
            policy_ = policy_.total_timeout(after), hedge_ = hedge_.total_timeout(after);
        else if (one.name == "deadline")
            policy_ = policy_.deadline(begin_ + after), hedge_ = hedge_.deadline(begin_ + after);
        else if (one.name == "deadline of the scope")
            scope_deadline_ = begin_ + after;
    }
    void fire(interrupter const& one) {
        if (one.what == interrupter::caller)
            signal_.emit(one.type);
        else if (one.what == interrupter::scope)
            scope_->cancel();
    }

    void end(error_code ec) {
        ++completions_;
        error_ = ec;
        ended_ = time_.now() - begin_;
    }

    struct counted {
        int& ended;
        ~counted() { ++ended; }
    };

    asio::awaitable<void> steps() {
        ++attempts_;
        counted const until_the_end{ended_attempts_};
        auto const forget = [] {
            return asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        };
        co_await asio::this_coro::throw_if_cancelled(false);
        co_await forget();
        if (heard_ == hearing::from_its_second_step_on)
            co_await async_hold(io_, begin_ + hears_from, false, asio::use_awaitable);
        if (heard_ == hearing::but_hangs_in_a_clean_up)
            co_await async_hold(io_, begin_ + ends_at, true, asio::as_tuple(asio::use_awaitable));
        co_await forget();
        co_await async_hold(io_, begin_ + ends_at, heard_ != hearing::nothing, asio::use_awaitable);
    }

    template <typename Token>
    auto steps(Token&& token) {
        ++attempts_;
        return asio::async_initiate<Token, void(error_code)>(
            [](auto handler, interrupted_twice* self) {
                auto const slot = asio::get_associated_cancellation_slot(handler);
                auto last = [self, h = std::move(handler)](error_code ec) mutable {
                    ++self->ended_attempts_;
                    std::move(h)(ec);
                };
                auto hold_again = [self, slot, h = std::move(last)](error_code) mutable {
                    async_hold(self->io_, self->begin_ + ends_at, self->heard_ != hearing::nothing,
                               asio::bind_cancellation_slot(slot, std::move(h)));
                };
                if (self->heard_ == hearing::but_hangs_in_a_clean_up)
                    async_hold(self->io_, self->begin_ + ends_at, true,
                               asio::bind_cancellation_slot(slot, std::move(hold_again)));
                else
                    async_hold(self->io_, self->begin_ + hears_from, false, std::move(hold_again));
            },
            token, this);
    }

    asio::awaitable<void> await() {
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        co_await asio::this_coro::throw_if_cancelled(false);
        auto const coroutine = [this](attempt) { return steps(); };
        co_await async_retry(*scope_, coroutine, policy_);
    }

    void start() {
        auto const token = [this](attempt, auto&& t) { return steps(std::forward<decltype(t)>(t)); };
        auto const coroutine = [this](attempt) { return steps(); };
        auto on_code = asio::bind_cancellation_slot(signal_.slot(), [this](error_code ec) { end(ec); });
        auto on_exception = asio::bind_cancellation_slot(
            signal_.slot(), [this](std::exception_ptr e) { end(e ? code_of(e) : error_code()); });
        switch (form_) {
        case interrupted_form::callback:
            return async_retry(*scope_, token, policy_, std::move(on_code));
        case interrupted_form::spawned:
            return async_retry(*scope_, coroutine, policy_, std::move(on_exception));
        case interrupted_form::awaited:
            return asio::co_spawn(io_, await(), std::move(on_exception));
        case interrupted_form::hedged:
            return async_hedge(*scope_, token, hedge_, std::move(on_code));
        case interrupted_form::hedged_awaitable:
            return async_hedge(*scope_, coroutine, hedge_, std::move(on_exception));
        }
    }
    interrupted_form const form_;
    hearing const heard_;
    interrupter const first_;
    interrupter const second_;
    asio::cancellation_signal signal_;
    asio::io_context io_;
    virtual_time time_{io_};
    time_point const begin_ = time_.now();
    time_point scope_deadline_ = time_point::max();
    std::optional<retry_scope> scope_;
    retry_policy policy_ = retry_policy().max_attempts(1);
    hedge_policy hedge_ = hedge_policy(30ms);
    int attempts_ = 0;
    int ended_attempts_ = 0;
    int completions_ = 0;
    duration ended_{};
    error_code error_;
};

/// Calls `check` with what came of each pair, in each interrupted_form.
template <typename Check>
void for_each_pair(hearing heard, bool at_once, Check check) {
    for (interrupted_form const shape :
         {interrupted_form::callback, interrupted_form::spawned, interrupted_form::awaited,
          interrupted_form::hedged, interrupted_form::hedged_awaitable})
        for (interrupter const& first : interrupters)
            for (interrupter const& second : interrupters) {
                bool const is_attempts = first.what == interrupter::limit_of_attempts ||
                                         second.what == interrupter::limit_of_attempts;
                if ((is_hedge(shape) && is_attempts) || (is_limit(first) && first.name == second.name))
                    continue;
                SCOPED_TRACE(std::string(names_of_forms[static_cast<std::size_t>(shape)]) + ": " +
                             std::string(first.name) + ", " + std::string(second.name));
                interrupted_twice one(shape, heard, first, second, at_once);
                one.run();
                EXPECT_EQ(one.completions(), 1);
                EXPECT_TRUE(one.is_over());
                check(one, first, second);
            }
}

bool cancels(interrupter const& one) {
    return !is_limit(one);
}

/// A cancellation wins over a limit, but not over one that has ended a hedge, nor over the deadline of the
/// operation (decision 74).
void expect_end_by_the_second(interrupted_twice const& one, interrupter const& first,
                              interrupter const& second) {
    bool const is_cancelled =
        cancels(first) || (first.what == interrupter::limit_of_attempts && cancels(second) && !one.is_hedged());
    EXPECT_EQ(one.ended(), second_at);
    EXPECT_EQ(one.error(), is_cancelled ? aborted() : timed_out());
}

TEST(interrupters, decision_58_the_second_is_heard_by_whoever_could_not_hear_the_first) {
    for_each_pair(hearing::from_its_second_step_on, false, expect_end_by_the_second);
}

TEST(interrupters, decision_58_the_second_ends_a_clean_up_that_hangs) {
    for_each_pair(hearing::but_hangs_in_a_clean_up, false, expect_end_by_the_second);
}

TEST(interrupters, decision_12_an_attempt_that_hears_nobody_succeeds_after_all) {
    for_each_pair(hearing::nothing, false, [](auto const& one, auto const&, auto const&) {
        EXPECT_EQ(one.ended(), ends_at);
        EXPECT_FALSE(one.error()) << one.error();
    });
}

TEST(interrupters, decision_57_nobody_waits_for_an_attempt_where_the_result_is_delivered_at_once) {
    for (hearing const heard :
         {hearing::from_its_second_step_on, hearing::but_hangs_in_a_clean_up, hearing::nothing})
        for_each_pair(heard, true, [](auto const& one, auto const& first, auto const&) {
            EXPECT_EQ(one.ended(), first_at);
            EXPECT_EQ(one.error(), cancels(first) ? aborted() : timed_out());
        });
}

} // namespace
} // namespace asio_retry::test
