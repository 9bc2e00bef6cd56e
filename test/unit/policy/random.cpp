#include <asio_retry/random.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/elements.hpp"
#include "support/refuses.hpp"
#include "support/split_mix_64.hpp"

#include <array>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::ThrowsMessage;

static_assert(std::uniform_random_bit_generator<random>);

std::vector<std::uint64_t> numbers(random source, int count) {
    std::vector<std::uint64_t> drawn;
    while (count-- > 0)
        drawn.push_back(source());
    return drawn;
}

TEST(decision_03, a_seed_gives_the_same_numbers_on_every_platform) {
    EXPECT_THAT(numbers(random(0), 3),
                elements(9956791818372568492u, 8662970235458111210u, 11040085387371938056u));
    EXPECT_THAT(numbers(random(42), 3),
                elements(13591759783046143066u, 17412934084107537427u, 3528044430900159460u));
    EXPECT_THAT(numbers(random(42, 1), 3),
                elements(1312910413860960075u, 15034950727556476182u, 10663133713073927532u));
}

TEST(decision_03, a_seed_gives_the_same_delays_on_every_platform) {
    random source(42);
    EXPECT_EQ(source.uniform(0s, 1s), 791144544ns);
    EXPECT_EQ(source.uniform(0s, 1s), 205359213ns);
    EXPECT_EQ(source.uniform(0s, 1s), 633712607ns);
}

TEST(random, steps_as_the_publication_says) {
    split_mix_64 published{1234567};
    EXPECT_EQ(published(), 6457827717110365317u) << "the published test vector";
    EXPECT_EQ(published(), 3203168211198807973u);
    for (std::uint64_t seed : {std::uint64_t(0), std::uint64_t(42), random::max()})
        for (std::uint64_t stream : {std::uint64_t(0), std::uint64_t(1), random::max()}) {
            split_mix_64 expected = split_mix_64::stream_of(seed, stream);
            random source(seed, stream);
            for (int i = 0; i < 100; ++i)
                EXPECT_EQ(source(), expected());
        }
}

TEST(random, spans_all_numbers) {
    EXPECT_EQ(random::min(), 0u);
    EXPECT_EQ(random::max(), std::numeric_limits<std::uint64_t>::max());
    std::uint64_t all_set = random::max(), any_set = 0;
    for (std::uint64_t n : numbers(random(1), 200)) {
        all_set &= n;
        any_set |= n;
    }
    EXPECT_EQ(all_set, 0u);
    EXPECT_EQ(any_set, random::max());
}

TEST(decision_03, neighbouring_seeds_and_streams_share_no_number) {
    std::set<std::uint64_t> seen;
    std::size_t drawn = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed)
        for (std::uint64_t stream = 0; stream < 8; ++stream)
            for (std::uint64_t n : numbers(random(seed, stream), 100)) {
                seen.insert(n);
                ++drawn;
            }
    EXPECT_EQ(seen.size(), drawn);
}

TEST(random, copies_continue_alike) {
    random source(7);
    source();
    random copy = source;
    EXPECT_EQ(numbers(source, 5), numbers(copy, 5));
}

TEST(random, uniform_includes_both_ends) {
    random source(1);
    std::set<std::uint64_t> drawn;
    for (int i = 0; i < 200; ++i)
        drawn.insert(source.uniform(std::uint64_t(10), std::uint64_t(13)));
    EXPECT_THAT(drawn, elements(10u, 11u, 12u, 13u));
}

TEST(random, uniform_of_durations_includes_both_ends_and_negative_ones) {
    random source(1);
    std::set<duration> drawn;
    for (int i = 0; i < 200; ++i)
        drawn.insert(source.uniform(-1ns, 1ns));
    EXPECT_THAT(drawn, elements(-1ns, 0ns, 1ns));
}

TEST(random, uniform_over_one_number_draws_nothing) {
    random source(1), untouched(1);
    EXPECT_EQ(source.uniform(std::uint64_t(9), std::uint64_t(9)), 9u);
    EXPECT_EQ(source.uniform(random::max(), random::max()), random::max());
    EXPECT_EQ(source.uniform(5s, 5s), 5s);
    EXPECT_EQ(source(), untouched());
}

TEST(random, uniform_over_all_numbers_is_the_generator) {
    random source(3), same(3);
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(source.uniform(random::min(), random::max()), same());
}

TEST(random, uniform_over_all_durations_reaches_both_signs) {
    random source(3);
    bool negative = false, positive = false;
    for (int i = 0; i < 100; ++i) {
        duration const d = source.uniform(duration::min(), duration::max());
        (d < 0s ? negative : positive) = true;
    }
    EXPECT_TRUE(negative && positive);
}

TEST(random, uniform_refuses_an_empty_range) {
    random source(1);
    EXPECT_THAT(calling([&] { source.uniform(std::uint64_t(2), std::uint64_t(1)); }),
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr("random.uniform.greatest = 1: must not be below least, which is 2")));
    EXPECT_THAT(calling([&] { source.uniform(0ns, -1ns); }),
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr("random.uniform.greatest = -1ns: must not be below least, which is 0s")));
}

// Pearson's chi-square with n - 1 degrees of freedom, against its 99.99 % quantile.
TEST(decision_03, uniform_is_unbiased) {
    constexpr int draws = 90'000;
    auto const chi_square = [](auto const& counts) {
        double const expected = double(draws) / double(counts.size());
        double sum = 0;
        for (int count : counts)
            sum += (count - expected) * (count - expected) / expected;
        return sum;
    };
    random source(1);
    std::array<int, 3> thirds{};
    std::array<int, 6> sixths{};
    for (int i = 0; i < draws; ++i) {
        ++thirds[static_cast<std::size_t>(source.uniform(std::uint64_t(0), std::uint64_t(2)))];
        // A modulo or a scaled 64-bit number would draw the lower third of this range twice as often.
        std::uint64_t const most = random::max() / 4 * 3 - 1;
        ++sixths[static_cast<std::size_t>(source.uniform(std::uint64_t(0), most) / (most / 6 + 1))];
    }
    EXPECT_LT(chi_square(thirds), 18.42);
    EXPECT_LT(chi_square(sixths), 25.74);
}

TEST(random, serves_the_standard_distributions) {
    random source(1);
    std::uniform_int_distribution<int> die(1, 6);
    std::set<int> faces;
    for (int i = 0; i < 200; ++i)
        faces.insert(die(source));
    EXPECT_THAT(faces, elements(1, 2, 3, 4, 5, 6));
}

TEST(entropy_seed, differs_from_call_to_call) {
    std::set<std::uint64_t> const seeds{entropy_seed(), entropy_seed(), entropy_seed()};
    EXPECT_GT(seeds.size(), 1u);
}

} // namespace
} // namespace asio_retry::test
