#include "combinations/combination.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_executor.hpp>

namespace asio_retry::test {
namespace {

template <typename Form>
using handler_of = asio::any_completion_handler<typename Form::signature>;

template <typename>
class any_completion_handler : public testing::Test {};
using callable_forms = list<token_operation, attempt_and_token, deferred_operation, plain_value, plain_void,
                            plain_error_code, plain_result, judged<token_operation>, judged<plain_value>>;
using any_completion_handler_forms = all_combinations<callable_forms, list<token_operation, plain_error_code>>;
TYPED_TEST_SUITE(any_completion_handler, any_completion_handler_forms, combination_name);

TYPED_TEST(any_completion_handler, on_the_given_executor) {
    expect_everything_on<TypeParam>(given, [](auto& t) {
        async_retry(t.given_executor(), t.operation(), t.policy(),
                    handler_of<typename TypeParam::form>(t.handler()));
    });
}

TYPED_TEST(any_completion_handler, on_the_executor_of_the_handler_in_it) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        async_retry(t.given_executor(), t.operation(), t.policy(),
                    handler_of<typename TypeParam::form>(asio::bind_executor(t.own_executor(), t.handler())));
    });
}

template <typename>
class bound_any_completion_handler : public testing::Test {};
using awaitable_forms = list<awaitable_value, awaitable_void, awaitable_error_code, awaitable_tuple,
                             awaitable_result, judged<awaitable_value>>;
using bound_combinations = all_combinations<awaitable_forms, list<awaitable_value>, own_kinds>;
TYPED_TEST_SUITE(bound_any_completion_handler, bound_combinations, combination_name);

TYPED_TEST(bound_any_completion_handler, on_the_bound_executor) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        async_retry(t.operation(), t.policy(),
                    asio::bind_executor(t.own_executor(), handler_of<typename TypeParam::form>(t.handler())));
    });
}

} // namespace
} // namespace asio_retry::test
