// What every form of operation needs of the library is exported.
#include "forms.hpp"

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/retry_scope.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <cstddef>
#include <exception>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using asio_retry::error_code;

namespace {

auto const twice = asio_retry::retry_policy().backoff(asio_retry::constant(1ms)).max_attempts(2);
auto const limited = asio_retry::retry_policy(twice).attempt_timeout(2ms).total_timeout(1h);

/// Until it is told to stop.
asio::awaitable<error_code> wait_for_ever() {
    asio::steady_timer timer(co_await asio::this_coro::executor, 24h);
    co_await timer.async_wait(asio::use_awaitable);
    co_return error_code();
}

asio::awaitable<error_code> refuse() {
    co_return asio::error::connection_refused;
}

/// The second time.
template <typename Token>
auto async_succeed(int& made, Token&& token) {
    return asio::async_initiate<Token, void(error_code)>(
        [&made](auto handler) {
            error_code const ec = made++ == 0 ? error_code(asio::error::try_again) : error_code();
            auto const executor = asio::get_associated_executor(handler);
            asio::post(executor, [handler = std::move(handler), ec]() mutable { std::move(handler)(ec); });
        },
        token);
}

/// How the operations that counted have ended.
struct ends {
    int timed_out = 0, refused = 0, succeeded = 0, aborted = 0;

    auto count() {
        return [this](error_code ec) {
            timed_out += ec == asio::error::timed_out;
            refused += ec == asio::error::connection_refused;
            aborted += ec == asio::error::operation_aborted;
            succeeded += !ec;
        };
    }
};

} // namespace

bool forms::end_in_a_scope() {
    asio::io_context io;
    asio_retry::virtual_time time(io);
    asio_retry::retry_scope scope(io);
    asio_retry::retry_scope child(scope);
    ends seen;
    auto const count = seen.count();
    int made = 0, hedged = 0;
    auto const succeed = [&made](auto token) { return async_succeed(made, std::move(token)); };
    auto const begin_hedge = [&hedged](auto token) { return async_succeed(hedged, std::move(token)); };

    asio_retry::async_retry(scope, wait_for_ever, limited, count);
    asio_retry::async_retry(scope, refuse, twice, count);
    asio_retry::async_retry(child, succeed, limited, count);
    asio_retry::async_hedge(child, begin_hedge, asio_retry::hedge_policy(1ms), count);
    asio_retry::async_hedge(scope, refuse, asio_retry::hedge_policy(1ms), count);
    asio::co_spawn(
        io,
        [&]() -> asio::awaitable<void> {
            co_await asio_retry::async_retry(scope, wait_for_ever, limited, asio::use_awaitable);
        },
        [&](std::exception_ptr thrown) { count(asio_retry::code_of(thrown)); });
    time.run();
    if (seen.timed_out != 2 || seen.refused != 2 || seen.succeeded != 2 || scope.pending() != 0)
        return false;

    std::size_t cancelled = 0;
    int joined = 0;
    asio_retry::async_retry(child, wait_for_ever, twice, count);
    asio_retry::async_hedge(scope, wait_for_ever, asio_retry::hedge_policy(1h), count);
    time.advance(1ms); // the attempts have begun
    scope.retry_now();
    child.async_join([&](error_code) { ++joined; });
    scope.async_drain(1s, [&](error_code, std::size_t were_cancelled) { cancelled = were_cancelled; });
    time.run();
    return seen.aborted == 2 && cancelled == 2 && joined == 1;
}

bool forms::end_when_they_are_cancelled() {
    asio::io_context io;
    asio::cancellation_signal first, second;
    ends seen;
    asio_retry::async_retry(io, wait_for_ever, limited,
                            asio::bind_cancellation_slot(first.slot(), seen.count()));
    asio_retry::async_hedge(io, wait_for_ever, asio_retry::hedge_policy(1h),
                            asio::bind_cancellation_slot(second.slot(), seen.count()));
    asio_retry::backoff_ticker ticker(io, twice);
    int ticks = 0;
    ticker.async_wait([&](error_code ec) { ticks += !ec; });
    asio::post(io, [&] {
        first.emit(asio::cancellation_type::terminal);
        second.emit(asio::cancellation_type::terminal);
    });
    io.run();
    return seen.aborted == 2 && ticks == 1;
}

bool forms::end_on_a_pool() {
    asio::thread_pool pool(2);
    std::atomic<int> failed = 0;
    for (int i = 0; i != 100; ++i)
        asio_retry::async_retry(pool, refuse, twice,
                                [&](error_code) { failed += pool.get_executor().running_in_this_thread(); });
    pool.join();
    return failed == 100;
}
