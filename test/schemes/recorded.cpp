// What retry packages of other languages did, with their timers and draws replaced by test/peers, and what the
// policies do that the pages name for theirs.
#include "schemes/scheme.hpp"
#include "support/script.hpp"
#include "support/split_mix_64.hpp"

#include <asio_retry/profiles.hpp>
#include <asio_retry/traffic/token_budget.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;

/// A case of a package, with the policy for it.
struct counterpart {
    std::string_view name;
    retry_policy policy;
    duration rounding = 1ns; ///< by how much the package's delay may differ from the exact one
    verdict failure = verdict::failure(refusal());
};

verdict wishing(pushback said, failure_kind kind = failure_kind::transient) {
    return verdict::rejected({.what = {.kind = kind}, .said = said});
}

duration scaled(duration d, double u) {
    return duration(std::llround(u * static_cast<double>(d.count())));
}

/// A generator whose first number is this one.
random beginning_with(std::uint64_t number) {
    constexpr std::uint64_t gamma = 0x9e3779b97f4a7c15;
    constexpr std::uint64_t stream = ~std::uint64_t(0); // it adds nothing to the hash of the seed
    std::uint64_t const hashed = split_mix_64::unmixed(split_mix_64::unmixed(number) - gamma);
    return random(split_mix_64::unmixed(hashed) - gamma, stream);
}

/// What a jitter of 1 ns draws at the place `u` of its range, or with `u` for each of its draws.
duration drawn_at(jitter const& kind, backoff_step const& step, double u) {
    if (kind.kind().name == detail::jitter_name::decorrelated_v2)
        return detail::decorrelated_delay(step, u, u);
    auto const [least, greatest] = kind.range(step).value();
    auto const span = static_cast<std::uint64_t>((greatest - least).count());
    auto const place = static_cast<std::uint64_t>(scaled(greatest - least, u).count());
    random source = beginning_with(span == 0 ? 0 : place << std::countl_zero(span)); // `uniform` shifts it back
    return kind.draw(step, source);
}

/// The policy with a jitter that always draws there.
retry_policy drawing_at(retry_policy const& policy, double u) {
    retry_settings const settings(policy.settings());
    jitter const kind = settings.jitter_of(settings.backoff);
    jitter const fixed([=](backoff_step const& step, random&) { return drawn_at(kind, step, u); });
    return policy.jitter(kind.is_beyond_cap() ? fixed.beyond_cap() : fixed);
}

struct recorded_row {
    explicit recorded_row(csv_row const& row)
        : version(row.at("version"))
        , name(row.at("case"))
        , failures(row.at("failures") == "always" ? always : std::stoull(row.at("failures")))
        , draw(row.at("draw") == "1" ? 1 - 0x1p-53 : number(row, "draw"))
        , calls(std::stoull(row.at("calls"))) {
        std::istringstream text(row.at("delays"));
        for (duration::rep count = 0; text >> count;)
            delays.emplace_back(count);
    }

    std::string version, name;
    std::uint64_t failures;
    double draw;
    std::uint64_t calls;
    std::vector<duration> delays;
};

std::vector<recorded_row> rows_of(std::string const& package) {
    std::vector<recorded_row> rows;
    for (csv_row const& row : read_csv("peers/" + package + ".csv"))
        rows.emplace_back(row);
    return rows;
}

/// The rows of one case.
std::vector<recorded_row> rows_of(std::string const& package, std::string_view name) {
    auto rows = rows_of(package);
    std::erase_if(rows, [&](recorded_row const& row) { return row.name != name; });
    EXPECT_FALSE(rows.empty()) << package << ' ' << name;
    return rows;
}

void expect_same(recorded_row const& row, counterpart const& ours) {
    auto const [waits, attempts, reason, replacement, elapsed] =
        play(drawing_at(ours.policy, row.draw), row.failures, ours.failure);
    EXPECT_EQ(attempts, row.calls);
    ASSERT_EQ(waits.size(), row.delays.size());
    for (std::size_t i = 0; i != waits.size(); ++i)
        EXPECT_LE(std::chrono::abs(waits[i] - row.delays[i]), ours.rounding)
            << waits[i].count() << " ns and not " << row.delays[i].count() << " after failure " << i + 1;
}

/// Compares each row with the policy for its case. `others` are cases that have a test of their own.
void compare(std::string const& package,
             std::function<std::vector<counterpart>(std::string_view version)> const& counterparts,
             std::set<std::string_view> const& others = {}) {
    std::set<std::string> seen;
    for (recorded_row const& row : rows_of(package)) {
        SCOPED_TRACE(package + ' ' + row.version + ", " + row.name + ", draw " + std::to_string(row.draw));
        auto const all = counterparts(row.version);
        auto const found = std::ranges::find(all, row.name, &counterpart::name);
        ASSERT_NE(found == all.end(), others.count(row.name) == 0);
        if (found != all.end())
            expect_same(row, *found);
        seen.insert(row.name);
    }
    EXPECT_EQ(seen.size(), counterparts("").size() + others.size()) << "of each case there is a row";
}

/// No limit of attempts: for cases that look at delays alone.
retry_policy waiting(backoff shape) {
    return retry_policy().unlimited_attempts().backoff(std::move(shape));
}
retry_policy waiting(backoff shape, jitter kind) {
    return waiting(std::move(shape)).jitter(std::move(kind));
}

std::uint64_t calls_of(retry_policy const& policy, recorded_row const& row) {
    return play(drawing_at(policy, row.draw), row.failures).attempts;
}

TEST(recorded, tenacity) {
    auto const every_3s = waiting(constant(3s));
    compare("tenacity",
            [&](auto) -> std::vector<counterpart> {
                return {
                    {"defaults", waiting(constant(0s))},
                    {"stop_after_attempt", every_3s.max_attempts(5)},
                    {"stop_after_delay_exactly", every_3s.max_elapsed(9s)},
                    {"stop_before_delay", every_3s.max_elapsed(10s)},
                    {"wait_fixed", every_3s},
                    {"wait_none", waiting(constant(0s))},
                    {"wait_random", waiting(constant(3s), uniform_jitter(1s))},
                    {"wait_incrementing", waiting(linear(1s, 2s).cap(10s), no_jitter())},
                    {"wait_incrementing_defaults", waiting(linear(0s, 100s), no_jitter())},
                    {"wait_exponential", waiting(exponential(50ms).cap(2s), no_jitter())},
                    {"wait_exponential_exp_base", waiting(exponential(50ms, 3), no_jitter())},
                    {"wait_exponential_min", waiting(exponential(50ms).cap(2s), no_jitter().at_least(300ms))},
                    {"wait_exponential_defaults", waiting(exponential(1s), no_jitter())},
                    {"wait_random_exponential", waiting(exponential(50ms).cap(2s))},
                    {"wait_random_exponential_defaults", waiting(exponential(1s))},
                    {"wait_exponential_jitter", waiting(exponential(50ms), additive_jitter(400ms).cap(2s))},
                    {"wait_exponential_jitter_defaults", waiting(exponential(1s), additive_jitter(1s))},
                    {"wait_chain", waiting(schedule({1s, 2s, 5s}))},
                };
            },
            {"stop_after_delay", "stop_before_delay_exactly", "stop_attempts_or_delay"});
}

TEST(recorded, tenacity_begins_a_wait_that_passes_stop_after_delay) {
    auto const every_3s = waiting(constant(3s));
    for (recorded_row const& row : rows_of("tenacity", "stop_after_delay")) {
        EXPECT_EQ(row.calls, 5u) << "at 0, 3, 6, 9 and 12 s, with a limit of 10 s";
        EXPECT_EQ(calls_of(every_3s.max_elapsed(10s), row), 4u);
    }
    for (recorded_row const& row : rows_of("tenacity", "stop_attempts_or_delay")) {
        EXPECT_EQ(row.calls, 4u) << "at 0, 3, 6 and 9 s, with a limit of 7 s";
        EXPECT_EQ(calls_of(every_3s.max_elapsed(7s).max_attempts(5), row), 3u);
    }
}

TEST(recorded, tenacity_begins_no_wait_that_ends_exactly_at_stop_before_delay) {
    for (recorded_row const& row : rows_of("tenacity", "stop_before_delay_exactly")) {
        EXPECT_EQ(row.calls, 3u) << "at 0, 3 and 6 s, with a limit of 9 s";
        EXPECT_EQ(calls_of(waiting(constant(3s)).max_elapsed(9s), row), 4u);
        EXPECT_EQ(calls_of(waiting(constant(3s)).max_elapsed(9s - 1ns), row), 3u);
    }
}

TEST(recorded, urllib3) {
    compare("urllib3",
            [](auto) -> std::vector<counterpart> {
                auto const growing = first_at_once(exponential(400ms));
                return {
                    {"defaults", waiting(constant(0s)).max_attempts(11)},
                    {"total", waiting(constant(0s)).max_attempts(4)},
                    {"no_retries", waiting(constant(0s)).max_attempts(1)},
                    {"backoff_factor", waiting(first_at_once(exponential(400ms).cap(120s)), no_jitter())},
                    {"backoff_jitter", waiting(growing, additive_jitter(400ms).cap(120s))},
                    {"retry_after", waiting(growing, no_jitter()).pushback_spread(0), 1ns,
                     wishing(pushback::after(7s))},
                };
            },
            {"shorter_retry_after", "post"});
}

/// How often `on_retry` and `on_give_up` are called.
std::pair<int, int> told_by(retry_policy const& policy, recorded_row const& row) {
    std::pair<int, int> told;
    auto const listened_to = policy.on_retry([&](retry_event const&) { ++told.first; });
    play(listened_to.on_give_up([&](retry_event const&) { ++told.second; }), row.failures);
    return told;
}

TEST(recorded, p_retry) {
    compare("p_retry",
            [](auto) -> std::vector<counterpart> {
                auto const doubling = waiting(exponential(1s), no_jitter());
                return {
                    {"defaults", doubling.max_attempts(11)},
                    {"retries", doubling.max_attempts(5)},
                    {"no_retries", doubling.max_attempts(1)},
                    {"growth", waiting(exponential(50ms, 3), no_jitter())},
                    {"randomize", waiting(exponential(100ms), multiplicative_jitter(1, 2)), 1ms},
                    {"max_timeout", waiting(exponential(100ms), multiplicative_jitter(1, 2).cap(2s)), 1ms},
                    {"max_retry_time", doubling.max_attempts(21).max_elapsed(10s).clamp()},
                    {"infinite_retries", doubling},
                };
            },
            {"told", "told_although_not_retried"});
}

// `onFailedAttempt` hears of each failure. So do `on_retry` and `on_give_up` together.
TEST(recorded, p_retry_tells_of_a_failure_that_it_does_not_retry) {
    auto const limited = waiting(exponential(1s), no_jitter()).max_attempts(3);
    for (recorded_row const& row : rows_of("p_retry", "told")) {
        EXPECT_EQ(row.calls, 3u);
        EXPECT_EQ(told_by(limited, row), std::pair(2, 1));
    }
    auto const refusing = limited.retry_if([](error_code) { return false; });
    for (recorded_row const& row : rows_of("p_retry", "told_although_not_retried")) {
        EXPECT_EQ(row.calls, 1u);
        EXPECT_EQ(told_by(refusing, row), std::pair(0, 1));
    }
}

TEST(recorded, cockatiel) {
    compare("cockatiel", [](auto) -> std::vector<counterpart> {
        backoff const growing = exponential(128ms).cap(30s);
        return {
            {"max_attempts", waiting(constant(0s)).max_attempts(5)},
            {"no_limit", waiting(constant(0s))},
            {"constant", waiting(constant(70ms))},
            {"schedule", waiting(schedule({10ms, 20ms, 50ms}))},
            {"exponential", waiting(growing, decorrelated_jitter_v2())},
            {"no_jitter", waiting(growing, no_jitter())},
            {"full_jitter", waiting(growing, full_jitter()), 1ms},
            {"half_jitter", waiting(growing, equal_jitter()), 1ms},
        };
    });
}

TEST(recorded, got) {
    compare("got",
            [](auto) -> std::vector<counterpart> {
                auto const noisy = waiting(exponential(1s), additive_jitter(100ms));
                auto const quiet = waiting(exponential(1s), no_jitter()).pushback_spread(0);
                return {
                    {"defaults", noisy.max_attempts(3)},
                    {"limit", noisy.max_attempts(5)},
                    {"no_retries", noisy.max_attempts(1)},
                    {"growth", quiet},
                    {"noise", noisy},
                    {"backoff_limit", waiting(exponential(1s).cap(5s), additive_jitter(100ms).beyond_cap())},
                    {"retry_after", quiet, 1ns, wishing(pushback::after(7s), failure_kind::throttled)},
                    {"max_retry_after", quiet.pushback_limit(5s), 1ns, wishing(pushback::after(7s))},
                };
            },
            {"shorter_retry_after", "post"});
}

TEST(recorded, urllib3_waits_for_a_wish_alone) {
    for (recorded_row const& row : rows_of("urllib3", "shorter_retry_after")) {
        EXPECT_THAT(row.delays, ElementsAre(1s, 1s, 1s, 1s, 1s));
        auto const ours = waiting(first_at_once(exponential(400ms)), no_jitter()).pushback_spread(0);
        EXPECT_THAT(play(ours, row.failures, wishing(pushback::after(1s))).waits,
                    ElementsAre(1s, 1s, 1s, 1600ms, 3200ms));
    }
}

TEST(recorded, got_waits_for_a_wish_alone) {
    for (recorded_row const& row : rows_of("got", "shorter_retry_after")) {
        EXPECT_THAT(row.delays, ElementsAre(3s, 3s, 3s, 3s, 3s));
        auto const ours = waiting(exponential(1s), no_jitter()).pushback_spread(0);
        EXPECT_THAT(play(ours, row.failures, wishing(pushback::after(3s))).waits,
                    ElementsAre(3s, 3s, 4s, 8s, 16s));
    }
}

TEST(recorded, axios_retry) {
    compare("axios_retry",
            [](auto) -> std::vector<counterpart> {
                auto const growing = waiting(exponential(200ms), multiplicative_jitter(1, 1.2));
                return {
                    {"defaults", waiting(constant(0s)).max_attempts(4)},
                    {"retries", waiting(constant(0s)).max_attempts(5)},
                    {"exponential", growing},
                    {"exponential_of", waiting(exponential(100ms), multiplicative_jitter(1, 1.2))},
                    {"linear", waiting(linear(100ms, 100ms), no_jitter())},
                    {"total_timeout", growing.max_attempts(10).total_timeout(2s)},
                };
            },
            {"retry_after", "post"});
}

TEST(recorded, axios_retry_adds_a_fifth_to_a_wish_as_pushback_spread_does) {
    for (recorded_row const& row : rows_of("axios_retry", "retry_after"))
        EXPECT_THAT(row.delays, testing::Each(7s + scaled(1400ms, row.draw)));
    auto const ours = waiting(exponential(200ms), multiplicative_jitter(1, 1.2)).pushback_spread(0.2);
    auto const waits = play(ours, 5, wishing(pushback::after(7s))).waits;
    EXPECT_THAT(waits, testing::Each(testing::AllOf(testing::Ge(7s), testing::Le(8400ms))));
    EXPECT_EQ(std::set<duration>(waits.begin(), waits.end()).size(), 5u);
}

// urllib3, got and axios-retry retry no POST that was answered. Here the caller says what is retried.
TEST(recorded, clients_of_http_retry_no_post) {
    for (std::string const package : {"urllib3", "got", "axios_retry"})
        for (recorded_row const& row : rows_of(package, "post"))
            EXPECT_EQ(row.calls, 1u) << package;
}

TEST(recorded, smithy) {
    compare("smithy",
            [](auto) -> std::vector<counterpart> {
                auto const quota = std::make_shared<token_budget>(aws_tokens());
                auto const aws = profiles::aws_2026();
                auto const linear_100ms = [](std::uint64_t failures) { return 100ms * failures; };
                auto const throttled = wishing({}, failure_kind::throttled);
                auto const told = wishing(pushback::after(1s), failure_kind::throttled);
                return {
                    {"defaults", aws, 1ms},
                    {"max_attempts", aws.max_attempts(5), 1ms},
                    {"transient", aws.max_attempts(20), 1ms},
                    {"throttled", aws.max_attempts(20), 1ms, throttled},
                    {"quota_of_transient", aws.max_attempts(100).gate(quota), 1ms},
                    {"quota_of_throttled", aws.max_attempts(200).gate(quota), 1ms, throttled},
                    {"configured", waiting(linear_100ms, no_jitter())},
                    {"wish_of_a_second", aws.max_attempts(20).pushback_spread(0), 1ms, told},
                };
            },
            {"wish_of_a_minute", "throttled_and_transient"});
}

// Not a part of the profile: no policy has a limit of wishes that grows with the delay.
TEST(recorded, smithy_waits_for_a_wish_at_most_5_s_longer_than_without) {
    auto const aws = profiles::aws_2026().max_attempts(20).pushback_spread(0);
    for (recorded_row const& row : rows_of("smithy", "wish_of_a_minute")) {
        auto const without =
            play(drawing_at(aws, row.draw), row.failures, wishing({}, failure_kind::throttled)).waits;
        ASSERT_EQ(without.size(), row.delays.size());
        for (std::size_t i = 0; i != without.size(); ++i)
            EXPECT_LE(std::chrono::abs(without[i] + 5s - row.delays[i]), 1ms);
        EXPECT_THAT(play(aws, row.failures, wishing(pushback::after(1min), failure_kind::throttled)).waits,
                    testing::Each(1min));
    }
}

// The first, the third and the fifth failure are throttled.
TEST(recorded, smithy_counts_failures_of_both_sorts_together) {
    for (recorded_row const& row : rows_of("smithy", "throttled_and_transient")) {
        std::vector<duration> together;
        for (std::size_t i = 0; i != row.failures; ++i)
            together.push_back((i % 2 == 0 ? 1s : 50ms) * (1 << i));
        ASSERT_EQ(row.delays.size(), together.size());
        for (std::size_t i = 0; i != together.size(); ++i)
            EXPECT_LE(std::chrono::abs(row.delays[i] - scaled(std::min<duration>(20s, together[i]), row.draw)),
                      1ms);
    }
}

TEST(recorded, grpc_js) {
    compare("grpc_js",
            [](auto) -> std::vector<counterpart> {
                return {
                    {"four", profiles::grpc()},
                    {"five_at_most", profiles::grpc().max_attempts(5)},
                    {"limit_of_channel", profiles::grpc().max_attempts(9)},
                    {"pushback_never", profiles::grpc(), 1ns, wishing(pushback::never())},
                };
            },
            {"pushback"});
}

// The first and the third failure come with a wish of 700 ms.
TEST(recorded, grpc_js_begins_its_backoff_anew_after_a_wish) {
    for (recorded_row const& row : rows_of("grpc_js", "pushback")) {
        auto const [least, greatest] = range_of(profiles::grpc(), 1);
        EXPECT_THAT(row.delays, ElementsAre(700ms, least + scaled(greatest - least, row.draw), 700ms));

        machine_script ours(drawing_at(profiles::grpc().pushback_spread(0), row.draw));
        ours.start();
        EXPECT_THAT(ours.fail({}, wishing(pushback::after(700ms))), is_wait(700ms));
        ours.wake();
        EXPECT_THAT(ours.fail(), is_wait(160ms + scaled(80ms, row.draw))) << "as if there was no wish";
    }
}

TEST(recorded, botocore) {
    compare("botocore",
            [](std::string_view version) -> std::vector<counterpart> {
                auto const quota = std::make_shared<token_budget>(aws_tokens_2016());
                bool const cuts_the_draw = version == "1.29.27";
                auto const aws =
                    cuts_the_draw
                        ? profiles::aws_sdk_standard().backoff(exponential(1s)).jitter(full_jitter().cap(20s))
                        : profiles::aws_sdk_standard();
                return {
                    {"defaults", aws},
                    {"max_attempts", aws.max_attempts(5)},
                    {"transient", aws.max_attempts(20)},
                    {"throttled", aws.max_attempts(20), 1ns, wishing({}, failure_kind::throttled)},
                    {"quota", aws.max_attempts(200).gate(quota)},
                };
            },
            {"status_429_alone"});
}

TEST(recorded, botocore_piled_delays_up_at_20_s_as_a_cap_of_the_jitter_does) {
    auto const older = profiles::aws_sdk_standard().backoff(exponential(1s)).jitter(full_jitter().cap(20s));
    constexpr int draws = 10'000;
    for (auto const& [failures, part] : {std::pair{6u, 12. / 32}, {7u, 44. / 64}, {8u, 108. / 128}}) {
        EXPECT_NEAR(part_at(older, failures, 20s, draws), part, six_sigma(part, draws));
        EXPECT_EQ(part_at(profiles::aws_sdk_standard(), failures, 20s, draws), 0);
    }
}

TEST(recorded, botocore_retries_no_429_without_an_error_code) {
    for (recorded_row const& row : rows_of("botocore", "status_429_alone"))
        EXPECT_EQ(row.calls, 1u);
}

} // namespace
} // namespace asio_retry::test
