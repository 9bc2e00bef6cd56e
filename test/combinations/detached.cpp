#include "combinations/combination.hpp"

#include <boost/asio/detached.hpp>

namespace asio_retry::test {
namespace {

template <typename>
class detached : public testing::Test {};
TYPED_TEST_SUITE(detached, all_combinations<>, combination_name);

TYPED_TEST(detached, on_the_given_executor) {
    try_out<TypeParam>([](auto& t) {
        async_retry(t.given_executor(), t.operation(), t.policy(), asio::detached);
        t.run_dry();
        t.expect_called_on(given, false);
    });
}

} // namespace
} // namespace asio_retry::test
