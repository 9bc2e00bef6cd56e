#include "exhaustion/scenarios.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace asio_retry::test {
namespace {

// Of a typed executor: any other awaitable attempt runs on a strand, and a strand that has no memory to queue
// itself is lost to Asio with all that it holds.
template <typename T>
using awaitable = asio::awaitable<T, asio::io_context::executor_type>;
constexpr asio::use_awaitable_t<asio::io_context::executor_type> use_awaitable;

awaitable<int> follow(script& s) {
    if (error_code const ec = s.next())
        throw boost::system::system_error(ec);
    co_return 1;
}

awaitable<void> hang(asio::steady_timer& timer) {
    co_await timer.async_wait(use_awaitable);
}

} // namespace

std::vector<scenario> coroutines() {
    // A handler is called when a coroutine of the library's has ended.
    auto const calls_back = [](std::size_t failures, error_code expected, retry_policy (*policy)()) {
        return [=](auto& t) {
            auto& s = failing(t, failures);
            retry_policy const p = t.with_memory(policy);
            t.start(expected, [&](auto handler) {
                async_retry(t.io, [&s] { return follow(s); }, p, std::move(handler));
            });
        };
    };
    auto const hangs = [](error_code expected, retry_policy (*policy)(), bool cancelled) {
        return [=](auto& t) {
            auto& timer = keep<asio::steady_timer>(t, t.io, asio::steady_timer::time_point::max());
            retry_policy const p = t.with_memory(policy);
            fate& f = t.start_cancellable(expected, [&](auto handler) {
                async_retry(t.io, [&timer] { return hang(timer); }, p, std::move(handler));
            });
            // An initiation under use_awaitable that throws destroys the coroutine that awaits it.
            f.asio_may_lose_it = true;
            t.advance(50ms);
            if (cancelled)
                t.cancel(0);
        };
    };
    // The caller is a coroutine itself, which Asio destroys when it has no memory to go on with it.
    auto const awaits = [](std::size_t failures, error_code expected, retry_policy (*policy)()) {
        return [=](auto& t) {
            auto& s = failing(t, failures);
            retry_policy const p = t.with_memory(policy);
            fate& f = t.start_cancellable(expected, [&](auto handler) {
                auto caller = [](script& played, retry_policy how) -> awaitable<int> {
                    co_return co_await async_retry([&played] { return follow(played); }, std::move(how));
                };
                asio::co_spawn(t.io, caller(s, p), std::move(handler));
            });
            f.asio_may_lose_it = true;
        };
    };
    auto const awaits_operations = [](auto& t) {
        auto& s = failing(t, 2);
        retry_policy const p = t.with_memory(patient);
        fate& f = t.start({}, [&](auto handler) {
            auto caller = [](auto operation, retry_policy how) -> awaitable<int> {
                co_return co_await async_retry(operation, std::move(how), use_awaitable);
            };
            asio::co_spawn(t.io, caller(posting(t, s), p), std::move(handler));
        });
        f.asio_may_lose_it = true;
    };

    std::vector<scenario> all = {
        make_scenario("awaitable_called_back", calls_back(2, {}, patient)),
        make_scenario("awaitable_called_back_without_delay", calls_back(2, {}, eager)),
        make_scenario("awaitable_under_limits",
                      calls_back(2, {}, [] { return patient().attempt_timeout(1s).total_timeout(1h); })),
        make_scenario("awaitable_timed_out",
                      hangs(
                          timed_out(), [] { return patient().attempt_timeout(1s).max_attempts(2); }, false)),
        make_scenario("awaitable_timed_out_to_leave_behind",
                      hangs(
                          timed_out(),
                          [] { return patient().attempt_timeout(1s).max_attempts(2).deliver_at_once(); },
                          false)),
        make_scenario("awaitable_cancelled", hangs(aborted(), patient, true)),
        make_scenario("awaited_directly", awaits(2, {}, patient)),
        make_scenario("awaited_directly_without_delay", awaits(2, {}, eager)),
        make_scenario("awaited_before_there_is_a_scheduler",
                      awaits(2, {}, [] { return eager().backoff(constant(1ns)); }), clock_kind::steady),
        make_scenario("awaited_under_limits_before_there_is_a_scheduler",
                      awaits(2, {}, [] { return eager().backoff(constant(1ns)).total_timeout(1h); }),
                      clock_kind::steady),
        make_scenario("awaited_under_limits",
                      awaits(2, {}, [] { return patient().attempt_timeout(1s).total_timeout(1h); })),
        make_scenario("operation_awaited", awaits_operations),
    };
    // Asio posts a function to destroy a suspended coroutine, and terminates when it cannot.
    for (scenario& one : all)
        one.once_only = true;
    return all;
}

} // namespace asio_retry::test
