#include <asio_retry/jitter.hpp>
#include <asio_retry/retry_machine.hpp>

#include "numbers/kolmogorov_smirnov.hpp"

#include <boost/system/errc.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

/// What a jitter draws after that many failures is uniform in [least, greatest].
struct law {
    std::string name;
    jitter kind;
    backoff shape;
    std::uint64_t failures;
    duration previous; ///< the delay drawn last
    duration least, greatest;

    backoff_step step() const {
        return {failures, shape.ceiling(failures), shape.base(), shape.cap(), previous};
    }
};

void PrintTo(law const& l, std::ostream* out) {
    *out << l.name;
}

// Ceilings 100, 200, 400, 800 ... ms.
backoff const growing = exponential(100ms);
backoff const capped = growing.cap(10s);
backoff const just_capped = constant(8s).cap(10s);
constexpr std::uint64_t many = 50, most = random::max();
constexpr duration for_ever = duration::max();

std::vector<law> const laws = {
    {"full", full_jitter(), growing, 4, 1s, 0ms, 800ms},
    {"full_at_the_cap", full_jitter(), capped, many, 1s, 0ms, 10s},
    {"full_after_all_failures", full_jitter(), growing, most, 1s, 0ms, for_ever},
    {"equal", equal_jitter(), growing, 4, 1s, 400ms, 800ms},
    {"equal_at_the_cap", equal_jitter(), capped, many, 1s, 5s, 10s},
    {"equal_after_all_failures", equal_jitter(), growing, most, 1s, for_ever / 2, for_ever},
    {"decorrelated_first", decorrelated_jitter(), growing, 1, 100ms, 100ms, 300ms},
    {"decorrelated_after_1s", decorrelated_jitter(), growing, 4, 1s, 100ms, 3s},
    {"decorrelated_partly_capped", decorrelated_jitter(), capped, many, 4s, 100ms, 10s},
    {"decorrelated_at_the_cap", decorrelated_jitter(), capped, many, 10s, 100ms, 10s},
    {"decorrelated_after_all_failures", decorrelated_jitter(), growing, most, for_ever, 100ms, for_ever},
    {"proportional_0_01", proportional_jitter(0.01), growing, 4, 1s, 792ms, 808ms},
    {"proportional_0_1", proportional_jitter(0.1), growing, 4, 1s, 720ms, 880ms},
    {"proportional_0_25", proportional_jitter(0.25), growing, 4, 1s, 600ms, 1s},
    {"proportional_0_5", proportional_jitter(0.5), growing, 4, 1s, 400ms, 1200ms},
    {"proportional_1", proportional_jitter(1), growing, 4, 1s, 0ms, 1600ms},
    {"proportional_0_1_partly_capped", proportional_jitter(0.1), just_capped, 1, 1s, 7200ms, 8800ms},
    {"proportional_0_5_partly_capped", proportional_jitter(0.5), just_capped, 1, 1s, 4s, 10s},
    {"proportional_1_partly_capped", proportional_jitter(1), just_capped, 1, 1s, 0s, 10s},
    {"proportional_0_1_at_the_cap", proportional_jitter(0.1), capped, many, 1s, 9s, 10s},
    {"proportional_0_25_at_the_cap", proportional_jitter(0.25), capped, many, 1s, 7500ms, 10s},
    {"proportional_0_5_at_the_cap", proportional_jitter(0.5), capped, many, 1s, 5s, 10s},
    {"proportional_1_at_the_cap", proportional_jitter(1), capped, many, 1s, 0s, 10s},
    {"proportional_0_5_after_all_failures", proportional_jitter(0.5), growing, most, 1s, for_ever / 2 + 1ns,
     for_ever},
};

std::vector<duration> draws(law const& l) {
    backoff_step const step = l.step();
    random source(20240229);
    std::vector<duration> drawn(sample_size);
    std::generate(drawn.begin(), drawn.end(), [&] { return l.kind.draw(step, source); });
    return drawn;
}

class decision_03_law : public testing::TestWithParam<law> {};

TEST_P(decision_03_law, of_a_jitter_is_the_published_one) {
    law const& l = GetParam();
    EXPECT_LE(distance_from_uniform(places(draws(l), l.least, l.greatest)), greatest_distance);
}

// Two or three draws from the narrowest range meet by chance; an atom would be thousands.
TEST_P(decision_03_law, of_a_jitter_has_no_atom_at_the_cap_or_elsewhere) {
    law const& l = GetParam();
    std::vector<duration> drawn = draws(l);
    EXPECT_LE(std::count(drawn.begin(), drawn.end(), l.shape.cap()), 1);
    std::sort(drawn.begin(), drawn.end());
    std::size_t most_alike = 0;
    for (std::size_t i = 0, first = 0; i != drawn.size(); ++i) {
        if (drawn[i] != drawn[first])
            first = i;
        most_alike = std::max(most_alike, i - first + 1);
    }
    EXPECT_LE(most_alike, 3u);
}

INSTANTIATE_TEST_SUITE_P(all, decision_03_law, testing::ValuesIn(laws),
                         [](auto const& p) { return p.param.name; });

/// How far the delays of one long operation are from their law, given for each delay the one before.
double distance_of_operation(backoff const& shape, jitter const& kind,
                             std::function<law(std::uint64_t failures, duration previous)> const& law_after) {
    retry_machine machine(retry_policy().backoff(shape).jitter(kind).unlimited_attempts());
    verdict const failure = verdict::failure(make_error_code(boost::system::errc::connection_refused));
    random source(20240229);
    std::vector<double> sample;
    duration previous = shape.base();
    machine.start();
    for (std::uint64_t failures = 1; sample.size() != sample_size; ++failures) {
        duration const delay = machine.on_failure(failure, {}, source).delay;
        law const expected = law_after(failures, previous);
        sample.push_back(place(delay, expected.least, expected.greatest));
        previous = delay;
        machine.on_wait_over({});
    }
    return distance_from_uniform(std::move(sample));
}

TEST(decision_03, delays_of_one_operation_follow_the_law_given_the_delay_before) {
    auto const range = [](duration least, duration greatest) {
        return law{"", no_jitter(), capped, 1, {}, least, greatest};
    };
    EXPECT_LE(distance_of_operation(
                  capped, decorrelated_jitter(),
                  [&](auto, duration previous) { return range(100ms, std::min<duration>(10s, 3 * previous)); }),
              greatest_distance);
    EXPECT_LE(distance_of_operation(capped, full_jitter(),
                                    [&](std::uint64_t failures, auto) {
                                        return range(0ms, failures > 7 ? 10s : 100ms * (1 << (failures - 1)));
                                    }),
              greatest_distance);
}

} // namespace
} // namespace asio_retry::test
