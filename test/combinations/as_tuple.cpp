#include "combinations/combination.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>

namespace asio_retry::test {
namespace {

COMBINATION_TEST(as_tuple, of_use_awaitable, all_combinations<>) {
    expect_awaited_on<Combination>(own, [](auto& t) {
        return note_tuple(t.told(),
                          async_retry(t.operation(), t.policy(), asio::as_tuple(asio::use_awaitable)));
    });
}

COMBINATION_TEST(as_tuple, of_deferred_awaited, all_combinations<>) {
    expect_awaited_on<Combination>(own, [](auto& t) {
        return note_tuple(t.told(), async_retry(t.operation(), t.policy(), asio::as_tuple(asio::deferred)));
    });
}

} // namespace
} // namespace asio_retry::test
