#include <asio_retry/traffic/latency_quantile.hpp>

#include "support/gate_values.hpp"
#include "support/refuses.hpp"
#include "support/split_mix_64.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

void expect_near(duration value, duration truth) {
    EXPECT_GE(value, truth);
    EXPECT_LE(value.count() - truth.count(), truth.count() / 16) << truth.count();
}

TEST(latency_quantile, is_the_initial_one_until_enough_has_been_seen) {
    latency_quantile seen;
    for (int i = 0; i < 19; ++i)
        seen.record(3ms);
    EXPECT_EQ(seen.value(), 100ms);
    seen.record(3ms);
    expect_near(seen.value(), 3ms);
    EXPECT_EQ(latency_quantile(0.5, 7ms, 1).value(), 7ms);
}

TEST(latency_quantile, is_at_most_a_sixteenth_above_the_truth) {
    split_mix_64 chance{4};
    for (double const q : {0.001, 0.5, 0.9, 0.95, 0.999})
        for (int bits = 1; bits < 63; bits += 3) {
            latency_quantile seen(q, 0ms, 1);
            std::vector<duration> all;
            for (int i = 0; i < 1000; ++i) {
                all.push_back(duration(static_cast<std::int64_t>(chance() >> (64 - bits))));
                seen.record(all.back());
            }
            std::ranges::sort(all);
            expect_near(seen.value(), all[static_cast<std::size_t>(std::ceil(q * 1000)) - 1]);
        }
}

// 0.55 * 100 is more than 55 in double precision.
TEST(latency_quantile, of_a_decimal_share_is_exact) {
    for (int percent = 1; percent != 100; ++percent) {
        latency_quantile seen(percent / 100.0, 0ms, 1);
        for (int i = 0; i != 100; ++i)
            seen.record(i < percent ? 1ms : 10s);
        expect_near(seen.value(), 1ms);
    }
}

TEST(latency_quantile, takes_any_duration) {
    for (duration const took : {0ns, 1ns, 15ns, 16ns, 17ns, 31ns, 32ns, 33ns, duration(1h), duration::max()}) {
        latency_quantile seen(0.5, 1ms, 1);
        seen.record(took);
        expect_near(seen.value(), took);
    }
    latency_quantile seen(0.5, 1ms, 1);
    seen.record(-1ns);
    seen.record(duration::min());
    EXPECT_EQ(seen.value(), 0ns);
}

// What was long ago counts less and less: after a change of the peer the quantile follows.
TEST(latency_quantile, follows_the_peer) {
    latency_quantile seen(0.95, 100ms);
    for (int i = 0; i < 100'000; ++i)
        seen.record(1ms);
    expect_near(seen.value(), 1ms);
    int records = 0;
    for (; seen.value() < 2ms; ++records)
        seen.record(20ms);
    EXPECT_LT(records, 2000) << "a twentieth of what is kept";
    for (int i = 0; i < 8 * 8192; ++i)
        seen.record(1ms);
    expect_near(seen.value(), 1ms);
}

// Halving keeps the share of what is rare, in whatever step it is.
TEST(latency_quantile, what_is_rare_is_not_forgotten) {
    latency_quantile seen(0.99, 100ms);
    split_mix_64 chance{9};
    for (int i = 0; i < 50 * 8192; ++i)
        seen.record(i % 50 == 0 ? 100ms + duration(static_cast<std::int64_t>(chance() % 400'000'000)) : 1ms);
    EXPECT_GE(seen.value(), 150ms) << "two in a hundred take 100 to 500 ms";
    EXPECT_LE(seen.value(), 450ms);
}

// Nor where each has a step of its own, which never counts more than one between two halvings.
TEST(latency_quantile, what_is_rare_and_scattered_is_not_forgotten) {
    latency_quantile seen(0.99, 100ms);
    constexpr int between_halvings = 8192;
    for (int round = 0; round < 20; ++round) {
        int recorded = 0;
        for (int octave = 0; octave < 10; ++octave)
            for (std::int64_t step = 16; step < 32; ++step, ++recorded)
                seen.record(duration(step << (17 + octave))); // 2 ms to 2 s
        for (; recorded < between_halvings; ++recorded)
            seen.record(1ms);
        EXPECT_GE(seen.value(), 30ms) << "the middle of 160 in 8192, after halving " << round;
        EXPECT_LE(seen.value(), 130ms);
    }
}

TEST(decision_4, a_latency_quantile_refuses_nonsense) {
    for (double const q : {0.0, 1.0, -0.5, 1.5, infinity, nan})
        EXPECT_THAT(calling([q] { latency_quantile seen(q); }), refuses("latency_quantile.q = "));
    EXPECT_THAT(calling([] { latency_quantile seen(0.5, -1ns); }),
                refuses("latency_quantile.initial", "-1ns", "must not be negative"));
    EXPECT_THAT(calling([] { latency_quantile seen(0.5, 1ms, 0); }),
                refuses("latency_quantile.min_samples", "0", "must be at least 1"));
}

TEST(latency_quantile, may_be_used_by_many_threads) {
    latency_quantile seen(0.5, 100ms, 1);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 20'000; ++i) {
                seen.record(1ms);
                if (i % 64 == 0)
                    expect_near(seen.value(), 1ms);
            }
        });
    for (auto& thread : threads)
        thread.join();
    expect_near(seen.value(), 1ms);
}

} // namespace
} // namespace asio_retry::test
