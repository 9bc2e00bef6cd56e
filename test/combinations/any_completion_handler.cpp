#include "combinations/combination.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_executor.hpp>

namespace asio_retry::test {
namespace {

template <typename Form>
using handler_of = asio::any_completion_handler<typename Form::signature>;

using callable_forms = list<token_operation, attempt_and_token, deferred_operation, plain_value, plain_void,
                            plain_error_code, plain_result, judged<token_operation>, judged<plain_value>>;
using any_completion_handler_forms = all_combinations<callable_forms, list<token_operation, plain_error_code>>;

COMBINATION_TEST(any_completion_handler, on_the_given_executor, any_completion_handler_forms) {
    expect_everything_on<Combination>(given, [](auto& t) {
        async_retry(t.given_executor(), t.operation(), t.policy(),
                    handler_of<typename Combination::form>(t.handler()));
    });
}

COMBINATION_TEST(any_completion_handler, on_the_executor_of_the_handler_in_it, any_completion_handler_forms) {
    expect_everything_on<Combination>(own, [](auto& t) {
        async_retry(t.given_executor(), t.operation(), t.policy(),
                    handler_of<typename Combination::form>(asio::bind_executor(t.own_executor(), t.handler())));
    });
}

using awaitable_forms = list<awaitable_value, awaitable_void, awaitable_error_code, awaitable_tuple,
                             awaitable_result, judged<awaitable_value>>;
using bound_combinations = all_combinations<awaitable_forms, list<awaitable_value>, own_kinds>;

COMBINATION_TEST(bound_any_completion_handler, on_the_bound_executor, bound_combinations) {
    expect_everything_on<Combination>(own, [](auto& t) {
        async_retry(t.operation(), t.policy(),
                    asio::bind_executor(t.own_executor(), handler_of<typename Combination::form>(t.handler())));
    });
}

} // namespace
} // namespace asio_retry::test
