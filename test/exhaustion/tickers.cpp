#include "exhaustion/scenarios.hpp"

#include <asio_retry/async_pause.hpp>
#include <asio_retry/backoff_ticker.hpp>

namespace asio_retry::test {
namespace {

backoff_ticker& ticking(trial& t, retry_policy (*policy)()) {
    return keep<backoff_ticker>(t, t.io, t.with_memory(policy));
}

/// Waits for so many ticks, one after the other, while whatever goes wrong with one is no matter of the next.
template <typename Trial>
void tick(Trial& t, backoff_ticker& ticker, int count) {
    for (int i = 0; i < count; ++i) {
        t.start({}, [&](auto handler) { ticker.async_wait(std::move(handler)); });
        t.run();
    }
}

void tick_with_memory(trial& t, backoff_ticker& ticker) {
    t.with_memory([&] {
        ticker.async_wait([](error_code) {});
        t.run();
    });
}

/// Ticks once, and then does something during the next wait.
template <typename Act>
auto during_a_wait(error_code expected, Act act) {
    return [=](auto& t) {
        auto& ticker = ticking(t, patient);
        tick_with_memory(t, ticker);
        t.start_cancellable(expected, [&](auto handler) { ticker.async_wait(std::move(handler)); });
        act(t, ticker);
        t.run();
    };
}

auto paused(duration length) {
    return [=](auto& t) {
        t.start({}, [&](auto handler) { async_pause(t.io, length, std::move(handler)); });
        t.run();
    };
}

template <typename Trial>
void cancel_a_pause(Trial& t) {
    t.start_cancellable(aborted(), [&](auto handler) { async_pause(t.io, 100ms, std::move(handler)); });
    t.cancel(t.started - 1);
    t.run();
}

} // namespace

std::vector<scenario> tickers() {
    auto const ticks = [](retry_policy (*policy)()) {
        return [=](auto& t) { tick(t, ticking(t, policy), 3); };
    };
    auto const at_once = [] { return eager().backoff(constant(1ns)); };

    return {
        make_scenario("pause", paused(100ms)),
        make_scenario("pause_of_no_length", paused(0ms)),
        make_scenario("pause_cancelled", [](auto& t) { cancel_a_pause(t); }),
        make_scenario("ticks_with_delays", ticks(patient)),
        make_scenario("ticks_without_delay", ticks(eager)),
        make_scenario("ticks_on_the_steady_clock", ticks(at_once), clock_kind::steady),
        make_scenario("ticker_exhausted",
                      [](auto& t) {
                          auto& ticker = ticking(t, [] { return patient().max_attempts(1); });
                          tick_with_memory(t, ticker);
                          t.start(error::exhausted,
                                  [&](auto handler) { ticker.async_wait(std::move(handler)); });
                      }),
        make_scenario("ticker_with_two_waits", during_a_wait({},
                                                             [](auto& t, backoff_ticker& ticker) {
                                                                 t.step([&] {
                                                                     ticker.async_wait([](error_code) {});
                                                                 });
                                                             })),
        make_scenario("ticker_stopped",
                      during_a_wait(aborted(), [](auto&, backoff_ticker& ticker) { ticker.stop(); })),
        make_scenario("ticker_reset", during_a_wait({}, [](auto&, backoff_ticker& ticker) { ticker.reset(); })),
        make_scenario("ticker_told_to_tick",
                      during_a_wait({}, [](auto&, backoff_ticker& ticker) { ticker.retry_now(); })),
        make_scenario("ticker_cancelled",
                      during_a_wait(aborted(), [](auto& t, backoff_ticker&) { t.cancel(t.started - 1); })),
    };
}

} // namespace asio_retry::test
