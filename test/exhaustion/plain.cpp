#include "exhaustion/scenarios.hpp"

namespace asio_retry::test {

std::vector<scenario> plain() {
    auto const plays = [](std::size_t failures, error_code expected, retry_policy (*policy)(), auto operation) {
        return [=](auto& t) {
            auto& s = failing(t, failures);
            retry_policy const p = t.with_memory(policy);
            t.start(expected, [&](auto handler) { async_retry(t.io, operation(t, s), p, std::move(handler)); });
        };
    };
    auto const inline_of = [](trial&, script& s) { return completing_inline(s); };
    auto const at_once = [] { return eager().backoff(constant(1ns)); };
    auto const with_hooks = [] {
        return patient()
            .max_attempts(3)
            .retry_if([](std::exception_ptr const&) { return true; })
            .on_retry([](retry_event const&) {})
            .on_give_up([](stop_reason) {});
    };
    auto const with_rules = [] {
        return patient()
            .when(any_failure, constant(1s))
            .max_attempts_when([](error_code const&) { return true; }, 3);
    };

    return {
        make_scenario("rules_of_failures", plays(2, {}, with_rules, posting)),
        make_scenario("rules_of_failures_that_end_it", plays(100, refused(), with_rules, posting)),
        make_scenario("first_try_posted", plays(0, {}, patient, posting)),
        make_scenario("first_try_inline", plays(0, {}, patient, inline_of)),
        make_scenario("failures_without_delay", plays(2, {}, eager, posting)),
        make_scenario("failures_with_delays", plays(2, {}, patient, posting)),
        make_scenario("inline_failures_without_delay", plays(2, {}, eager, inline_of)),
        make_scenario("inline_failures_with_delays", plays(2, {}, patient, inline_of)),
        make_scenario("exhausted", plays(100, refused(), patient, posting)),
        make_scenario("hooks_and_predicate", plays(100, refused(), with_hooks, posting)),
        make_scenario("scheduler_made_after_a_failure", plays(2, {}, at_once, posting), clock_kind::steady),
        make_scenario("scheduler_made_after_an_inline_failure", plays(2, {}, at_once, inline_of),
                      clock_kind::steady),
        make_scenario("policy_built",
                      [](auto& t) {
                          auto& s = failing(t, 2);
                          t.start({}, [&](auto handler) {
                              async_retry(t.io, posting(t, s),
                                          retry_policy()
                                              .backoff(exponential(100ms).cap(1s))
                                              .jitter(equal_jitter())
                                              .max_attempts(20)
                                              .max_elapsed(1h)
                                              .retry_if([&s](error_code ec) { return ec && s.attempts < 100; })
                                              .on_retry([&s](retry_event const&) { (void)s; })
                                              .on_give_up([&s](stop_reason) { (void)s; }),
                                          std::move(handler));
                          });
                      }),
        make_scenario("several_waits",
                      [](auto& t) {
                          retry_policy const policy = t.with_memory(patient);
                          for (int i = 0; i < 4; ++i) {
                              auto& s = failing(t, 2);
                              t.start({}, [&](auto handler) {
                                  async_retry(t.io, posting(t, s), policy, std::move(handler));
                              });
                          }
                      }),
    };
}

} // namespace asio_retry::test
