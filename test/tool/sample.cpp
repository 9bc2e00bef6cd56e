#include "sample.hpp"

#include <gtest/gtest.h>

namespace asio_retry::tool {
namespace {

TEST(sample, has_the_usual_quantiles_mean_and_deviation) {
    std::vector<int> hundred;
    sample numbers;
    for (int i = 1; i <= 100; ++i) {
        hundred.push_back(i);
        numbers.add(101 - i);
    }
    EXPECT_EQ(quantile(hundred, 0), 1);
    EXPECT_EQ(quantile(hundred, 0.01), 1);
    EXPECT_EQ(quantile(hundred, 0.015), 2);
    EXPECT_EQ(quantile(hundred, 0.5), 50);
    EXPECT_EQ(quantile(hundred, 0.99), 99);
    EXPECT_EQ(quantile(hundred, 1), 100);
    EXPECT_DOUBLE_EQ(numbers.mean(), 50.5);
    EXPECT_DOUBLE_EQ(numbers.standard_deviation(), std::sqrt(100 * 101 / 12.));
    EXPECT_EQ(numbers.sorted().front(), 1);
    EXPECT_EQ(numbers.size(), 100u);
}

} // namespace
} // namespace asio_retry::tool
