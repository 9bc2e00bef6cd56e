#include "combinations/combination.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/spawn.hpp>

#if __has_include(<boost/asio/cancel_after.hpp>)
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/strand.hpp>
#endif

namespace asio_retry::test {
namespace {

// Before Boost 1.88 a spawned coroutine cannot wait for an exception_ptr: Asio rethrows it without asking
// whether there is one, and takes no value with it.
#if BOOST_ASIO_VERSION >= 103300
using spawnable_forms = all_forms;
#else
using spawnable_forms = forms_with_code;
#endif

using typed_forms = list<token_operation, awaitable_error_code, plain_error_code>;
using combinations = all_combinations<spawnable_forms, typed_forms, own_kinds>;

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

/// The same for what throws nothing.
template <typename Retry>
void note_code(story& s, error_code const& error, Retry retry) {
    outcome result;
    if constexpr (std::is_void_v<decltype(retry())>)
        retry();
    else
        result.value = retry();
    result.error = error;
    s.complete(result);
}

template <typename Combination>
using own_type = decltype(std::declval<trial<Combination>&>().own_executor());

template <typename Executor>
void spawn_on(Executor const& executor, std::function<void(asio::basic_yield_context<Executor>)> body) {
    asio::spawn(executor, std::move(body), [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
    });
}

COMBINATION_TEST(yield_context, on_the_executor_of_the_coroutine, combinations) {
    expect_everything_on<Combination>(own, [](auto& t) {
        spawn_on<own_type<Combination>>(t.own_executor(), [&t, busy = t.busy()](auto yield) {
            note(t.told(), [&] { return async_retry(t.operation(), t.policy(), yield); });
        });
    });
}

COMBINATION_TEST(yield_context, on_the_executor_of_the_coroutine_when_another_is_given, combinations) {
    expect_everything_on<Combination>(own, [](auto& t) {
        spawn_on<own_type<Combination>>(t.own_executor(), [&t, busy = t.busy()](auto yield) {
            note(t.told(), [&] { return async_retry(t.given_executor(), t.operation(), t.policy(), yield); });
        });
    });
}

// Whether the coroutine says so or the token.
using combinations_with_code = decltype(product(typed_forms(), list<on_any_io_executor>()));

COMBINATION_TEST(yield_context_with_code, of_the_coroutine, combinations_with_code) {
    expect_everything_on<Combination>(own, [](auto& t) {
        spawn_on<own_type<Combination>>(t.own_executor(), [&t, busy = t.busy()](auto yield) {
            error_code error;
            note_code(t.told(), error, [&] { return async_retry(t.operation(), t.policy(), yield[error]); });
        });
    });
}

COMBINATION_TEST(yield_context_with_code, of_redirect_error, combinations_with_code) {
    expect_everything_on<Combination>(own, [](auto& t) {
        spawn_on<own_type<Combination>>(t.own_executor(), [&t, busy = t.busy()](auto yield) {
            error_code error;
            note_code(t.told(), error, [&] {
                return async_retry(t.operation(), t.policy(), asio::redirect_error(yield, error));
            });
        });
    });
}

#if __has_include(<boost/asio/cancel_after.hpp>)
// On a strand, which the timer shares with the operation.
COMBINATION_TEST(yield_context_with_code, in_cancel_after, combinations_with_code) {
    expect_everything_on<Combination>(own, [](auto& t) {
        auto const strand = asio::make_strand(t.own_executor());
        spawn_on<std::decay_t<decltype(strand)>>(strand, [&t, strand, busy = t.busy()](auto yield) {
            error_code error;
            note_code(t.told(), error, [&] {
                return async_retry(strand, t.operation(), t.policy(), asio::cancel_after(1h, yield[error]));
            });
        });
    });
}
#endif

} // namespace
} // namespace asio_retry::test
