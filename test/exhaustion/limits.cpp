#include "exhaustion/scenarios.hpp"

namespace asio_retry::test {

std::vector<scenario> limits() {
    auto const hangs = [](error_code expected, retry_policy (*policy)()) {
        return [=](auto& t) {
            retry_policy const p = t.with_memory(policy);
            auto const operation = hanging(t);
            t.start(expected, [&](auto handler) { async_retry(t.io, operation, p, std::move(handler)); });
        };
    };
    auto const fails = [](error_code expected, retry_policy (*policy)()) {
        return [=](auto& t) {
            auto& s = failing(t, 100);
            retry_policy const p = t.with_memory(policy);
            t.start(expected, [&](auto handler) { async_retry(t.io, posting(t, s), p, std::move(handler)); });
        };
    };
    auto const late = [](auto& t) {
        auto& s = failing(t, 0);
        retry_policy const p = t.with_memory([&] { return patient().deadline(t.time->now()); });
        t.start(timed_out(), [&](auto handler) { async_retry(t.io, posting(t, s), p, std::move(handler)); });
    };

    return {
        make_scenario("attempt_timeout_hit",
                      hangs(timed_out(), [] { return patient().attempt_timeout(1s).max_attempts(2); })),
        make_scenario(
            "attempt_timeout_hit_by_one_to_leave_behind",
            hangs(timed_out(), [] { return patient().attempt_timeout(1s).max_attempts(2).deliver_at_once(); })),
        make_scenario("attempt_timeout_not_hit",
                      fails(refused(), [] { return patient().attempt_timeout(1s).max_attempts(3); })),
        make_scenario("total_timeout_hit_in_an_attempt",
                      hangs(timed_out(), [] { return patient().total_timeout(1s); })),
        make_scenario("total_timeout_before_a_wait",
                      fails(refused(), [] { return patient().total_timeout(250ms).unlimited_attempts(); })),
        make_scenario(
            "clamped_to_the_deadline",
            fails(refused(), [] { return patient().total_timeout(250ms).unlimited_attempts().clamp(); })),
        make_scenario("max_elapsed",
                      fails(refused(), [] { return patient().max_elapsed(250ms).unlimited_attempts(); })),
        make_scenario("deadline_passed", late),
    };
}

} // namespace asio_retry::test
