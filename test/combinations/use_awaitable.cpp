#include "combinations/combination.hpp"

namespace asio_retry::test {
namespace {

COMBINATION_TEST(use_awaitable, on_the_executor_of_the_coroutine, all_combinations<>) {
    expect_awaited_on<Combination>(own, [](auto& t) {
        return note(t.told(), async_retry(t.operation(), t.policy(), asio::use_awaitable));
    });
}

COMBINATION_TEST(use_awaitable, on_the_executor_of_the_coroutine_when_another_is_given, all_combinations<>) {
    expect_awaited_on<Combination>(own, [](auto& t) {
        return note(t.told(), async_retry(t.given_executor(), t.operation(), t.policy(), asio::use_awaitable));
    });
}

// What an executor without a default of its own makes of no token at all.
COMBINATION_TEST(use_awaitable, or_a_deferred_operation_is_the_default, all_combinations<>) {
    expect_awaited_on<Combination>(own, [](auto& t) {
        auto retry = async_retry(t.operation(), t.policy());
        if constexpr (Combination::form::has_code)
            return note(t.told(), std::move(retry)(asio::use_awaitable));
        else
            return note(t.told(), std::move(retry));
    });
}

} // namespace
} // namespace asio_retry::test
