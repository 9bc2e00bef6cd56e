#include "combinations/combination.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>

namespace asio_retry::test {
namespace {

template <typename>
class as_tuple : public testing::Test {};
TYPED_TEST_SUITE(as_tuple, all_combinations<>, combination_name);

TYPED_TEST(as_tuple, of_use_awaitable) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        t.spawn([&t] {
            return note_tuple(t.told(),
                              async_retry(t.operation(), t.policy(), asio::as_tuple(asio::use_awaitable)));
        });
    });
}

TYPED_TEST(as_tuple, of_deferred_awaited) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        t.spawn([&t] {
            return note_tuple(t.told(), async_retry(t.operation(), t.policy(), asio::as_tuple(asio::deferred)));
        });
    });
}

} // namespace
} // namespace asio_retry::test
