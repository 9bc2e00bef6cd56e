# Mistakes in gates and in the choice of endpoints.

noticed_by(tests_of_traffic)

# --- budgets

fault(retry_budget_grants_less_than_one G1 src/traffic/retry_budget.cpp
    [[left >= one_retry]] [[left > 0]])

fault(retry_budget_saves_up_its_floor
    retry_budget.grants_one_more_per_interval_where_too_little_is_left src/traffic/retry_budget.cpp
    [[saturating_add(now, extra_interval_)]]
    [[saturating_add(time_point(duration(next_extra_.load())), extra_interval_)]])

fault(retry_budget_keeps_all_that_it_earned_unasked 31 src/traffic/retry_budget.cpp
    [[std::numeric_limits<double>::infinity()]] [[0]])

fault(window_budget_forgets_one_slot_at_a_time 28 src/traffic/window_budget.cpp
    [[std::min<duration::rep>(passed, slot_count)]] [[std::min<duration::rep>(passed, 1)]])

fault(share_budget_forgets_those_that_wait 28 src/traffic/share_budget.cpp
    [[counts, counts + retry_of_many]] [[counts, counts]])

# --- the throttle

fault(throttle_does_not_count_what_it_refuses
    adaptive_throttle.rejects_by_what_was_asked_for_and_what_was_accepted src/traffic/adaptive_throttle.cpp
    [[    window_.add({.requests = 1});
    if (rejected > 0 && drawn_share(source_) < rejected)
        return {time_point::max(), error::client_throttled};]]
    [[    if (rejected > 0 && drawn_share(source_) < rejected)
        return {time_point::max(), error::client_throttled};
    window_.add({.requests = 1});]])

# --- circuit_breaker

fault(breaker_opens_too_soon circuit_breaker.opens_at_half_of_twenty src/traffic/circuit_breaker.cpp
    [[if (attempts < options_.min_attempts)]] [[if (attempts + 1 < options_.min_attempts)]])

fault(breaker_waits_for_a_hung_probe
    circuit_breaker.a_hung_probe_loses_its_place_after_the_cap src/traffic/circuit_breaker.cpp
    [[elapsed_between(probe_began, now) >= options_.open_cap]]
    [[elapsed_between(probe_began, now) >= duration::max()]])

fault(breaker_closes_after_one_success
    circuit_breaker.half_open_lets_three_begin_and_closes_when_all_succeed src/traffic/circuit_breaker.cpp
    [[++succeeded_ >= options_.probes]] [[++succeeded_ >= 1]])

fault(breakers_that_opened_together_probe_together 67 src/traffic/circuit_breaker.cpp
    [[share_of(number_, now)]] [[share_of(0, now)]])

fault(breaker_tells_nothing_of_its_first_probe 67 src/traffic/circuit_breaker.cpp
    [[    made.from = state_;
    if (made.from == breaker_state::open)
        half_open();]] [[    if (state_ == breaker_state::open)
        half_open();
    made.from = state_;]])

fault(breaker_forgets_as_its_options_change
    updated_breaker.keeps_what_ended_and_opens_by_the_new_rules src/traffic/circuit_breaker.cpp
    [[window.take(window_);]] [[]])

# --- other gates

fault(limit_does_not_count_the_one_that_ended
    concurrency_limit.successes_and_drops_teach_it_and_other_ends_do_not
    include/asio_retry/traffic/concurrency_limit.hpp
    [[end.took, count, !succeeded]] [[end.took, count - 1, !succeeded]])

fault(queue_grants_a_place_to_nobody 69 include/asio_retry/traffic/concurrency_limit.hpp
    [[lock(mutex_);
        if (waiter.is_granted())]] [[lock(mutex_);
        if (false)]])

fault(cooldown_is_of_what_was_said_last cooldown.the_latest_end_counts src/traffic/cooldown.cpp
    [[while (latest < over)]] [[while (latest != over)]])

fault(keyed_gates_forget_what_remembers_something 85 src/traffic/keyed_gates.cpp
    [[use_count() == 1 && is_idle_(which.gate.get(), now)]] [[use_count() == 1]])

fault(keyed_gates_replace_what_another_has_made keyed_gates.one_gate_for_each_key src/traffic/keyed_gates.cpp
    [[if (auto known = find_locked(key)) // another]] [[if (auto known = find_locked(key); false) // another]])

fault(rate_limit_keeps_the_times_of_those_that_poll 69 src/traffic/rate_limit.cpp
    [[if (slot == last_slot())]] [[if (false)]])

fault(rate_limit_lets_all_begin_that_are_late 77 src/traffic/rate_limit.cpp
    [[if (is_free && elapsed_between(promised, now) < std::max(interval_, detail::always_late))]] [[if (is_free)]])

# --- what a machine tells gates

fault(machine_blames_a_server_for_a_refusal_further_in 76 src/policy/narrator.cpp
    [[is_refused = !facts.is_out_of_time() &&]] [[is_refused = failure.said() &&]])

fault(kind_depends_on_retry_sent 47 src/policy/retry_machine.cpp
    [[wish_ = is_wanted ?]] [[wish_ = is_wanted && may_repeat ?]])

# --- endpoints

fault(endpoints_are_tried_twice 64 src/traffic/endpoint_table.cpp
    [[has(tried, all.at(id)) ? nobody : id]] [[id]])

fault(endpoints_name_a_time_while_probes_run 64 src/traffic/endpoint_table.cpp
    [[all.probed.empty() ? first : (time_point::max)()]] [[first]])

fault(endpoints_hear_nothing_of_defeats 64 src/traffic/endpoint_table.cpp
    [[        record_defeat(at, now);]] [[        static_cast<void>(0);]])

fault(endpoints_eject_the_last_one 64 src/traffic/endpoint_table.cpp
    [[std::min(static_cast<std::size_t>(share), all - 1)]] [[static_cast<std::size_t>(share)]])

fault(endpoints_rest_as_the_last_wish_says 79 src/traffic/endpoint_table.cpp
    [[std::max(at.rests_until_.load(), until)]] [[until]])

fault(endpoints_take_fast_failures_for_merit 80 src/traffic/endpoint_table.cpp
    [[second_fails_more || fails_more(first.failed, second.failed)]] [[false]])

fault(endpoints_forget_who_has_left 81 src/traffic/endpoint_table.cpp
    [[departed_.swap(next);]] [[]])

fault(endpoints_forget_who_is_slow
    endpoint_set.assigning_keeps_what_is_known_of_those_that_stay src/traffic/endpoint_table.cpp
    [[made->slow.set(id, back);]] [[made->available.push_back(id);]])

fault(kind_of_an_abort_is_permanent 55 src/policy/retryable.cpp
    [[is_abort && (failure.is_permanent()]] [[false && (failure.is_permanent()]])
