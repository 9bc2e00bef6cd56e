#include "exhaustion/scenarios.hpp"

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/on_endpoint.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <cstdint>
#include <optional>

namespace asio_retry::test {
namespace {

hedge_policy soon() {
    return hedge_policy(10ms).max_attempts(16);
}
hedge_policy soon_at_once() {
    return soon().deliver_at_once();
}
hedge_policy limited() {
    return hedge_policy(1h).total_timeout(1s);
}

/// The first attempt lasts until it is cancelled, the others succeed.
auto all_but_the_first(trial& t) {
    auto& timer = keep<asio::steady_timer>(t, t.io, asio::steady_timer::time_point::max());
    return [&t, &timer](attempt const& which, auto token) {
        return asio::async_initiate<decltype(token), void(error_code)>(
            [&t, &timer](auto handler, std::uint64_t number) {
                auto const slot = asio::get_associated_cancellation_slot(handler);
                auto const allocator = asio::get_associated_allocator(handler);
                auto complete = [handler = std::move(handler)](error_code ec) mutable {
                    std::move(handler)(ec);
                };
                if (number == 1)
                    return timer.async_wait(asio::bind_cancellation_slot(
                        slot, asio::bind_allocator(allocator, std::move(complete))));
                auto succeed = [complete = std::move(complete)]() mutable { complete(error_code()); };
                asio::post(t.io, asio::bind_allocator(allocator, std::move(succeed)));
            },
            token, which.number);
    };
}

// Of a typed executor, as in coroutines.cpp.
asio::awaitable<int, asio::io_context::executor_type> followed(script& s) {
    if (error_code const ec = s.next())
        throw boost::system::system_error(ec);
    co_return 1;
}

} // namespace

std::vector<scenario> hedges() {
    auto const fails = [](std::size_t failures, error_code expected) {
        return [=](auto& t) {
            auto& s = failing(t, failures);
            hedge_policy const policy = t.with_memory(soon);
            t.start(expected,
                    [&](auto handler) { async_hedge(t.io, posting(t, s), policy, std::move(handler)); });
        };
    };
    auto const fails_inline = [](auto& t) {
        auto& s = failing(t, 2);
        hedge_policy const policy = t.with_memory(soon);
        t.start({}, [&](auto handler) { async_hedge(t.io, completing_inline(s), policy, std::move(handler)); });
    };
    auto const is_hedged = [](hedge_policy (*made)()) {
        return [=](auto& t) {
            hedge_policy const policy = t.with_memory(made);
            auto const operation = all_but_the_first(t);
            t.start({}, [&](auto handler) { async_hedge(t.io, operation, policy, std::move(handler)); });
        };
    };
    auto const on_endpoints = [](auto& t) {
        auto const set = t.with_memory([] { return std::make_shared<endpoint_set<int>>(std::vector{1, 2}); });
        hedge_policy const policy = t.with_memory(soon);
        auto const ask = [operation = all_but_the_first(t)](attempt const& which, int, auto token) {
            return operation(which, std::move(token));
        };
        t.start({},
                [&](auto handler) { async_hedge(t.io, on_endpoint(ask, set), policy, std::move(handler)); });
    };
    auto const hangs = [](error_code expected, bool cancelled) {
        return [=](auto& t) {
            hedge_policy const policy = t.with_memory(limited);
            auto const operation = hanging(t);
            t.start_cancellable(
                expected, [&](auto handler) { async_hedge(t.io, operation, policy, std::move(handler)); });
            t.advance(50ms);
            if (cancelled)
                t.cancel(0);
        };
    };
    auto const in_a_scope = [](auto& t) {
        auto& scope = keep<std::optional<retry_scope>>(t, std::in_place, t.io.get_executor());
        hedge_policy const policy =
            t.with_memory([] { return hedge_policy(1h); }); // a scope may be cancelled late
        auto const operation = hanging(t);
        t.start(aborted(), [&](auto handler) { async_hedge(*scope, operation, policy, std::move(handler)); });
        t.advance(50ms);
        t.cancel(*scope);
    };
    auto const awaits = [](auto& t) {
        auto& s = failing(t, 2);
        hedge_policy const policy = t.with_memory(soon);
        t.start({}, [&](auto handler) {
            async_hedge(t.io, [&s] { return followed(s); }, policy, std::move(handler));
        });
    };

    auto const once = [](scenario made) { // for good, all hedges fail, and the first attempt lasts for ever
        made.once_only = true;
        return made;
    };
    scenario of_awaitables = make_scenario("hedge_of_awaitables", awaits);
    of_awaitables.once_only = true; // a coroutine that cannot be queued ends the program, in Asio
    return {
        make_scenario("hedge_not_needed", fails(0, {})),
        once(make_scenario("hedge_on_endpoints", on_endpoints)),
        make_scenario("hedged_after_failures", fails(2, {})),
        make_scenario("hedges_that_all_fail", fails(100, refused())),
        make_scenario("hedged_inline", fails_inline),
        once(make_scenario("hedged", is_hedged(soon))),
        once(make_scenario("hedged_and_delivered_at_once", is_hedged(soon_at_once))),
        make_scenario("hedge_at_its_limit", hangs(timed_out(), false)),
        make_scenario("hedge_cancelled", hangs(aborted(), true)),
        make_scenario("hedge_cancelled_by_its_scope", in_a_scope),
        of_awaitables,
    };
}

} // namespace asio_retry::test
