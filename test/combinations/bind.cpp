#include "combinations/combination.hpp"

#include "support/counting_allocator.hpp"

#include <asio_retry/async_hedge.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <future>

namespace asio_retry::test {
namespace {

using bind_forms = all_combinations<all_forms, typical_forms, own_kinds>;

COMBINATION_TEST(bind, executor_of_the_handler, bind_forms) {
    expect_everything_on<Combination>(own, [](auto& t) {
        async_retry(t.operation(), t.policy(), asio::bind_executor(t.own_executor(), t.handler()));
    });
}

COMBINATION_TEST(bind, what_the_handler_is_bound_to_when_another_executor_is_given, bind_forms) {
    expect_everything_on<Combination>(own, [](auto& t) {
        using allocator = counting_allocator<int>;
        memory_of_handlers counts;
        asio::cancellation_signal signal;
        async_retry(
            t.given_executor(), t.operation(), t.policy(),
            asio::bind_cancellation_slot(
                signal.slot(),
                asio::bind_allocator(allocator(counts), asio::bind_executor(t.own_executor(), t.handler()))));
        t.run_dry();
        EXPECT_GE(counts.made, 1u);
        EXPECT_EQ(counts.bytes, 0u);
        EXPECT_FALSE(signal.slot().has_handler());
    });
}

// The same types as above. In a context with threads the hook cancels, since nothing else is sure not to meet
// the operation.
COMBINATION_TEST(bind, slot_of_the_handler_ends_the_wait, bind_forms) {
    using allocator = counting_allocator<int>;
    with_contexts_of<typename Combination::kind>([](auto& context) {
        trial<Combination> t(context, 1000, false);
        memory_of_handlers counts;
        asio::cancellation_signal signal;
        auto const cancel = [&] { signal.emit(asio::cancellation_type::terminal); };
        auto const policy =
            t.policy().unlimited_attempts().backoff(constant(1h)).on_retry([&](retry_event const&) {
                t.told().see("on_retry");
                if (t.is_serial())
                    asio::post(t.own_executor(), cancel);
                else
                    cancel();
            });
        async_retry(
            t.given_executor(), t.operation(), policy,
            asio::bind_cancellation_slot(
                signal.slot(),
                asio::bind_allocator(allocator(counts), asio::bind_executor(t.own_executor(), t.handler()))));
        t.run_dry();
        t.told().expect_called_on(own);
        EXPECT_EQ(t.told().attempts(), 1);
        ASSERT_EQ(t.told().results().size(), 1u);
        EXPECT_EQ(t.told().results()[0].error, aborted());
    });
}

TEST(bind_system_executor, counts_as_no_executor) {
    expect_everything_on<combination<token_operation, on_io_context>>(given, [](auto& t) {
        async_retry(t.given_executor(), t.operation(), t.policy(),
                    asio::bind_executor(asio::system_executor(), t.handler()));
    });
}

// What runs functions anywhere is asked to keep them apart.
TEST(bind_system_executor, is_one_as_a_strand) {
    auto const strand = asio::make_strand(asio::system_executor());
    auto const is_called_there = [&](auto begin) {
        std::promise<bool> answer;
        auto answered = answer.get_future();
        begin(asio::bind_executor(strand, [strand, answer = std::move(answer)](error_code) mutable {
            answer.set_value(strand.running_in_this_thread());
        }));
        return answered.get(); // throws if the handler was destroyed
    };
    auto const operation = [] { return error_code(); };
    asio::system_executor const anywhere;
    EXPECT_TRUE(is_called_there(
        [&](auto handler) { async_retry(anywhere, operation, retry_policy(), std::move(handler)); }));
    EXPECT_TRUE(
        is_called_there([&](auto handler) { async_retry(operation, retry_policy(), std::move(handler)); }));
    EXPECT_TRUE(is_called_there(
        [&](auto handler) { async_hedge(anywhere, operation, hedge_policy(1h), std::move(handler)); }));
}

// One with a default token is the system's all the same.
static_assert(
    detail::is_fallback_executor<asio::use_awaitable_t<>::executor_with_default<asio::system_executor>>);

// What keeps that to itself is an executor of its own.
class private_executor : asio::system_executor {};
static_assert(!detail::is_fallback_executor<private_executor>);

} // namespace
} // namespace asio_retry::test
