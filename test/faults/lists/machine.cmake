# Mistakes in what a retry_machine decides.

noticed_by(tests_of_machine)

# --- time limits

fault(machine_starts_at_its_deadline 8 src/policy/retry_machine.cpp
    [[now < limits_.deadline();]] [[now <= limits_.deadline();]])

fault(machine_counts_elapsed_time_from_the_attempt 9 src/policy/operation_limits.cpp
    [[*settings.max_elapsed - elapsed_between(started_, now)]]
    [[*settings.max_elapsed - elapsed_between(began_, now)]])

fault(machine_mixes_up_its_limits 10 src/policy/operation_limits.cpp
    [[expired_ = deadline_ <= reached]] [[expired_ = deadline_ > reached]])

fault(machine_tells_of_no_limit_after_the_first 58 src/policy/operation_limits.cpp
    [[first_limit(settings, began_, saturating_add(reached, duration(1)))]] [[time_point::max()]])

fault(machine_does_not_wait_up_to_its_limit 7 src/policy/operation_limits.cpp
    [[is_last = delay > allowed]] [[is_last = delay >= allowed]])

fault(machine_leaves_a_last_attempt_no_time 41 src/policy/operation_limits.cpp
    [[std::min({delay, allowed, wait_before(deadline_, bits_of_longest_, now)})]] [[std::min({delay, allowed})]])

# --- cancellations

fault(machine_decides_on_a_cancelled_attempt 14 src/policy/retry_machine.cpp
    [[if (is_cancelled)
        return]] [[if (is_cancelled && stopped == interruption::none)
        return]])

fault(machine_does_not_look_after_on_retry 21 src/policy/retry_machine.cpp
    [[call_on_retry(failure, facts(now), delay);
    if (cancelled())]] [[call_on_retry(failure, facts(now), delay);
    if (false)]])

fault(machine_always_obeys_total 16 include/asio_retry/retry_machine.hpp
    [[failures_ == 0 || policy_]] [[failures_ < 100 || policy_]])

# --- the next delay

fault(machine_makes_one_attempt_more F4 src/policy/retry_machine.cpp
    [[failures_ >= *settings.max_attempts]] [[failures_ > *settings.max_attempts]])

fault(base_of_a_jitter_may_be_zero 36 src/policy/jitter.cpp
    [[if (base_ == duration::zero())]] [[if (failures == 1)]])

fault(base_of_a_jitter_may_be_above_the_cap 37 src/policy/jitter.cpp
    [[(cap <= base_ && ceiling < base_)]] [[false]])

fault(schedules_have_a_jitter 89 src/policy/retry_policy.cpp
    [[kind == detail::backoff_kind::schedule]] [[false]])

fault(machine_adds_its_own_delay_to_the_wish 52 src/policy/operation_limits.cpp
    [[duration wish = least;]] [[duration wish = saturating_sum(least, delay);]])

fault(machine_piles_wishes_up_at_their_limit 84 src/policy/operation_limits.cpp
    [[wanted - std::min(wanted, spread)]] [[wanted]])

# --- gates

fault(machine_keeps_the_lease_when_it_gives_up 26 src/policy/narrator_events.cpp
    [[give_lease_back();]] [[]])

fault(machine_leaves_an_attempt_running 26 src/policy/narrator_events.cpp
    [[if (is_admitted_) {]] [[if (false) {]])

fault(machine_calls_a_cancelled_attempt_a_failure
    retry_machine.tells_limits_from_cancellations src/policy/retry_machine.cpp
    [[if (stopped == interruption::cancellation)]] [[if (false)]])

fault(machine_retries_without_a_lease 27 src/policy/retry_machine.cpp
    [[if (!settings.wait_when_refused)]] [[if (settings.wait_when_refused)]])

# --- the kind of a failure, and hooks

fault(machine_retries_what_was_aborted_in_another_category 17 src/policy/retryable.cpp
    [[!is_abortion(failure.error())]] [[failure.error() != detail::aborted_error()]])

fault(machine_retries_when_a_hook_threw 88 src/policy/retry_machine.cpp
    [[stage = error::hook_threw;]] [[]])

# --- the report

fault(report_forgets_the_first_failure 11 src/policy/report_recorder.cpp
    [[history.begin() + 1]] [[history.begin()]])

fault(verdict_of_a_time_out_is_never_permanent 48 src/policy/verdict.cpp
    [[v.permanent_ = own.permanent_;]] [[v.permanent_ = false;]])

# --- waits for gates

fault(gates_are_not_asked_again_after_a_wait 69 src/policy/retry_gate.cpp
    [[again : {false, true}]] [[again : {false}]])

fault(machine_keeps_a_time_that_it_cannot_use 78 src/policy/narrator.cpp
    [[if (!held_wait(now, allowed))]] [[if (false)]])

fault(machine_begins_before_its_reserved_time 69 src/policy/narrator.cpp
    [[if (is_early &&]] [[if (!story_->is_reserved && is_early &&]])
