#include "policy/wide_number.hpp"

#include <asio_retry/random.hpp>

#include "support/int128.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace asio_retry::detail {
namespace {

using test::uint128;

constexpr std::uint64_t highest_bit = std::uint64_t(1) << 63;

wide normal(random& source) {
    return {source() | highest_bit, static_cast<int>(source.uniform(0, 40)) - 100};
}

/// The product to 64 bits, the next one rounded, by the compiler's arithmetic.
wide exact_product(wide a, wide b) {
    uint128 product = uint128(a.mantissa) * b.mantissa;
    int exponent = a.exponent + b.exponent + 64;
    if (product >> 127 == 0) {
        product <<= 1;
        --exponent;
    }
    uint128 const rounded = (product >> 64) + (static_cast<std::uint64_t>(product) >> 63);
    if (rounded >> 64 != 0)
        return {highest_bit, exponent + 1};
    return {static_cast<std::uint64_t>(rounded), exponent};
}

void expect_product(wide a, wide b) {
    wide const product = multiply(a, b), expected = exact_product(a, b);
    EXPECT_EQ(product.mantissa, expected.mantissa) << a.mantissa << " * " << b.mantissa;
    EXPECT_EQ(product.exponent, expected.exponent) << a.mantissa << " * " << b.mantissa;
}

TEST(wide_number, products_are_right_to_the_last_bit) {
    random source(1, 0);
    for (int i = 0; i != 10'000; ++i)
        expect_product(normal(source), normal(source));
    std::vector<std::uint64_t> const mantissas{highest_bit, highest_bit + 1, highest_bit | 0xffffffff,
                                               std::numeric_limits<std::uint64_t>::max(), 0xffffffff00000000};
    for (std::uint64_t const a : mantissas)
        for (std::uint64_t const b : mantissas)
            expect_product({a, 0}, {b, 0});
}

TEST(wide_number, a_product_may_be_rounded_up_to_a_power_of_two) {
    wide const a{0x91b7584a2265b1f5, -63};
    wide const b{0xe0e0202f5db4ab20, -63};
    wide const product = multiply(a, b);
    EXPECT_EQ(product.mantissa, highest_bit);
    EXPECT_EQ(product.exponent, -62);
    expect_product(a, b);
}

TEST(wide_number, counts_come_back_as_they_were) {
    for (std::uint64_t const count :
         {std::uint64_t(1), std::uint64_t(2), std::uint64_t(3), greatest_count - 1, greatest_count})
        EXPECT_EQ(to_duration(to_wide(count)), from_count(count));
    EXPECT_EQ(to_duration(to_wide(greatest_count + 1)), duration::max());
    EXPECT_EQ(to_duration(to_wide(std::numeric_limits<std::uint64_t>::max())), duration::max());
    EXPECT_EQ(to_duration({highest_bit, 900}), duration::max());
}

TEST(wide_number, the_nearest_duration_is_taken) {
    EXPECT_EQ(to_duration(to_wide(1.25)), duration(1));
    EXPECT_EQ(to_duration(to_wide(1.5)), duration(2));
    EXPECT_EQ(to_duration(to_wide(2.5)), duration(3));
    EXPECT_EQ(to_duration(to_wide(1e6 + 0.75)), duration(1'000'001));
    // Half below the first that is too long.
    EXPECT_EQ(to_duration({std::numeric_limits<std::uint64_t>::max(), -1}), duration::max());
}

TEST(wide_number, powers_multiply_as_often_as_they_say) {
    wide const three = to_wide(3.0);
    std::uint64_t expected = 1;
    for (std::uint64_t exponent = 0; exponent != 40; ++exponent, expected *= 3)
        EXPECT_EQ(to_duration(power(three, exponent)), from_count(std::min(expected, greatest_count)));
    EXPECT_EQ(to_duration(power(to_wide(1.0), std::numeric_limits<std::uint64_t>::max())), duration(1));
    for (std::uint64_t const exponent :
         {std::uint64_t(64), highest_bit, std::numeric_limits<std::uint64_t>::max()})
        EXPECT_EQ(to_duration(power(to_wide(2.0), exponent)), duration::max());
}

TEST(wide_number, products_of_counts_saturate) {
    EXPECT_EQ(saturating_multiply(0, greatest_count), 0u);
    EXPECT_EQ(saturating_multiply(greatest_count, 1), greatest_count);
    EXPECT_EQ(saturating_multiply(3, greatest_count / 3), greatest_count / 3 * 3);
    EXPECT_EQ(saturating_multiply(3, greatest_count / 3 + 1), greatest_count);
    EXPECT_EQ(saturating_multiply(greatest_count / 3 + 1, 3), greatest_count);
    EXPECT_EQ(saturating_multiply(greatest_count, greatest_count), greatest_count);
}

} // namespace
} // namespace asio_retry::detail
