#include <asio_retry/async_hedge.hpp>

#include "combinations/combination.hpp"

#include <boost/asio/as_tuple.hpp>

namespace asio_retry::test {
namespace {

/// Of hooks of an operation, and so on, hedges know nothing.
using hedged_forms =
    list<token_operation, attempt_and_token, deferred_operation, awaitable_value, awaitable_void,
         awaitable_error_code, awaitable_tuple, awaitable_result, plain_value, plain_void, plain_error_code,
         plain_result, judged<token_operation>, judged<awaitable_value>, judged<plain_value>>;

using hedged_and_bound_combinations = all_combinations<hedged_forms, typical_forms, own_kinds>;

/// A failure begins the next attempt at once, so that attempts come one after the other, as those of a retry.
hedge_policy policy_of(story& s) {
    return hedge_policy(1h)
        .max_attempts(3)
        .retry_if([&s](error_code const&) {
            s.see("retry_if");
            return true;
        })
        .on_hedge([&s](std::uint64_t) { s.see("on_hedge"); });
}

template <typename Combination>
void expect_hedges_on(int number, void (*body)(trial<Combination>&)) {
    for (std::uint64_t const failures : std::initializer_list<std::uint64_t>{0, 2, 9}) {
        SCOPED_TRACE(std::to_string(failures) + " failures");
        with_contexts_of<typename Combination::kind>([&](auto& context) {
            trial<Combination> t(context, failures, false);
            body(t);
            t.run_dry();
            t.expect_result();
            t.told().expect_called_on(number);
        });
    }
}

COMBINATION_TEST(hedged, calls_a_handler_on_the_given_executor, all_combinations<hedged_forms>) {
    expect_hedges_on<Combination>(given, [](auto& t) {
        async_hedge(t.given_executor(), t.operation(), policy_of(t.told()), t.handler());
    });
}

COMBINATION_TEST(hedged_and_bound, calls_a_handler_on_its_own_executor, hedged_and_bound_combinations) {
    expect_hedges_on<Combination>(own, [](auto& t) {
        async_hedge(t.given_executor(), t.operation(), policy_of(t.told()),
                    asio::bind_executor(t.own_executor(), t.handler()));
    });
}

COMBINATION_TEST(hedged, is_awaited_as_a_tuple_on_the_executor_of_the_coroutine,
                 all_combinations<hedged_forms>) {
    expect_hedges_on<Combination>(own, [](auto& t) {
        t.spawn([&t] {
            return note_tuple(
                t.told(), async_hedge(t.operation(), policy_of(t.told()), asio::as_tuple(asio::use_awaitable)));
        });
    });
}

} // namespace
} // namespace asio_retry::test
