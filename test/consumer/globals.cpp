// A program has variables of its own with names that the library's headers use. Compiled with all warnings as
// errors, and the headers by -I.
int policy, scope, report, attempt, operation, handler, result, value, io, self;

#include <asio_retry/asio_retry.hpp>
#include <asio_retry/policy_json.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<int> fetch();
asio::awaitable<int> fetch_as(asio_retry::attempt const& which);

auto const wait = [](asio_retry::attempt const&, auto token) {
    return asio::async_initiate<decltype(token), void(asio_retry::error_code, int)>(
        [](auto completed) { std::move(completed)(asio_retry::error_code(), 1); }, token);
};
bool is_zero(int i) {
    return i == 0;
}

asio::awaitable<void> awaited(asio_retry::retry_scope& in) {
    asio_retry::retry_policy const plain;
    asio_retry::retry_policy const limited = plain.total_timeout(1s).attempt_timeout(1s);
    asio_retry::hedge_policy const beside(1s);
    asio_retry::retry_report told;
    auto const log = [](asio_retry::retry_event const&) {};
    for (asio_retry::retry_policy const& one : {plain, limited}) {
        co_await asio_retry::async_retry(fetch, one);
        co_await asio_retry::async_retry(in, fetch_as, one);
        co_await asio_retry::async_retry(in.get_executor(), wait, one, asio::use_awaitable);
    }
    auto judged = asio_retry::fail_if(fetch, is_zero).or_error();
    co_await asio_retry::async_retry(asio_retry::with_report(judged, told), plain);
    co_await asio_retry::async_retry(asio_retry::with_hooks(fetch, log, log), plain);
    co_await asio_retry::async_retry(asio_retry::before_retry(fetch, [] {}), plain);
    co_await asio_retry::async_hedge(fetch, beside);
    co_await asio_retry::async_hedge(in, wait, beside, asio::use_awaitable);
    asio::steady_timer timer(in.get_executor());
    co_await timer.async_wait(asio_retry::retrying(plain));
    co_await timer.async_wait(asio_retry::retrying(in, limited, asio::use_awaitable));
    asio_retry::backoff_ticker ticker(in.get_executor(), plain);
    co_await ticker.async_wait(asio::use_awaitable);
    co_await asio_retry::async_pause(in.get_executor(), 1s, asio::use_awaitable);
    auto const counted =
        asio_retry::on_executor(in.get_executor(), [](asio_retry::attempt const&) { return 1; });
    co_await asio_retry::async_retry(counted, plain);
    co_await in.async_join(asio::use_awaitable);
    co_await in.async_drain(1s, asio::use_awaitable);
}

void noted(asio_retry::error_code, int); // a function is a handler of which g++ warns more

void called_back(asio::io_context& context, asio_retry::retry_scope& in) {
    asio_retry::retry_policy const plain;
    asio_retry::hedge_policy const beside(1s);
    auto const done = [](asio_retry::error_code, int) {};
    asio_retry::async_retry(context, wait, plain, done);
    asio_retry::async_retry(context, wait, plain, noted);
    asio_retry::async_retry(in, wait, plain, done);
    asio_retry::async_retry(context, fetch, plain, asio::detached);
    asio_retry::async_retry(in, asio_retry::fail_if(wait, is_zero), plain.total_timeout(1s), asio::use_future);
    asio_retry::async_hedge(context, wait, beside, done);
    asio_retry::async_hedge(context, wait, beside, noted);
    asio_retry::async_hedge(in, fetch, beside, asio::detached);
    asio_retry::backoff_ticker(context, plain).async_wait([](asio_retry::error_code) {});
    in.async_drain(1s, [](asio_retry::error_code, std::size_t) {});
}

int blocking() {
    return asio_retry::retry(asio_retry::fail_if([] { return 1; }, is_zero).or_error(),
                             asio_retry::retry_policy());
}
