#include "scenario.hpp"

#include "support/scripted_operation.hpp"

#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/strand.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace asio_retry {

inline void PrintTo(stop_reason reason, std::ostream* out) {
    *out << to_string(reason);
}

} // namespace asio_retry

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using type = asio::cancellation_type;

// Of the steady clock it has passed when anybody looks.
constexpr duration instant = 1ns;
constexpr duration deadline = 10ns;

asio::any_io_executor make_executor(executor_kind kind, asio::io_context& io) {
    if (kind == executor_kind::strand)
        return asio::make_strand(io);
    return io.get_executor();
}

} // namespace

scenario::scenario(matrix_case const& c, std::unique_ptr<asio::io_context>& io)
    : case_(c)
    , expected_(expected(c))
    , io_(io) {
    if (!io_)
        io_ = std::make_unique<asio::io_context>();
    executor_ = make_executor(c.on, *io_);
    time_.emplace(*io_);
    if (c.scoped)
        scope_.emplace(parent_scope_.emplace(executor_));
    attempts_.emplace(*io_, c);
    attempts_->on_call = [this] { cancel_at(place::in_initiation, attempts_->calls); };
}

void scenario::run(launcher launch) {
    launch(*this);
    drive();
    drain();
    expect_outcome();
    if (expected_.completes)
        expect_nothing_left();
    expect_late_cancellation_ignored();
    destroy();
}

duration scenario::delay() const {
    switch (case_.at.where) {
    case place::waiting_in_real_time:
        return 1h;
    case place::retry_queued:
        return 0s;
    case place::wait_over_and_queued:
        return instant;
    default:
        return case_.at_limit() ? instant : 100ms;
    }
}

retry_policy scenario::policy() {
    bool const is_last = case_.at.where == place::in_on_give_up;
    retry_policy policy = retry_policy()
                              .gate(gate_)
                              .max_attempts(is_last ? case_.at.attempt : 10)
                              .backoff(backoff([this](std::uint64_t failures) {
                                  cancel_at(place::in_backoff, static_cast<unsigned>(failures));
                                  return delay();
                              }))
                              .jitter(jitter([this](backoff_step const& step, random&) {
                                  cancel_at(place::in_jitter, static_cast<unsigned>(step.failures));
                                  return step.ceiling;
                              }))
                              .on_retry([this, counted = count_me()](retry_event const&) {
                                  ++retries_;
                                  cancel_at(place::in_on_retry, retries_);
                              })
                              .on_give_up([this](retry_event const& e) {
                                  give_ups_.push_back(e);
                                  cancel_at(place::in_on_give_up, static_cast<unsigned>(e.attempt));
                              });
    if (case_.at.where == place::in_predicate)
        policy = policy.retry_if([this](error_code const&) {
            cancel_at(place::in_predicate, attempts_->calls);
            return true;
        });
    if (case_.by == means::total_allowed)
        policy = policy.allow_total_cancellation();
    if (case_.limited)
        return policy.attempt_timeout(24h);
    if (case_.at_deadline())
        return policy.total_timeout(deadline);
    if (case_.at_set_up_limit())
        return policy.setup_timeout(instant);
    if (case_.at_silence())
        return policy.idle_timeout(instant);
    if (case_.at_limit())
        return policy.attempt_timeout(instant);
    return policy;
}

void scenario::on_completed(error_code const& error, int value) {
    ++completions_;
    error_ = error;
    value_ = value;
    cancel_at(place::in_completion_handler, case_.at.attempt);
}

void scenario::on_completed(std::exception_ptr const& thrown, int value) {
    on_completed(thrown ? code_of(thrown) : error_code(), value);
}

// --- to the point

void scenario::drive() {
    bool const ends_in_initiation = case_.does == kind::completes_inline || case_.does == kind::throws;
    switch (case_.at.where) {
    case place::before_start:
    case place::in_initiation:
    case place::in_predicate:
    case place::in_backoff:
    case place::in_jitter:
    case place::in_on_retry:
    case place::in_on_give_up:
    case place::in_completion_handler:
        poll();
        return; // they cancel themselves
    case place::attempt_not_begun:
        break;
    case place::in_attempt:
        drive_to_attempt();
        break;
    case place::failure_queued:
    case place::success_queued:
        if (!ends_in_initiation) {
            drive_to_attempt();
            attempts_->end();
        }
        break;
    case place::waiting:
        drive_to_wait();
        time_->advance(delay() / 2);
        break;
    case place::waiting_in_real_time:
        drive_to_wait();
        time_.reset();
        poll();
        break;
    case place::wait_over_and_queued:
        drive_to_wait();
        queue_what_is_due();
        break;
    case place::retry_queued:
        drive_to_queued_retry();
        break;
    case place::attempt_limit_queued:
    case place::set_up_limit_queued:
    case place::silence_queued:
    case place::deadline_queued:
        drive_to_attempt();
        queue_what_is_due();
        break;
    case place::attempt_limit_passed:
    case place::set_up_limit_passed:
    case place::silence_passed:
        drive_to_attempt();
        time_->advance(instant);
        break;
    case place::deadline_passed:
        drive_to_attempt();
        time_->advance(deadline);
        break;
    case place::after_completion:
        drain();
        EXPECT_EQ(completions_, 1);
        break;
    }
    std::optional<time_point> const when = time_ ? std::optional(time_->now()) : std::nullopt;
    cancel();
    poll();
    if (expected_.at_once) {
        EXPECT_EQ(completions_, 1) << "completes within one turn";
    }
    if (when) {
        EXPECT_EQ(time_->now(), *when);
    }
}

void scenario::drive_to_attempt() {
    poll();
    for (unsigned step = 0; attempts_->calls != case_.at.attempt && step != 2 * case_.at.attempt; ++step) {
        if (attempts_->pending())
            attempts_->end();
        else
            time_->advance(delay());
        poll();
    }
    ASSERT_EQ(attempts_->calls, case_.at.attempt);
    ASSERT_TRUE(attempts_->pending());
}

void scenario::drive_to_wait() {
    poll();
    for (unsigned step = 0; retries_ != case_.at.attempt && step != 2 * case_.at.attempt; ++step) {
        if (attempts_->pending())
            attempts_->end();
        else
            time_->advance(delay());
        poll();
    }
    ASSERT_EQ(retries_, case_.at.attempt);
    ASSERT_EQ(scheduler(*io_).pending(), 1u);
}

void scenario::drive_to_queued_retry() {
    io_->restart();
    while (retries_ != case_.at.attempt) {
        if (attempts_->pending())
            attempts_->end();
        ASSERT_EQ(io_->poll_one(), 1u);
    }
}

// Virtual time runs what becomes due. The steady clock, which is past that already, leaves it queued.
void scenario::queue_what_is_due() {
    ASSERT_EQ(scheduler(*io_).pending(), 1u);
    time_.reset();
    io_->restart();
    auto const queue = [this] {
        while (scheduler(*io_).pending() != 0)
            io_->poll_one();
    };
    // A strand that is free would be entered at once.
    if (auto const* const strand = executor_.target<asio::strand<asio::io_context::executor_type>>())
        asio::dispatch(*strand, queue);
    queue();
    time_.emplace(*io_);
}

bool scenario::poll() {
    bool any = false;
    io_->restart();
    while (io_->poll() != 0) {
        any = true;
        io_->restart();
    }
    look_at_future();
    return any;
}

void scenario::drain() {
    poll();
    for (int step = 0; step != 20; ++step) {
        if (attempts_->can_end())
            attempts_->end();
        else if (time_ && !attempts_->pending() && scheduler(*io_).pending() != 0)
            time_->advance(delay());
        else
            return;
        poll();
    }
    ADD_FAILURE() << "the operation goes on and on";
}

void scenario::cancel_at(place where, unsigned attempt) {
    if (where == case_.at.where && attempt == case_.at.attempt)
        cancel();
}

void scenario::cancel() {
    if (cancelled_)
        return;
    cancelled_ = true;
    int const completions_before = completions_;
    if (case_.by == means::parent_scope)
        parent_scope_->cancel();
    else if (case_.by == means::scope)
        scope_->cancel();
    else
        signal_.emit(case_.emitted());
    EXPECT_EQ(completions_, completions_before) << "never completed inside emit";
}

void scenario::look_at_future() {
    if (!future_ || future_->wait_for(0s) != std::future_status::ready)
        return;
    std::future<int> result = std::move(*future_);
    future_.reset();
    try {
        int const value = result.get();
        on_completed(error_code(), value);
    } catch (...) {
        on_completed(std::current_exception(), 0);
    }
}

// --- what must have come of it

void scenario::expect_outcome() {
    EXPECT_TRUE(cancelled_) << "the point was never reached";
    EXPECT_EQ(completions_, expected_.completes ? 1 : 0);
    EXPECT_EQ(error_, expected_.error);
    if (expected_.completes && !expected_.error) {
        EXPECT_EQ(value_, static_cast<int>(expected_.attempts));
    }
    EXPECT_EQ(attempts_->calls, expected_.attempts);
    EXPECT_EQ(retries_, expected_.retries);
    EXPECT_EQ(attempts_->told, expected_.told);
    if (!expected_.reason) {
        EXPECT_TRUE(give_ups_.empty());
        return;
    }
    ASSERT_EQ(give_ups_.size(), 1u);
    EXPECT_EQ(give_ups_[0].reason, *expected_.reason);
    if (expected_.failed) {
        EXPECT_EQ(give_ups_[0].error, *expected_.failed);
    }
}

void scenario::expect_nothing_left() {
    EXPECT_EQ(scheduler(*io_).pending(), 0u);
    EXPECT_EQ(alive_, 0) << "the operation, its handler and its policy are gone";
    EXPECT_TRUE(gate_->is_balanced());
    if (scope_) {
        EXPECT_EQ(scope_->pending(), 0u);
        EXPECT_EQ(parent_scope_->pending(), 0u);
    }
    // any_completion_handler and co_spawn leave something of their own in the signal.
    if (case_.with != token::any_handler && !case_.by_coroutine()) {
        EXPECT_FALSE(signal_.slot().has_handler());
    }
    EXPECT_FALSE(slot_in_use_);
    io_->restart();
    EXPECT_EQ(io_->poll(), 0u);
    EXPECT_TRUE(io_->stopped()) << "no work is left on the context";
}

void scenario::expect_late_cancellation_ignored() {
    if (!expected_.completes)
        return;
    signal_.emit(type::all);
    if (scope_)
        parent_scope_->cancel();
    poll();
    EXPECT_EQ(completions_, 1);
    EXPECT_EQ(attempts_->calls, expected_.attempts);
    EXPECT_EQ(give_ups_.size(), expected_.reason ? 1u : 0u);
}

void scenario::destroy() {
    if (!expected_.completes) {
        EXPECT_NE(alive_, 0);
    }
    int const completions_before = completions_;
    attempts_.reset();
    scope_.reset();
    parent_scope_.reset();
    time_.reset();
    executor_ = {};
    if (!expected_.completes || testing::Test::HasFailure())
        io_.reset();
    EXPECT_EQ(alive_, 0) << "destroyed with the context, and not called";
    EXPECT_TRUE(gate_->is_balanced());
    EXPECT_EQ(completions_, completions_before);
    if (endpoints_)
        endpoints_->for_each(
            [](int, endpoint_status const& known) { EXPECT_EQ(known.in_flight, 0u) << "an attempt is left"; });
}

} // namespace asio_retry::test
