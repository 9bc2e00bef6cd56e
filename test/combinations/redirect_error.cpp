#include "combinations/combination.hpp"

#include <boost/asio/redirect_error.hpp>

namespace asio_retry::test {
namespace {

template <typename>
class redirect_error : public testing::Test {};
using typed_forms = list<token_operation, plain_error_code>;
using redirect_error_forms = all_combinations<forms_with_code, typed_forms>;
TYPED_TEST_SUITE(redirect_error, redirect_error_forms, combination_name);

template <typename Value>
asio::awaitable<void> note(story& s, error_code const& error, asio::awaitable<Value> awaited) {
    outcome result;
    if constexpr (std::is_void_v<Value>)
        co_await std::move(awaited);
    else
        result.value = co_await std::move(awaited);
    result.error = error;
    s.complete(result);
}

TYPED_TEST(redirect_error, of_use_awaitable) {
    error_code error;
    expect_everything_on<TypeParam>(own, [&](auto& t) {
        t.spawn([&t, &error] {
            error = asio::error::already_open; // a success clears it
            return note(
                t.told(), error,
                async_retry(t.operation(), t.policy(), asio::redirect_error(asio::use_awaitable, error)));
        });
    });
}

} // namespace
} // namespace asio_retry::test
