#include <asio_retry/retry_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/script.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace asio_retry::test {
namespace {

verdict told(pushback said) {
    return verdict::rejected({true, {failure_kind::overloaded, effect::possible}, said});
}

retry_policy exact() {
    return endless_every_100ms().pushback_spread(0);
}

/// The least and the greatest of 500 delays, where the server wants ten seconds.
std::pair<duration, duration> drawn_after_ten_seconds(retry_policy const& policy) {
    duration least = duration::max(), greatest{};
    for (std::uint64_t stream = 0; stream < 500; ++stream) {
        machine_script script(policy);
        script.source = random(1, stream);
        script.start();
        duration const delay = script.fail({}, told(pushback::after(10s))).delay;
        least = std::min(least, delay);
        greatest = std::max(greatest, delay);
    }
    return {least, greatest};
}

TEST(retry_machine, decision_52_waits_for_the_later_of_what_the_server_said_and_its_own_delay) {
    machine_script script(exact().backoff(exponential(100ms)));
    script.start();
    EXPECT_THAT(script.fail({}, told(pushback::after(5s))), is_wait(5s));
    script.wake(5s);
    EXPECT_THAT(script.fail({}, told(pushback::after(150ms))), is_wait(200ms)) << "its own is later";
    script.wake(6s);
    EXPECT_THAT(script.fail({}, told(pushback::after(0s))), is_wait(400ms));
    script.wake(7s);
    EXPECT_THAT(script.fail({}, told(pushback())), is_wait(800ms)) << "nothing was said";
}

// Three failures, and then the server wants 5 s of the 8 s that are left, where the policy itself has 40 s.
TEST(retry_machine, decision_52_where_only_the_wish_of_the_server_fits_it_counts_alone) {
    retry_policy const growing = exact().backoff(schedule({1s, 1s, 1s, 40s}));
    for (retry_policy const& policy : {growing.max_elapsed(11s), growing.total_timeout(11s),
                                       growing.max_waited(11s), growing.deadline(time_point(1h + 11s)),
                                       growing.max_elapsed(11s).clamp(), growing.total_timeout(11s).clamp()}) {
        machine_script script(policy);
        script.start();
        for (auto const passed : {0s, 1s, 2s}) {
            EXPECT_THAT(script.fail(passed, told(pushback())), is_wait(1s));
            script.wake(passed + 1s);
        }
        EXPECT_THAT(script.fail(3s, told(pushback::after(5s))), is_wait(5s));
        script.wake(8s);
        EXPECT_EQ(script.fail(8s, told(pushback::after(5s))).what, retry_action::kind::complete);
    }

    machine_script hasty(growing.backoff(constant(40s)).max_elapsed(11s));
    hasty.start();
    EXPECT_THAT(hasty.fail({}, told(pushback::after(0s))), is_completion(stop_reason::elapsed, no_replacement))
        << "a wish of no time replaces no delay, or retries would follow one another without a pause";
}

TEST(retry_machine, decision_52_of_the_spread_as_much_is_drawn_as_fits) {
    auto const [least, greatest] = drawn_after_ten_seconds(endless_every_100ms().max_elapsed(10100ms));
    EXPECT_GE(least, 10s);
    EXPECT_LT(least, 10010ms);
    EXPECT_LE(greatest, 10100ms);
    EXPECT_GT(greatest, 10090ms);

    machine_script none(endless_every_100ms().max_elapsed(10s));
    none.start();
    EXPECT_THAT(none.fail({}, told(pushback::after(10s))), is_wait(10s));
}

// The wait that clamp() makes leaves the attempt after it time, but is no shorter than the server's wish.
TEST(retry_machine, decision_52_time_for_the_last_attempt_gives_way_to_the_server) {
    machine_script script(exact().total_timeout(10s).clamp());
    script.start();
    EXPECT_THAT(script.fail({}, told(pushback::after(9500ms))), is_wait(9500ms));
}

TEST(retry_machine, decision_29_spreads_what_was_told_to_many_and_never_comes_early) {
    auto const [least, greatest] = drawn_after_ten_seconds(endless_every_100ms());
    EXPECT_GE(least, 10s);
    EXPECT_LT(least, 10050ms);
    EXPECT_LE(greatest, 11s);
    EXPECT_GT(greatest, 10950ms);
}

TEST(retry_machine, decision_84_clamp_never_waits_longer_than_the_limit) {
    auto const drawn = [](duration limit, double spread) {
        return drawn_after_ten_seconds(
            endless_every_100ms().pushback_limit(limit, over_limit::clamp).pushback_spread(spread));
    };
    auto const expect = [](std::pair<duration, duration> const& range, duration least, duration greatest) {
        EXPECT_GE(range.first, least);
        EXPECT_LE(range.first, least + (greatest - least) / 10);
        EXPECT_LE(range.second, greatest);
        EXPECT_GE(range.second, greatest - (greatest - least) / 10);
    };
    expect(drawn(5s, 0.1), 4500ms, 5s); // the wish is 10 s
    expect(drawn(5s, 1), 100ms, 5s);    // but not earlier than the policy's own delay
    expect(drawn(5s, 0), 5s, 5s);
    expect(drawn(10s, 0.1), 10s, 10s);
    expect(drawn(10500ms, 0.1), 10s, 10500ms);
    expect(drawn(1min, 0.1), 10s, 11s);

    machine_script limited(endless_every_100ms().pushback_limit(5s, over_limit::clamp).max_elapsed(4500ms));
    limited.start();
    EXPECT_THAT(limited.fail({}, told(pushback::after(10s))), is_wait(4500ms));
}

TEST(retry_machine, decision_29_a_peer_that_wants_no_retry_gets_none) {
    machine_script script(exact());
    script.start();
    EXPECT_THAT(script.fail({}, told(pushback::never())), is_completion(stop_reason::pushback, no_replacement));
    EXPECT_THAT(script.give_ups,
                testing::ElementsAre(is_give_up(stop_reason::pushback, 1, error::result_rejected)));
}

TEST(retry_machine, decision_29_a_limit_meets_hostile_values) {
    auto const waits = [](retry_policy const& policy, duration asked) {
        machine_script script(policy);
        script.start();
        return script.fail({}, told(pushback::after(asked)));
    };
    EXPECT_THAT(waits(exact(), 60s), is_wait(60s));
    EXPECT_THAT(waits(exact(), 60s + 1ns), is_completion(stop_reason::pushback, no_replacement));
    EXPECT_THAT(waits(exact().pushback_limit(2s, over_limit::clamp), 3s), is_wait(2s));
    EXPECT_THAT(waits(exact().pushback_limit(2s, over_limit::ignore), 3s), is_wait(100ms));
    EXPECT_THAT(waits(exact().pushback_limit(duration::max()), duration::max()), is_wait(duration::max()));
    EXPECT_THAT(
        waits(endless_every_100ms().pushback_limit(duration::max()).pushback_spread(1), duration::max()),
        is_wait(duration::max()));
}

// Limits of time hold for the whole delay, the cap does not; what would be cut short below what the peer said
// is not begun.
TEST(retry_machine, decision_29_limits_of_time_hold_for_what_the_peer_said) {
    machine_script capped(exact().backoff(constant(100ms).cap(1s)));
    capped.start();
    EXPECT_THAT(capped.fail({}, told(pushback::after(5s))), is_wait(5s));

    machine_script elapsed(exact().max_elapsed(5s - 1ns));
    elapsed.start();
    EXPECT_THAT(elapsed.fail({}, told(pushback::after(5s))),
                is_completion(stop_reason::elapsed, no_replacement));

    machine_script clamped(exact().max_elapsed(5s).clamp());
    clamped.start();
    EXPECT_THAT(clamped.fail({}, told(pushback::after(5s))), is_wait(5s));

    machine_script early(exact().max_elapsed(4s).clamp());
    early.start();
    EXPECT_THAT(early.fail({}, told(pushback::after(5s))), is_completion(stop_reason::elapsed, no_replacement));
}

TEST(retry_machine, decision_29_what_is_ignored_forbids_no_shorter_wait) {
    machine_script script(exact().max_elapsed(5s).clamp().pushback_limit(1s, over_limit::ignore));
    script.start();
    EXPECT_THAT(script.fail({}, told(pushback::after(10s))), is_wait(100ms));
}

// What the attempt was told counts for its own failure, the last one only.
TEST(retry_machine, decision_29_an_attempt_says_what_it_was_told) {
    machine_script script(exact());
    script.start();
    script.machine.heed(pushback::never());
    script.machine.heed(pushback::after(1s));
    EXPECT_THAT(script.fail(), is_wait(1s));
    script.wake(2s);
    EXPECT_THAT(script.fail(), is_wait(100ms)) << "told to the attempt before";
    script.wake(3s);
    script.machine.heed(pushback::after(1s));
    EXPECT_THAT(script.fail({}, told(pushback::after(2s))), is_wait(2s)) << "the judgement comes last";
    script.wake(6s);
    script.machine.heed(pushback::never());
    EXPECT_THAT(script.fail(), is_completion(stop_reason::pushback, no_replacement));
}

// It makes nothing retryable, and does not matter to what is not.
TEST(retry_machine, decision_29_is_not_applied_to_what_is_not_retried) {
    machine_script script(exact().retry_if([](error_code) { return false; }));
    script.start();
    script.machine.heed(pushback::never());
    EXPECT_THAT(script.fail(), is_completion(stop_reason::not_retryable, no_replacement));
}

// A permanent judgement is delivered at once.
TEST(retry_machine, a_permanent_judgement_is_not_retryable) {
    machine_script script(exact());
    script.start();
    EXPECT_THAT(script.fail({}, verdict::rejected({true, {failure_kind::permanent, effect::possible}, {}})),
                is_completion(stop_reason::not_retryable, no_replacement));
}

// --- nested

struct machine_monitor final : detail::health_monitor {
    explicit machine_monitor(retry_machine& m)
        : machine(m) {}
    void on_healthy() noexcept override {}
    void on_pushback(pushback said) noexcept override { machine.heed(said); }
    detail::shared_value<detail::nested_marks> marks() override { return machine.marks_of_nested(); }
    retry_machine& machine;
};

attempt attempt_of(machine_monitor& monitor) {
    attempt which = monitor.machine.current_attempt();
    which.monitor = &monitor;
    return which;
}

TEST(retry_machine, decision_29_never_goes_up_through_nested_retries) {
    machine_script outer(exact());
    machine_monitor outer_monitor(outer.machine);
    outer.start();
    machine_script middle(exact().nested_in(attempt_of(outer_monitor)));
    machine_monitor middle_monitor(middle.machine);
    middle.start();
    machine_script inner(exact().nested_in(attempt_of(middle_monitor)));
    inner.start();
    inner.machine.heed(pushback::never());
    EXPECT_THAT(inner.fail(), is_completion(stop_reason::pushback, no_replacement));
    EXPECT_THAT(middle.fail(), is_completion(stop_reason::pushback, no_replacement));
    EXPECT_THAT(outer.fail(), is_completion(stop_reason::pushback, no_replacement));
}

TEST(retry_machine, decision_29_never_goes_up_only_while_the_outer_attempt_runs) {
    std::optional<machine_script> outer(std::in_place, exact());
    std::optional<machine_monitor> monitor(std::in_place, outer->machine);
    outer->start();
    retry_policy const kept = exact().nested_in(attempt_of(*monitor));
    auto const play = [&kept] {
        machine_script inner(kept);
        inner.start();
        return inner.fail({}, told(pushback::never()));
    };
    EXPECT_THAT(outer->fail(), is_wait(100ms));
    play();
    outer->wake(100ms);
    play();
    EXPECT_THAT(outer->fail(), is_wait(100ms)) << "that attempt was not told";
    monitor.reset();
    outer.reset();
    EXPECT_THAT(play(), is_completion(stop_reason::pushback, no_replacement)) << "with nobody above";
}

// --- the settings

TEST(retry_policy, decision_04_refuses_pushback_settings_that_make_no_sense) {
    auto const message = [](auto set) {
        try {
            set();
        } catch (std::invalid_argument const& e) {
            return std::string(e.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(message([] { (void)retry_policy().pushback_limit(-1ns); }),
              "asio_retry: pushback_limit = -1ns: must not be negative");
    for (double const share : {-0.1, 1.1, std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_THAT(message([&] { (void)retry_policy().pushback_spread(share); }),
                    testing::HasSubstr("must be in [0, 1]"));
    EXPECT_EQ(message([] { (void)retry_policy().pushback_spread(1).pushback_spread(0).pushback_limit(0s); }),
              "accepted");
}

} // namespace
} // namespace asio_retry::test
