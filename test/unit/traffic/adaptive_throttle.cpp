#include <asio_retry/traffic/adaptive_throttle.hpp>

#include "support/attempt_ends.hpp"
#include "support/gate_values.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

bool admits(retry_gate& gate, time_point now) {
    return gate.admit(1, now).until <= now;
}

TEST(adaptive_throttle, lets_everything_through_while_half_is_accepted) {
    adaptive_throttle throttle({.seed = 1});
    EXPECT_TRUE(throttle.measures_time());
    time_point now = noon;
    for (int i = 0; i < 10'000; ++i, now += 1ms) {
        ASSERT_TRUE(admits(throttle, now)) << i;
        throttle.on_end(i % 2 == 0 ? success(now) : failure(failure_kind::overloaded, now));
    }
    EXPECT_LE(throttle.rejection(now), 0.001);
}

TEST(adaptive_throttle, lets_a_tenth_or_so_of_many_at_once_through_where_nothing_is_known) {
    for (std::uint64_t seed = 1; seed != 20; ++seed) {
        adaptive_throttle throttle({.seed = seed});
        int admitted = 0;
        for (int i = 0; i != 100; ++i)
            admitted += admits(throttle, noon);
        EXPECT_GE(admitted, 5) << seed;
        EXPECT_LE(admitted, 25) << seed;
    }
}

// The formula of the SRE book, chapter 21.
TEST(adaptive_throttle, rejects_by_what_was_asked_for_and_what_was_accepted) {
    adaptive_throttle throttle({.k = 1.5, .max_rejection = 0.99, .seed = 1});
    EXPECT_EQ(throttle.rejection(noon), 0);
    int const requests = 20;
    for (int i = 0; i < requests; ++i)
        (void)throttle.admit(1, noon);
    EXPECT_EQ(throttle.rejection(noon), 20.0 / 21) << "those that it refused itself count too";
    for (int i = 0; i < 4; ++i)
        throttle.on_end(success(noon));
    EXPECT_EQ(throttle.rejection(noon), (20 - 1.5 * 4) / 21);
    for (int i = 0; i < 10; ++i)
        throttle.on_end(success(noon));
    EXPECT_EQ(throttle.rejection(noon), 0) << "never less";
}

TEST(adaptive_throttle, refuses_with_its_code_and_knows_no_time) {
    adaptive_throttle throttle({.seed = 7});
    for (int i = 0; i < 1000; ++i)
        (void)throttle.admit(1, noon);
    int refused = 0;
    for (int i = 0; i < 10'000; ++i) {
        admission const answer = throttle.admit(1, noon);
        if (answer.until > noon) {
            ++refused;
            EXPECT_EQ(answer.until, time_point::max());
            EXPECT_EQ(answer.refusal, error::client_throttled);
        }
    }
    EXPECT_NEAR(refused, 9000, 150) << "never more than nine tenths: nothing is learnt from what is not sent";
}

TEST(adaptive_throttle, what_answers_accepts) {
    adaptive_throttle throttle({.k = 1, .seed = 1});
    for (int i = 0; i < 3; ++i)
        (void)throttle.admit(1, noon);
    throttle.on_end(failure(failure_kind::permanent, noon));
    EXPECT_EQ(throttle.rejection(noon), 0.5);
    for (auto const kind :
         {failure_kind::transient, failure_kind::timeout, failure_kind::throttled, failure_kind::overloaded})
        throttle.on_end(failure(kind, noon));
    EXPECT_EQ(throttle.rejection(noon), 0.5);
    throttle.on_end(success(noon));
    EXPECT_EQ(throttle.rejection(noon), 0.25);
}

TEST(adaptive_throttle, an_abandoned_attempt_was_no_request) {
    adaptive_throttle throttle({.seed = 1});
    (void)throttle.admit(1, noon);
    (void)throttle.admit(1, noon + 5s);
    throttle.on_end(abandoned_since(noon + 5s));
    EXPECT_EQ(throttle.rejection(noon + 5s), 0.5);
    throttle.on_end(abandoned_since(noon));
    EXPECT_EQ(throttle.rejection(noon + 5s), 0);
    throttle.on_end(abandoned_since(noon));
    EXPECT_EQ(throttle.rejection(noon + 5s), 0);
}

// A thousand callers that have hung for longer than the window may go away at once.
TEST(adaptive_throttle, an_abandoned_attempt_that_is_forgotten_takes_no_other_one_away) {
    adaptive_throttle throttle({.seed = 1});
    (void)throttle.admit(1, noon);
    (void)throttle.admit(1, noon + 20s);
    throttle.on_end(abandoned_since(noon));
    EXPECT_EQ(throttle.rejection(noon + 20s), 0.5);
    (void)throttle.admit(1, noon + 19s);
    throttle.on_end(abandoned_since(noon + 19s));
    throttle.on_end(abandoned_since(noon + 20s));
    EXPECT_EQ(throttle.rejection(noon + 20s), 0) << "one that came late was counted later";
}

TEST(adaptive_throttle, an_answer_counts_when_it_comes) {
    adaptive_throttle throttle({.k = 1, .seed = 1});
    (void)throttle.admit(1, noon);
    throttle.on_end(success(noon + 15s));
    EXPECT_TRUE(admits(throttle, noon + 20s));
    EXPECT_TRUE(admits(throttle, noon + 20s));
    EXPECT_EQ(throttle.rejection(noon + 20s), 1.0 / 3);
}

TEST(adaptive_throttle, its_window_is_no_longer_before_the_epoch) {
    adaptive_throttle throttle({.window = 15s, .seed = 1});
    (void)throttle.admit(1, time_point(-1ns));
    EXPECT_EQ(throttle.rejection(time_point(15s - 1ns)), 0);
}

TEST(adaptive_throttle, remembers_its_window) {
    adaptive_throttle throttle({.seed = 1});
    (void)throttle.admit(1, noon);
    EXPECT_EQ(throttle.rejection(noon + 19s), 0.5);
    EXPECT_EQ(throttle.rejection(noon + 20s), 0);
    (void)throttle.admit(1, noon + 20s);
    EXPECT_EQ(throttle.rejection(noon), 0.5) << "time that runs backwards stands still";
    EXPECT_EQ(throttle.rejection(noon + 20s), 0.5);
}

TEST(adaptive_throttle, decision_03_a_seed_gives_the_same_draws) {
    adaptive_throttle a({.seed = 42}), b({.seed = 42}), other({.seed = 43});
    int same = 0, different = 0;
    for (int i = 0; i < 200; ++i) {
        bool const admitted = admits(a, noon);
        same += admits(b, noon) == admitted;
        different += admits(other, noon) != admitted;
    }
    EXPECT_EQ(same, 200);
    EXPECT_GT(different, 0);
}

// 1000 requests/s, of which the peer accepts 300/s: it gets about twice that.
TEST(adaptive_throttle, a_peer_gets_about_twice_what_it_accepts) {
    adaptive_throttle throttle({.seed = 1});
    int sent = 0, accepted = 0, of_this_second = 0;
    for (int i = 0; i < 120'000; ++i) {
        time_point const now = noon + i * 1ms;
        if (i % 1000 == 0)
            of_this_second = 0;
        if (i == 60'000)
            sent = accepted = 0;
        if (!admits(throttle, now))
            continue;
        ++sent;
        bool const accepts = of_this_second < 300;
        of_this_second += accepts;
        accepted += accepts;
        throttle.on_end(accepts ? success(now) : failure(failure_kind::overloaded, now));
    }
    EXPECT_LE(sent, 2.1 * accepted);
    EXPECT_GE(sent, 1.9 * accepted);
}

/// After an outage of 300 s: how long it takes until 95 % of 200 requests/s are let through.
duration time_to_trust(adaptive_throttle_options const& options) {
    adaptive_throttle throttle(options);
    constexpr duration interval = 5ms;
    time_point const over = noon + 300s;
    int admitted = 0;
    for (time_point now = noon; now < over + 300s; now += interval) {
        bool const is_second = (now - noon) % 1s == 0ns;
        if (is_second && now > over && admitted >= 190)
            return now - over;
        if (is_second)
            admitted = 0;
        if (!admits(throttle, now))
            continue;
        ++admitted;
        throttle.on_end(now < over ? failure(failure_kind::timeout, now) : success(now));
    }
    return duration::max();
}

TEST(adaptive_throttle, a_peer_that_comes_back_is_trusted_within_45_s) {
    EXPECT_LE(time_to_trust({.seed = 1}), 45s);
    EXPECT_GE(time_to_trust({.window = 30s, .seed = 1}), 46s);
    EXPECT_GE(time_to_trust({.window = 120s, .seed = 1}), 150s) << "the book's window forgets slowly";
}

TEST(adaptive_throttle, decision_04_refuses_nonsense) {
    EXPECT_THAT(calling([] { adaptive_throttle({.k = 0.99}); }),
                refuses_option("adaptive_throttle.k", "0.99", "must be finite and at least 1"));
    EXPECT_THAT(calling([] { adaptive_throttle({.k = nan}); }),
                refuses_option("adaptive_throttle.k", "nan", "must be finite and at least 1"));
    EXPECT_THAT(calling([] { adaptive_throttle({.window = 1s - 1ns}); }),
                refuses_option("adaptive_throttle.window", "999999999ns", "must be at least 1s"));
    EXPECT_THAT(calling([] { adaptive_throttle({.max_rejection = 0}); }),
                refuses_option("adaptive_throttle.max_rejection", "0", "must be in (0, 1)"));
    EXPECT_THAT(calling([] { adaptive_throttle({.max_rejection = 1}); }),
                refuses_option("adaptive_throttle.max_rejection", "1", "must be in (0, 1)"));
    EXPECT_THAT(calling([] { adaptive_throttle({.max_rejection = nan}); }),
                refuses_option("adaptive_throttle.max_rejection", "nan", "must be in (0, 1)"));
}

} // namespace
} // namespace asio_retry::test
