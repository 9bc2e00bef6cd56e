#include "combinations/combination.hpp"

#include <boost/asio/detached.hpp>

namespace asio_retry::test {
namespace {

COMBINATION_TEST(detached, on_the_given_executor, all_combinations<>) {
    try_out<Combination>([](auto& t) {
        async_retry(t.given_executor(), t.operation(), t.policy(), asio::detached);
        t.run_dry();
        t.expect_called_on(given, false);
    });
}

} // namespace
} // namespace asio_retry::test
