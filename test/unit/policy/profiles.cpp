#include <asio_retry/profiles.hpp>

#include "schemes/scheme.hpp"
#include "support/places.hpp"
#include "support/refuses.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

namespace asio_retry::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::uint64_t unlimited = 0;

/// What is published of a scheme.
struct profile_numbers {
    std::string_view name;
    std::uint64_t attempts;
    std::vector<delay_range> first; ///< after the first failures
    delay_range last;               ///< after 60
    duration cap = duration::max(); ///< of what is drawn
};

std::vector<profile_numbers> const published_profiles = {
    {"scala_timer", unlimited, {{0s, 19'531'250ns}, {0s, 39'062'500ns}}, {0s, 10s}},
    {"aws_exponential", unlimited, {{5ms, 5ms}, {10ms, 10ms}}, {2s, 2s}},
    {"aws_full_jitter", unlimited, {{0s, 5ms}, {0s, 10ms}}, {0s, 2s}},
    {"aws_equal_jitter", unlimited, {{2500us, 5ms}, {5ms, 10ms}}, {1s, 2s}},
    {"aws_decorrelated", unlimited, {{5ms, 15ms}}, {5ms, 15ms}, 2s},
    {"aws_decorrelated_in_range", unlimited, {{5ms, 15ms}}, {5ms, 15ms}},
    {"java_equal_jitter", 3, {{500ms, 1s}, {1s, 2s}}, {5s, 10s}},
    {"celery", 4, {{0s, 1s}, {0s, 2s}, {0s, 4s}}, {0s, 600s}},
    {"celery_4_2", 4, {{0s, 1s}, {0s, 2s}, {0s, 4s}}, {0s, 9'223'372'036s}, 600s},
    {"celery_fixed", 4, {{180s, 180s}}, {180s, 180s}},
    {"ethernet", 16, {{0s, 51'200ns}, {0s, 153'600ns}}, {0s, 52'377'600ns}},
    {"unix_connect", 7, {{1s, 1s}, {2s, 2s}, {4s, 4s}}, {64s, 64s}},
    {"php_retry", 3, {{100ms, 100ms}, {200ms, 200ms}}, {30s, 30s}},
    {"php_retry_random", 3, {{100ms, 200ms}, {200ms, 400ms}}, {30s, 60s}},
    {"php_retry_linear", 3, {{1s, 1s}, {2s, 2s}}, {30s, 30s}},
    {"php_retry_fixed", 3, {{1s, 1s}}, {1s, 1s}},
    {"php_retry_uniform", 3, {{500ms, 1500ms}}, {500ms, 1500ms}},
    {"google_cloud_php",
     4,
     {{1s, 2s}, {2s, 3s}, {4s, 5s}},
     {duration::max() / 1us * 1us, duration::max() / 1us * 1us},
     60s},
    {"memorystore",
     unlimited,
     {{1s, 2s}, {2s, 3s}},
     {duration::max() / 1ms * 1ms, duration::max() / 1ms * 1ms},
     32s},
    {"memorystore_windowed", unlimited, {{1s, 2s}, {2s, 3s}}, {31s, 32s}},
    {"go_backoff", unlimited, {{250ms, 750ms}, {375ms, 1125ms}}, {30s, 90s}},
    {"aws_sdk_standard", 3, {{0s, 1s}, {0s, 2s}, {0s, 4s}}, {0s, 20s}},
    {"aws_2026", 3, {{0s, 50ms}, {0s, 100ms}, {0s, 200ms}}, {0s, 20s}},
    {"grpc", 4, {{80ms, 120ms}, {160ms, 240ms}, {320ms, 480ms}}, {800ms, 1200ms}},
    {"polly_v2", 4, {}, {}}, // not uniform: see below
    {"polly_default", 4, {{2s, 2s}}, {2s, 2s}},
    {"spring_default", 3, {{100ms, 100ms}, {200ms, 200ms}}, {30s, 30s}},
};

bool same(delay_range const& a, delay_range const& b) {
    return a.least == b.least && a.greatest == b.greatest;
}

TEST(profiles, have_the_published_constants) {
    ASSERT_EQ(profiles::all().size(), published_profiles.size()) << "each profile has a line in this table";
    for (profile_numbers const& expected : published_profiles) {
        profiles::profile const* const found = profiles::find(expected.name);
        ASSERT_TRUE(found) << expected.name;
        retry_policy const policy = found->make();
        EXPECT_EQ(policy.settings().max_attempts.value_or(unlimited), expected.attempts) << expected.name;
        for (std::size_t i = 0; i != expected.first.size(); ++i)
            EXPECT_TRUE(same(range_of(policy, i + 1), expected.first[i])) << expected.name << ' ' << i + 1;
        if (!expected.first.empty()) {
            EXPECT_TRUE(same(range_of(policy, 60), expected.last)) << expected.name;
        }
        EXPECT_EQ(policy.settings().jitter.cap(), expected.cap) << expected.name;
    }
}

TEST(profiles, limit_the_time_only_where_that_is_published) {
    for (profiles::profile const& p : profiles::all()) {
        retry_settings const settings(p.make().settings());
        EXPECT_EQ(settings.max_elapsed, p.name == "go_backoff" ? std::optional<duration>(15min) : std::nullopt);
        EXPECT_FALSE(settings.limits_attempts() || settings.reset_after || settings.clamp) << p.name;
    }
}

TEST(profiles, are_found_by_name_and_no_other) {
    for (profiles::profile const& p : profiles::all())
        EXPECT_EQ(profiles::find(p.name), &p);
    for (char const* name : {"", "celer", "celery_", "Celery", " celery"})
        EXPECT_EQ(profiles::find(name), nullptr) << name;
}

// The names appear in command lines and policies as text.
TEST(profiles, have_names_of_their_own_and_a_text_for_everything) {
    std::set<std::string_view> names;
    for (profiles::profile const& p : profiles::all()) {
        EXPECT_TRUE(names.insert(p.name).second) << p.name;
        EXPECT_EQ(p.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string_view::npos);
        for (std::string_view const text : {p.name, p.summary, p.formula, p.source, p.flaw})
            EXPECT_FALSE(text.empty()) << p.name;
    }
}

TEST(profiles, have_their_cap_in_their_formula) {
    for (profiles::profile const& p : profiles::all()) {
        retry_policy const policy = p.make();
        backoff const& shape = policy.settings().backoff;
        bool const is_named =
            p.formula.find("min(") != p.formula.npos || p.formula.find("up to") != p.formula.npos;
        EXPECT_TRUE(is_named || shape.cap() == duration::max() || shape.cap() == shape.ceiling(1)) << p.name;
    }
}

TEST(profiles, are_described_and_drawn_in_the_documentation) {
    std::ifstream file(test::file_of_project("doc/schemes.md"));
    std::string const text((std::istreambuf_iterator<char>(file)), {});
    std::size_t sections = 0;
    for (auto at = text.find("\n## `"); at != std::string::npos; at = text.find("\n## `", at + 1))
        ++sections;
    EXPECT_EQ(sections, profiles::all().size());
    for (profiles::profile const& p : profiles::all()) {
        EXPECT_THAT(text, HasSubstr("\n## `" + std::string(p.name) + "`\n"));
        EXPECT_THAT(text, HasSubstr("](schemes/" + std::string(p.name) + ".svg)"));
    }
}

// Every wait lies in the range of its step; whoever makes a policy of a profile gets the waits of the profile.
TEST(profiles, draw_from_their_range_in_every_operation) {
    for (profiles::profile const& p : profiles::all()) {
        retry_policy const policy = p.make();
        jitter const& kind = policy.settings().jitter;
        if (!kind.range({}))
            continue;
        auto const waits = play(policy, 200).waits;
        EXPECT_EQ(waits.size(),
                  policy.settings().max_attempts ? *policy.settings().max_attempts - 1 : waits.size());
        EXPECT_FALSE(waits.empty()) << p.name;
        duration previous = policy.settings().backoff.base();
        for (std::size_t i = 0; i != waits.size(); ++i) {
            auto const range = range_of(policy, i + 1, previous);
            EXPECT_GE(waits[i], std::min(range.least, kind.cap())) << p.name;
            EXPECT_LE(waits[i], std::min(range.greatest, kind.cap())) << p.name;
            previous = waits[i];
        }
    }
}

TEST(profiles, can_be_changed_like_any_policy) {
    retry_policy const policy = profiles::grpc().max_attempts(2).jitter(no_jitter());
    EXPECT_EQ(play(policy, always).waits, std::vector<duration>{100ms});
}

TEST(decision_04, nonsense_for_a_profile_is_refused_with_field_value_and_rule) {
    auto const refuses_with = [](char const* field, char const* rule) {
        return ThrowsMessage<std::invalid_argument>(AllOf(HasSubstr(field), HasSubstr(rule)));
    };
    EXPECT_THAT(calling([] { return profiles::celery(1s, 600s, -1); }),
                refuses_with("celery.max_retries = -1", "must not be negative"));
    EXPECT_THAT(calling([] { return profiles::google_cloud_php(-7); }),
                refuses_with("google_cloud_php.max_retries = -7", "must not be negative"));
    EXPECT_THAT(calling([] { return profiles::java_equal_jitter(0); }),
                refuses_with("java_equal_jitter.attempts = 0", "must be at least 1"));
    EXPECT_THAT(calling([] { return profiles::scala_timer(0); }),
                refuses_with("scala_timer.growing_failures = 0", "must be at least 1"));
    EXPECT_THAT(calling([] { return profiles::php_retry(std::chrono::milliseconds(0)); }),
                refuses_with("php_retry.initial = 0ms", "must be at least 1ms"));
    EXPECT_THAT(calling([] { return profiles::memorystore(0s); }),
                refuses_with("memorystore.maximum = 0s", "must be at least 1s"));
    EXPECT_THAT(calling([] { return profiles::go_backoff({1s, 0.5, 1.5, 10s, -1s}); }),
                refuses_with("go_backoff.max_elapsed_time", "must not be negative"));
}

// The field is the one that the caller wrote, not that of a shape that the profile is made of.
TEST(decision_04, what_a_profile_refuses_is_named_as_its_caller_named_it) {
    using std::chrono::milliseconds;
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    std::pair<std::function<void()>, char const*> const cases[] = {
        {[] { return profiles::go_backoff({-1s, 0.5, 1.5, 10s, 0s}); }, "go_backoff.initial_interval = -1s"},
        {[] { return profiles::go_backoff({1s, 1.5, 1.5, 10s, 0s}); }, "go_backoff.randomization_factor = 1.5"},
        {[=] { return profiles::go_backoff({1s, none, 1.5, 10s, 0s}); },
         "go_backoff.randomization_factor = nan"},
        {[] { return profiles::go_backoff({1s, 0.5, 0.5, 10s, 0s}); }, "go_backoff.multiplier = 0.5"},
        {[=] { return profiles::go_backoff({1s, 0.5, none, 10s, 0s}); }, "go_backoff.multiplier = nan"},
        {[] { return profiles::go_backoff({1s, 0.5, 1.5, 500ms, 0s}); },
         "go_backoff.max_interval = 500ms: must not be below initial_interval, which is 1s"},
        {[] { return profiles::php_retry(100ms, 0.5); }, "php_retry.multiplier = 0.5"},
        {[] { return profiles::php_retry(100ms, 2, 0ms); }, "php_retry.maximum = 0ms"},
        {[] { return profiles::php_retry_random(0ms); }, "php_retry_random.initial = 0ms"},
        {[] { return profiles::php_retry_random(100ms, -1); }, "php_retry_random.multiplier = -1"},
        {[] { return profiles::php_retry_random(100ms, 2, 0ms); }, "php_retry_random.maximum = 0ms"},
        {[] { return profiles::scala_timer(3, -1s); }, "scala_timer.greatest = -1s"},
        {[] { return profiles::aws_exponential(-1s); }, "aws_exponential.base = -1s"},
        {[] { return profiles::aws_full_jitter(2s, 1s); },
         "aws_full_jitter.cap = 1s: must not be below the base, which is 2s"},
        {[] { return profiles::aws_equal_jitter(-1s); }, "aws_equal_jitter.base = -1s"},
        {[] { return profiles::aws_decorrelated_in_range(-1s); }, "aws_decorrelated_in_range.base = -1s"},
        {[] { return profiles::java_equal_jitter(3, 2s, 1s); }, "java_equal_jitter.cap = 1s"},
        {[] { return profiles::aws_decorrelated(2s, 1s); }, "aws_decorrelated.cap = 1s"},
        {[] { return profiles::ethernet(0s); }, "ethernet.slot = 0s"},
        {[] { return profiles::polly_v2(-1s); }, "polly_v2.base = -1s"},
        {[] { return profiles::polly_v2(1s, -1); }, "polly_v2.max_retries = -1"},
        {[] { return profiles::celery_fixed(1s, -1); }, "celery_fixed.max_retries = -1"},
        {[] { return profiles::ethernet(1ms, 0); }, "ethernet.attempts = 0"},
        {[] { return profiles::unix_connect(0); }, "unix_connect.attempts = 0"},
        {[] { return profiles::php_retry(100ms, 2, 1s, 0); }, "php_retry.attempts = 0"},
        {[] { return profiles::php_retry_random(100ms, 2, 1s, 0); }, "php_retry_random.attempts = 0"},
        {[] { return profiles::php_retry_linear(1s, 1s, 2s, 0); }, "php_retry_linear.attempts = 0"},
        {[] { return profiles::php_retry_fixed(1s, 0); }, "php_retry_fixed.attempts = 0"},
        {[] { return profiles::php_retry_uniform(1s, 2s, 0); }, "php_retry_uniform.attempts = 0"}};
    for (auto const& [make, field] : cases)
        EXPECT_THAT(make, ThrowsMessage<std::invalid_argument>(
                              testing::StartsWith(std::string("asio_retry: ") + field)));
}

TEST(decision_04, what_no_duration_holds_is_refused_by_a_profile) {
    using std::chrono::seconds;
    constexpr seconds too_many(9'223'372'037);
    EXPECT_NO_THROW((void)profiles::celery_fixed(too_many - 1s));
    EXPECT_THROW((void)profiles::celery_fixed(too_many), std::invalid_argument);
    EXPECT_THROW((void)profiles::celery(1s, seconds::max()), std::invalid_argument);
    EXPECT_THROW((void)profiles::celery_4_2(seconds::min()), std::invalid_argument);
    EXPECT_THROW((void)profiles::memorystore(seconds(20'000'000'000)), std::invalid_argument);
    EXPECT_THROW((void)profiles::php_retry(std::chrono::milliseconds::max()), std::invalid_argument);
}

TEST(profiles, take_the_greatest_number_of_retries) {
    auto const most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(profiles::celery(1s, 600s, most).settings().max_attempts, static_cast<std::uint64_t>(most));
}

} // namespace
} // namespace asio_retry::test
