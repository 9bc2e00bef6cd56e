#include "combinations/combination.hpp"

namespace asio_retry::test {
namespace {

template <typename>
class callback : public testing::Test {};
TYPED_TEST_SUITE(callback, all_combinations<>, combination_name);

TYPED_TEST(callback, on_the_given_executor) {
    expect_everything_on<TypeParam>(
        given, [](auto& t) { async_retry(t.given_executor(), t.operation(), t.policy(), t.handler()); });
}

TYPED_TEST(callback, given_to_a_deferred_operation) {
    expect_everything_on<TypeParam>(given, [](auto& t) {
        auto retry = async_retry(t.given_executor(), t.operation(), t.policy(), asio::deferred);
        EXPECT_EQ(t.told().attempts(), 0);
        std::move(retry)(t.handler());
    });
}

} // namespace
} // namespace asio_retry::test
