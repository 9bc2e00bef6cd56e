#include "exhaustion/scenarios.hpp"

namespace asio_retry::test {

std::vector<scenario> cancellations() {
    auto const in_a_wait = [](auto& t) {
        auto& s = failing(t, 100);
        retry_policy const policy = t.with_memory(patient);
        t.start_cancellable(
            aborted(), [&](auto handler) { async_retry(t.io, posting(t, s), policy, std::move(handler)); });
        t.advance(50ms);
        t.cancel(0);
    };
    auto const in_an_attempt = [](asio::cancellation_type_t type) {
        return [type](auto& t) {
            retry_policy const policy = t.with_memory([] { return patient().allow_total_cancellation(); });
            auto const operation = hanging(t);
            t.start_cancellable(
                aborted(), [&](auto handler) { async_retry(t.io, operation, policy, std::move(handler)); });
            t.advance(50ms);
            t.cancel(0, type);
        };
    };
    auto const while_queued = [](auto& t) {
        auto& s = failing(t, 100);
        retry_policy const policy = t.with_memory(eager);
        t.start_cancellable(aborted(), [&](auto handler) {
            async_retry(t.io, completing_inline(s), policy, std::move(handler));
        });
        t.cancel(0);
    };
    auto const in_a_limited_attempt = [](auto& t) {
        retry_policy const policy = t.with_memory([] { return patient().attempt_timeout(1s); });
        auto const operation = hanging(t);
        t.start_cancellable(aborted(),
                            [&](auto handler) { async_retry(t.io, operation, policy, std::move(handler)); });
        t.advance(50ms);
        t.cancel(0);
    };
    auto const not_needed = [](auto& t) {
        auto& s = failing(t, 2);
        retry_policy const policy = t.with_memory(patient);
        t.start_cancellable(
            {}, [&](auto handler) { async_retry(t.io, posting(t, s), policy, std::move(handler)); });
    };

    return {
        make_scenario("slot_not_used", not_needed),
        make_scenario("cancelled_in_a_wait", in_a_wait),
        make_scenario("cancelled_while_queued", while_queued),
        make_scenario("cancelled_in_an_attempt", in_an_attempt(asio::cancellation_type::terminal)),
        make_scenario("cancelled_totally_in_an_attempt", in_an_attempt(asio::cancellation_type::total)),
        make_scenario("cancelled_in_a_limited_attempt", in_a_limited_attempt),
    };
}

} // namespace asio_retry::test
