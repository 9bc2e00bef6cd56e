#include "combinations/combination.hpp"

namespace asio_retry::test {
namespace {

template <typename>
class use_awaitable : public testing::Test {};
TYPED_TEST_SUITE(use_awaitable, all_combinations<>, combination_name);

TYPED_TEST(use_awaitable, on_the_executor_of_the_coroutine) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        t.spawn([&t] { return note(t.told(), async_retry(t.operation(), t.policy(), asio::use_awaitable)); });
    });
}

TYPED_TEST(use_awaitable, on_the_executor_of_the_coroutine_when_another_is_given) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        t.spawn([&t] {
            return note(t.told(),
                        async_retry(t.given_executor(), t.operation(), t.policy(), asio::use_awaitable));
        });
    });
}

// What an executor without a default of its own makes of no token at all.
TYPED_TEST(use_awaitable, or_a_deferred_operation_is_the_default) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        t.spawn([&t] {
            auto retry = async_retry(t.operation(), t.policy());
            if constexpr (TypeParam::form::has_code)
                return note(t.told(), std::move(retry)(asio::use_awaitable));
            else
                return note(t.told(), std::move(retry));
        });
    });
}

} // namespace
} // namespace asio_retry::test
