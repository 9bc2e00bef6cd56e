#include <asio_retry/retry_machine.hpp>

#include "numbers/whole_range.hpp"
#include "support/recording_gate.hpp"
#include "support/recording_observer.hpp"

#include <boost/system/errc.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

error_code const failed = boost::system::errc::make_error_code(boost::system::errc::connection_refused);

retry_policy policy_of(unsigned bits) {
    retry_policy policy = retry_policy().backoff(constant(10ms)).max_attempts(6);
    if (bits & 1)
        policy = policy.wait_when_refused();
    if (bits & 2)
        policy = policy.total_timeout(300ms);
    if (bits & 4)
        policy = policy.attempt_timeout(50ms);
    if (bits & 8)
        policy = policy.reset_after(20ms);
    if (bits & 16)
        policy = policy.clamp().max_elapsed(200ms);
    if (bits & 32)
        policy = policy.on_retry([bits](retry_event const& e) {
            if (e.attempt == bits % 5)
                throw std::runtime_error("x");
        });
    if (bits & 64)
        policy = policy.retry_if([](error_code const& code) {
            if (code == detail::timed_out_error())
                throw std::runtime_error("x");
            return true;
        });
    return policy;
}

/// Plays one operation; what may happen next is chosen by numbers. Wherever they end it is destroyed.
void play(retry_machine& machine, std::vector<int> const& choices) {
    random source(1);
    time_point now(1h);
    time_point limit = time_point::max();
    retry_action action;
    std::size_t next = 0;
    auto const choose = [&](int count) { return next < choices.size() ? choices[next++] % count : -1; };

    switch (choose(5)) {
    case -1:
        return;
    case 0:
        if (!machine.may_start(now))
            return;
        action.what = retry_action::kind::attempt;
        machine.start_with_attempt(now);
        break;
    case 1:
        machine.may_start(now);
        machine.refuse(detail::no_buffer_space_error(), now);
        return;
    case 2:
        machine.cancel();
        [[fallthrough]];
    case 3: // as where the executor has the first word
        machine.may_start(now);
        [[fallthrough]];
    default:
        action = machine.start(now, source);
    }
    while (action.what != retry_action::kind::complete) {
        bool const waits = action.what == retry_action::kind::wait;
        now += waits ? action.delay : duration(std::chrono::milliseconds(choose(40) + 1));
        int const choice = choose(waits ? 8 : 14);
        if (choice == -1)
            return;
        if (waits) {
            if (choice == 0)
                machine.cancel();
            else if (choice == 1)
                machine.drain();
            action = choice == 2 ? machine.on_exception(detail::no_memory_error(), nullptr)
                                 : machine.on_wait_over(now, source);
            continue;
        }
        if (machine.limits_attempts())
            limit = machine.attempt_limit(now);
        verdict what = verdict::failure(failed);
        switch (choice) {
        case 0:
            machine.on_success(now);
            return;
        case 1:
            what = verdict::failure(detail::aborted_error());
            break;
        case 2:
            what = verdict::rejected();
            break;
        case 3:
            what = verdict::rejected({true, {failure_kind::permanent, effect::possible}, {}});
            break;
        case 4:
            machine.heed(pushback::after(15ms));
            break;
        case 5:
            machine.heed(pushback::never());
            break;
        case 6:
            if (limit != time_point::max())
                machine.on_attempt_limit(limit);
            break;
        case 7:
            machine.cancel();
            break;
        case 8:
            machine.drain();
            break;
        case 9:
            machine.on_exception(error::predicate_threw, std::make_exception_ptr(1), now);
            return;
        case 10:
            machine.on_exception(detail::no_memory_error(), nullptr);
            return;
        default:
            break;
        }
        action = machine.on_failure(what, now, source);
    }
}

RC_GTEST_PROP(decision_26, whatever_happens_every_attempt_ends_once_and_every_lease_is_spent_or_given_back,
              ()) {
    auto const bits = static_cast<unsigned>(*between(0, 127));
    auto const gate = std::make_shared<recording_gate>(*between(0, 1) == 0);
    auto const observer = std::make_shared<recording_observer>();
    for (int const answer : *rc::gen::container<std::vector<int>>(8, between(0, 5)))
        gate->refusals.push_back(answer > 3   ? std::optional<duration>(30ms)
                                 : answer > 2 ? std::optional(duration::max())
                                              : std::nullopt);
    for (int const answer : *rc::gen::container<std::vector<int>>(6, between(0, 2)))
        gate->grants.push_back(answer != 0);
    auto const choices = *rc::gen::container<std::vector<int>>(30, between(0, 1000));
    {
        retry_policy policy = policy_of(bits).gate(gate);
        if (*between(0, 1) == 0)
            policy = policy.observe(observer);
        retry_machine machine(policy);
        play(machine, choices);
        RC_ASSERT(gate->running >= 0 && gate->running <= 1);
        RC_ASSERT(gate->leases >= 0 && gate->leases <= 1);
    }
    RC_ASSERT(gate->is_balanced());
    RC_ASSERT(observer->fault == "");
    RC_ASSERT(observer->is_complete());
}

} // namespace
} // namespace asio_retry::test
