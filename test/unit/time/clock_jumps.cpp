#include <asio_retry/virtual_time.hpp>

#include <asio_retry/async_retry.hpp>

#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::Each;

retry_policy every_second() {
    return retry_policy().backoff(constant(1s)).jitter(no_jitter()).unlimited_attempts();
}

/// An operation whose attempts all fail, at once or, if it hangs, when they are told to stop.
struct failing_operation {
    explicit failing_operation(asio::io_context& io)
        : never(io, asio::steady_timer::time_point::max()) {}

    asio::steady_timer never;
    std::size_t attempts = 0;
    int completions = 0;
    error_code error;
    std::optional<stop_reason> reason;

    template <typename Token>
    auto async_attempt(bool hangs, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [this](auto handler, bool waits) {
                ++attempts;
                if (waits)
                    never.async_wait(std::move(handler));
                else
                    asio::post(never.get_executor(), asio::append(std::move(handler), refused()));
            },
            token, hangs);
    }
};

class clock_jumps : public testing::Test {
protected:
    using operations = std::deque<failing_operation>;

    asio::io_context io;
    virtual_time time{io};
    time_point const begin = time.now();
    retry_scope scope{io.get_executor()};
    operations unlimited, with_attempt_timeout, with_total_timeout, with_deadline, with_max_elapsed, hanging;
    std::vector<operations*> const all{&unlimited,     &with_attempt_timeout, &with_total_timeout,
                                       &with_deadline, &with_max_elapsed,     &hanging};

    void start(operations& list, int count, retry_policy const& policy, bool hangs = false) {
        for (; count != 0; --count) {
            failing_operation& o = list.emplace_back(io);
            async_retry(
                scope, [&o, hangs](auto token) { return o.async_attempt(hangs, std::move(token)); },
                policy.on_give_up([&o](stop_reason r) { o.reason = r; }),
                [&o](error_code ec) {
                    ++o.completions;
                    o.error = ec;
                });
        }
    }

    void start_all() {
        start(unlimited, 100, every_second());
        start(with_attempt_timeout, 20, every_second().attempt_timeout(10s));
        start(with_total_timeout, 20, every_second().total_timeout(30s));
        start(with_deadline, 20, every_second().deadline(time.now() + 30s));
        start(with_max_elapsed, 20, every_second().max_elapsed(30s));
        start(hanging, 20, every_second().attempt_timeout(10s), true);
    }

    static std::vector<std::size_t> attempts_of(operations const& list) {
        std::vector<std::size_t> result;
        for (failing_operation const& o : list)
            result.push_back(o.attempts);
        return result;
    }

    std::vector<std::size_t> attempts() const {
        std::vector<std::size_t> result;
        for (operations const* list : all)
            for (std::size_t made : attempts_of(*list))
                result.push_back(made);
        return result;
    }

    /// How many more each operation has made than `before`.
    std::vector<std::size_t> attempts_since(std::vector<std::size_t> const& before) const {
        std::vector<std::size_t> result = attempts();
        std::transform(result.begin(), result.end(), before.begin(), result.begin(), std::minus<>());
        return result;
    }

    static void expect_pending(operations const& list) {
        for (failing_operation const& o : list)
            EXPECT_EQ(o.completions, 0);
    }

    static void expect_ended(operations const& list, error_code const& error, stop_reason reason) {
        for (failing_operation const& o : list) {
            EXPECT_EQ(o.completions, 1);
            EXPECT_EQ(o.error, error);
            EXPECT_EQ(o.reason, reason);
        }
    }

    /// Whatever the clock did, nothing is lost: what has not ended can be cancelled, and everything ends once.
    void TearDown() override {
        std::vector<failing_operation*> pending;
        for (operations* list : all)
            for (failing_operation& o : *list)
                if (o.completions == 0)
                    pending.push_back(&o);
        auto const before = attempts();
        scope.cancel();
        time.jump(0s);
        EXPECT_THAT(attempts_since(before), Each(0u));
        for (failing_operation const* o : pending)
            EXPECT_EQ(o->error, aborted());
        for (operations* list : all)
            for (failing_operation const& o : *list)
                EXPECT_EQ(o.completions, 1);
        EXPECT_EQ(scope.pending(), 0u);
        EXPECT_EQ(scheduler(io).pending(), 0u);
        EXPECT_EQ(io.run(), 0u) << "something keeps the context running";
    }
};

TEST_F(clock_jumps, set_the_clock) {
    time.jump(1h);
    EXPECT_EQ(time.now() - begin, 1h);
    time.jump(-2h);
    EXPECT_EQ(time.now() - begin, -1h);
    time.advance(1min);
    EXPECT_EQ(time.now() - begin, -59min);
}

TEST_F(clock_jumps, an_hour_forward_makes_at_most_one_attempt_per_operation) {
    start_all();
    time.advance(500ms);
    auto const before = attempts();
    EXPECT_THAT(before, Each(1u));

    time.jump(1h);
    EXPECT_THAT(attempts_since(before), Each(testing::Le(1u)));
    EXPECT_THAT(attempts_of(unlimited), Each(2u));
    expect_pending(unlimited);
    EXPECT_THAT(attempts_of(with_attempt_timeout), Each(2u));
    expect_pending(with_attempt_timeout);
    EXPECT_THAT(attempts_of(with_max_elapsed), Each(2u));
    expect_ended(with_max_elapsed, refused(), stop_reason::elapsed);
    for (operations const* list : {&with_total_timeout, &with_deadline}) {
        EXPECT_THAT(attempts_of(*list), Each(1u));
        expect_ended(*list, timed_out(), stop_reason::deadline);
    }
    EXPECT_THAT(attempts_of(hanging), Each(1u));
    expect_pending(hanging);

    time.advance(1s - 1ns);
    EXPECT_THAT(attempts_of(unlimited), Each(2u)) << "waits that begin after the jump last as long as ever";
    time.advance(1ns);
    for (operations const* list : {&unlimited, &with_attempt_timeout})
        EXPECT_THAT(attempts_of(*list), Each(3u));
    EXPECT_THAT(attempts_of(hanging), Each(2u));
}

// The negative control: a clock that does not jump plays every second.
TEST_F(clock_jumps, a_minute_that_passes_makes_all_its_attempts) {
    start_all();
    time.advance(1min);
    for (operations const* list : {&unlimited, &with_attempt_timeout})
        EXPECT_THAT(attempts_of(*list), Each(61u));
    for (operations const* list : {&with_total_timeout, &with_deadline, &with_max_elapsed})
        EXPECT_THAT(attempts_of(*list), Each(31u));
    EXPECT_THAT(attempts_of(hanging), Each(6u));
}

TEST_F(clock_jumps, one_after_the_other_make_one_attempt_each) {
    start(unlimited, 100, every_second());
    time.advance(0s);
    for (std::size_t made = 2; made != 20; ++made) {
        time.jump(24h);
        EXPECT_THAT(attempts_of(unlimited), Each(made));
    }
}

TEST_F(clock_jumps, an_hour_back_ends_no_wait_early_and_loses_none) {
    start_all();
    time.advance(500ms);
    auto const before = attempts();

    time.jump(-1h);
    time.advance(1h + 500ms - 1ns);
    EXPECT_THAT(attempts_since(before), Each(0u));
    for (operations const* list : all)
        expect_pending(*list);

    time.advance(1ns);
    for (operations const* list :
         {&unlimited, &with_attempt_timeout, &with_total_timeout, &with_deadline, &with_max_elapsed})
        EXPECT_THAT(attempts_of(*list), Each(2u));
    time.advance(29s);
    EXPECT_EQ(time.now() - begin, 30s);
    EXPECT_THAT(attempts_of(unlimited), Each(31u));
    expect_ended(with_max_elapsed, refused(), stop_reason::elapsed);
    for (operations const* list : {&with_total_timeout, &with_deadline})
        expect_ended(*list, refused(), stop_reason::deadline);
    EXPECT_THAT(attempts_of(hanging), Each(3u));
}

// What began before the jump lies an hour ahead and must not keep up what begins now.
TEST_F(clock_jumps, an_hour_back_does_not_delay_what_begins_later) {
    start(unlimited, 100, every_second());
    time.advance(500ms);
    time.jump(-1h);
    start(with_total_timeout, 20, every_second().total_timeout(30s));
    time.advance(30s);
    EXPECT_THAT(attempts_of(unlimited), Each(1u));
    EXPECT_THAT(attempts_of(with_total_timeout), Each(31u));
    expect_ended(with_total_timeout, refused(), stop_reason::deadline);
}

// An attempt that is running when the clock goes back ends before its operation began: no time has passed for
// it.
TEST_F(clock_jumps, time_that_went_back_does_not_count_as_elapsed) {
    start(with_max_elapsed, 20, every_second().max_elapsed(30s));
    time.jump(-1h);
    EXPECT_THAT(attempts_of(with_max_elapsed), Each(1u));
    expect_pending(with_max_elapsed);
    time.advance(1h + 30s);
    EXPECT_THAT(attempts_of(with_max_elapsed), Each(3600u + 31u));
    expect_ended(with_max_elapsed, refused(), stop_reason::elapsed);
}

TEST_F(clock_jumps, all_the_time_that_there_is_may_go_back_under_a_running_attempt) {
    start(with_max_elapsed, 20, every_second().max_elapsed(30s));
    start(with_total_timeout, 20, every_second().total_timeout(30s));
    time.jump(duration::min());
    time.advance(10s);
    EXPECT_THAT(attempts(), Each(11u));
    for (operations const* list : {&with_max_elapsed, &with_total_timeout})
        expect_pending(*list);
}

TEST_F(clock_jumps, none_ends_anything_where_the_clock_stands_still) {
    start_all();
    time.advance(500ms);
    auto const before = attempts();
    int handlers = 0;
    for (int i = 0; i != 1000; ++i) {
        asio::post(io, [&] { ++handlers; });
        EXPECT_EQ(i % 2 ? time.advance(0s) : time.jump(0s), 1u);
    }
    EXPECT_EQ(handlers, 1000);
    EXPECT_THAT(attempts_since(before), Each(0u));
    for (operations const* list : all)
        expect_pending(*list);
    time.advance(500ms);
    EXPECT_THAT(attempts_of(unlimited), Each(2u));
}

// Where no time is left every wait that begins would be over: run() would never return.
TEST_F(clock_jumps, at_the_end_of_time_waits_never_end) {
    start_all();
    time.advance(500ms);
    auto const before = attempts();
    time.jump(duration::max());
    EXPECT_EQ(time.now(), time_point::max());
    EXPECT_THAT(attempts_since(before), Each(testing::Le(1u)));

    auto const after = attempts();
    time.jump(duration::max());
    time.advance(1h);
    time.run();
    EXPECT_THAT(attempts_since(after), Each(0u));
    EXPECT_THAT(attempts_of(unlimited), Each(2u));
    for (operations const* list : {&unlimited, &with_attempt_timeout, &hanging})
        expect_pending(*list);
    for (operations const* list : {&with_total_timeout, &with_deadline})
        expect_ended(*list, timed_out(), stop_reason::deadline);
    expect_ended(with_max_elapsed, refused(), stop_reason::elapsed);
}

TEST_F(clock_jumps, are_not_made_to_reach_the_end_of_time) {
    start(unlimited, 100, every_second().backoff(constant(duration::max())));
    start(with_max_elapsed, 20, every_second().max_elapsed(30s));
    time.run();
    EXPECT_EQ(time.now() - begin, 30s);
    EXPECT_THAT(attempts_of(unlimited), Each(1u));
    expect_pending(unlimited);
}

TEST_F(clock_jumps, at_the_end_of_time_a_time_limit_is_no_limit) {
    time.jump(duration::max());
    start(with_attempt_timeout, 20, every_second().attempt_timeout(10s));
    start(with_total_timeout, 20, every_second().total_timeout(30s));
    start(hanging, 20, every_second().attempt_timeout(10s), true);
    time.run();
    EXPECT_THAT(attempts(), Each(1u));
    for (operations const* list : all)
        expect_pending(*list);
}

TEST_F(clock_jumps, back_from_the_end_of_time_nothing_has_come_closer) {
    start(unlimited, 100, every_second());
    time.advance(500ms);
    time.jump(duration::max());
    EXPECT_THAT(attempts_of(unlimited), Each(2u));
    time.jump(-24h);
    time.advance(24h);
    EXPECT_EQ(time.now(), time_point::max());
    EXPECT_THAT(attempts_of(unlimited), Each(2u));
}

TEST_F(clock_jumps, from_the_beginning_of_time_to_its_end_do_not_overflow) {
    time.jump(duration::min());
    time.jump(duration::min());
    EXPECT_EQ(time.now(), time_point::min());
    start_all();
    time.advance(500ms);
    EXPECT_EQ(time.now() - time_point::min(), 500ms);
    EXPECT_THAT(attempts(), Each(1u));
    for (std::size_t made : {2u, 3u}) {
        time.jump(duration::max());
        EXPECT_THAT(attempts_of(unlimited), Each(made));
    }
    expect_ended(with_max_elapsed, refused(), stop_reason::elapsed);
    for (operations const* list : {&with_total_timeout, &with_deadline})
        expect_ended(*list, timed_out(), stop_reason::deadline);
    time.jump(duration::min());
    EXPECT_THAT(attempts_of(unlimited), Each(3u));
}

// Decision 12.
TEST_F(clock_jumps, decision_12_a_success_that_came_before_the_jump_wins) {
    std::vector<error_code> results;
    auto const policy = every_second().attempt_timeout(1s).total_timeout(2s);
    async_retry(
        io,
        [this](auto token) {
            return asio::async_initiate<decltype(token), void(error_code)>(
                [this](auto handler) { asio::post(io, asio::append(std::move(handler), error_code())); },
                token);
        },
        policy, [&](error_code ec) { results.push_back(ec); });
    time.jump(1h);
    EXPECT_THAT(results, testing::ElementsAre(error_code()));
}

// Without limits an awaitable is awaited by its caller's coroutine, which waits in another way.
TEST_F(clock_jumps, are_the_same_to_a_coroutine_that_awaits) {
    std::size_t made = 0;
    bool ended = false;
    asio::cancellation_signal signal;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto const attempt = [&]() -> asio::awaitable<error_code> {
                ++made;
                co_return refused();
            };
            co_await async_retry(attempt, every_second());
        },
        asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr) { ended = true; }));
    time.advance(500ms);
    EXPECT_EQ(made, 1u);
    time.jump(1h);
    EXPECT_EQ(made, 2u);
    time.jump(-1h);
    time.advance(1h + 1s - 1ns);
    EXPECT_EQ(made, 2u);
    time.advance(1ns);
    EXPECT_EQ(made, 3u);
    time.jump(duration::max());
    EXPECT_EQ(made, 4u);
    time.run();
    EXPECT_EQ(made, 4u);
    signal.emit(asio::cancellation_type::terminal);
    time.run();
    EXPECT_EQ(made, 4u);
    EXPECT_TRUE(ended);
}

} // namespace
} // namespace asio_retry::test
