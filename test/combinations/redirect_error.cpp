#include "combinations/combination.hpp"

#include <boost/asio/redirect_error.hpp>

namespace asio_retry::test {
namespace {

using typed_forms = list<token_operation, plain_error_code>;
using redirect_error_forms = all_combinations<forms_with_code, typed_forms>;

COMBINATION_TEST(redirect_error, of_use_awaitable, redirect_error_forms) {
    expect_awaited_on<Combination>(own, [](auto& t) {
        return note_redirected(t.told(), [&t](error_code& error) {
            return async_retry(t.operation(), t.policy(), asio::redirect_error(asio::use_awaitable, error));
        });
    });
}

} // namespace
} // namespace asio_retry::test
