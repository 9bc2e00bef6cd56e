#include "combinations/combination.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>

namespace asio_retry::test {
namespace {

template <typename Combination>
using given_type = decltype(std::declval<trial<Combination>&>().given_executor());

COMBINATION_TEST(default_token, of_an_executor_is_use_awaitable, all_combinations<typical_forms>) {
    using executor = asio::use_awaitable_t<>::executor_with_default<given_type<Combination>>;
    expect_awaited_on<Combination>(own, [](auto& t) {
        return note(t.told(), async_retry(executor(t.given_executor()), t.operation(), t.policy()));
    });
}

COMBINATION_TEST(default_token, of_an_executor_is_as_tuple, all_combinations<typical_forms>) {
    using token = asio::as_tuple_t<asio::use_awaitable_t<>>;
    using executor = typename token::executor_with_default<given_type<Combination>>;
    expect_awaited_on<Combination>(own, [](auto& t) {
        return note_tuple(t.told(), async_retry(executor(t.given_executor()), t.operation(), t.policy()));
    });
}

COMBINATION_TEST(default_token, of_an_executor_is_deferred, all_combinations<typical_forms>) {
    using executor = asio::deferred_t::executor_with_default<given_type<Combination>>;
    expect_awaited_on<Combination>(own, [](auto& t) {
        return note_awaited<Combination::form::has_value>(
            t.told(), async_retry(executor(t.given_executor()), t.operation(), t.policy()));
    });
}

// An I/O object whose operations are awaitable by default makes operations of the form awaitable<T>.
TEST(default_token_of_an_io_object, makes_awaitable_operations) {
    asio::io_context io;
    virtual_time time(io);
    auto timer = asio::use_awaitable_t<>::as_default_on(asio::steady_timer(io));
    auto deferring = asio::deferred_t::as_default_on(asio::steady_timer(io));
    int rejected = 0;
    auto const twice = [&] { return ++rejected % 3 != 0; };
    bool ended = false;
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            auto const policy = retry_policy().backoff(constant(1s)).jitter(no_jitter());
            auto const wait = [&] {
                timer.expires_after(0s);
                return timer.async_wait();
            };
            auto const deferred_wait = [&] {
                deferring.expires_after(0s);
                return deferring.async_wait();
            };
            co_await async_retry(fail_if(wait, twice), policy);
            co_await async_retry(fail_if(deferred_wait, twice), policy);
            ended = true;
        },
        [](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
        });
    while (!ended) {
        time.run();
        io.restart();
        io.run_one(); // the timers are real
    }
    EXPECT_EQ(rejected, 6);
}

} // namespace
} // namespace asio_retry::test
