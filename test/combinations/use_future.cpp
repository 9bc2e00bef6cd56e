#include "combinations/combination.hpp"

#include <boost/asio/use_future.hpp>

namespace asio_retry::test {
namespace {

template <typename Value>
outcome outcome_of_future(std::future<Value>& future) {
    try {
        if constexpr (std::is_void_v<Value>) {
            future.get();
            return {};
        } else {
            return {error_code(), future.get()};
        }
    } catch (boost::system::system_error const& e) {
        return {e.code(), std::nullopt};
    }
}

COMBINATION_TEST(use_future, on_the_given_executor, all_combinations<>) {
    try_out<Combination>([](auto& t) {
        auto future = async_retry(t.given_executor(), t.operation(), t.policy(), asio::use_future);
        t.run_dry();
        t.told().complete_elsewhere(outcome_of_future(future));
        t.expect_result();
        t.expect_called_on(given, false);
    });
}

} // namespace
} // namespace asio_retry::test
