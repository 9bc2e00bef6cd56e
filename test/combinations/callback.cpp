#include "combinations/combination.hpp"

namespace asio_retry::test {
namespace {

COMBINATION_TEST(callback, on_the_given_executor, all_combinations<>) {
    expect_everything_on<Combination>(
        given, [](auto& t) { async_retry(t.given_executor(), t.operation(), t.policy(), t.handler()); });
}

COMBINATION_TEST(callback, given_to_a_deferred_operation, all_combinations<>) {
    expect_everything_on<Combination>(given, [](auto& t) {
        auto retry = async_retry(t.given_executor(), t.operation(), t.policy(), asio::deferred);
        EXPECT_EQ(t.told().attempts(), 0);
        std::move(retry)(t.handler());
    });
}

} // namespace
} // namespace asio_retry::test
