#include "combinations/combination.hpp"

#include <boost/asio/spawn.hpp>

namespace asio_retry::test {
namespace {

// Before Boost 1.88 a spawned coroutine cannot wait for an exception_ptr: Asio rethrows it without asking
// whether there is one, and takes no value with it.
#if BOOST_ASIO_VERSION >= 103300
using spawnable_forms = all_forms;
#else
using spawnable_forms = forms_with_code;
#endif

template <typename>
class yield_context : public testing::Test {};
using typed_forms = list<token_operation, awaitable_error_code, plain_error_code>;
using combinations = all_combinations<spawnable_forms, typed_forms, own_kinds>;
TYPED_TEST_SUITE(yield_context, combinations, combination_name);

template <typename Retry>
void note(story& s, Retry retry) {
    outcome result;
    try {
        if constexpr (std::is_void_v<decltype(retry())>)
            retry();
        else
            result.value = retry();
    } catch (boost::system::system_error const& e) {
        result.error = e.code();
    }
    s.complete(result);
}

template <typename Combination>
using own_type = decltype(std::declval<trial<Combination>&>().own_executor());

template <typename Executor>
void spawn(Executor const& executor, std::function<void(asio::basic_yield_context<Executor>)> body) {
    asio::spawn(executor, std::move(body), [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
    });
}

TYPED_TEST(yield_context, on_the_executor_of_the_coroutine) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        spawn<own_type<TypeParam>>(t.own_executor(), [&t, busy = t.busy()](auto yield) {
            note(t.told(), [&] { return async_retry(t.operation(), t.policy(), yield); });
        });
    });
}

TYPED_TEST(yield_context, on_the_executor_of_the_coroutine_when_another_is_given) {
    expect_everything_on<TypeParam>(own, [](auto& t) {
        spawn<own_type<TypeParam>>(t.own_executor(), [&t, busy = t.busy()](auto yield) {
            note(t.told(), [&] { return async_retry(t.given_executor(), t.operation(), t.policy(), yield); });
        });
    });
}

} // namespace
} // namespace asio_retry::test
