# Mistakes in gates, counters and quantiles.

noticed_by(tests_of_traffic)

# --- retry_budget

fault(retry_budget_fades_what_it_keeps src/traffic/retry_budget.cpp
    [[(before > keep_ ? keep_ + left : before)]] [[(keep_ + left)]])

fault(retry_budget_grants_less_than_one src/traffic/retry_budget.cpp
    [[while (left >= one_retry)]] [[while (left > 0)]])

fault(retry_budget_saves_up_its_floor src/traffic/retry_budget.cpp
    [[saturating_add(now, extra_interval_).time_since_epoch().count();]] [[saturating_add(time_point(duration(next_extra_.load())), extra_interval_).time_since_epoch().count();]])

# --- the other budgets

fault(window_budget_forgets_one_slot_at_a_time src/traffic/window_budget.cpp
    [[std::min<duration::rep>(passed, slot_count));]] [[std::min<duration::rep>(passed, 1));]])

fault(share_budget_forgets_the_sleepers src/traffic/share_budget.cpp
    [[compare_exchange_weak(counts, counts + retry_of_many))]] [[compare_exchange_weak(counts, counts))]])

# --- fleet_budget

fault(fleet_budget_begins_without_a_token src/traffic/fleet_budget.cpp
    [[    if (held_ == 0) {
        missed_ = true;]] [[    if (held_ == 0 && reserved_ == 0) {
        missed_ = true;]])

fault(fleet_budget_believes_any_answer src/traffic/fleet_budget.cpp
    [[held_ += std::min(tokens, under_way_->wanted);]] [[held_ += tokens;]])

fault(fleet_budget_spends_what_did_not_begin src/traffic/fleet_budget.cpp
    [[        ++held_;
]] [[]])

# --- throttle and windows

fault(throttle_does_not_count_what_it_refuses src/traffic/adaptive_throttle.cpp
    [[    window_.add({.requests = 1});
    if (rejected > 0 && drawn_share(source_) < rejected)
        return {time_point::max(), error::client_throttled};]] [[    if (rejected > 0 && drawn_share(source_) < rejected)
        return {time_point::max(), error::client_throttled};
    window_.add({.requests = 1});]])

fault(throttle_takes_answers_for_failures src/traffic/adaptive_throttle.cpp
    [[end.outcome == attempt_end::how::succeeded || end.kind == failure_kind::permanent]] [[end.outcome == attempt_end::how::succeeded]])

# --- circuit_breaker

fault(breaker_opens_too_soon src/traffic/circuit_breaker.cpp
    [[if (attempts < options_.min_attempts)]] [[if (attempts + 1 < options_.min_attempts)]])

fault(breaker_hears_from_before src/traffic/circuit_breaker.cpp
    [[    if (began < heard_from_)
        return;
]] [[]])

fault(breaker_waits_for_an_abandoned_probe src/traffic/circuit_breaker.cpp
    [[    if (before == breaker_state::half_open) {
        if (end.ticket]] [[    if (before == breaker_state::half_open && !is_abandoned) {
        if (end.ticket]])

fault(breaker_forgets_a_probe_that_waits src/traffic/circuit_breaker.cpp
    [[state_ == breaker_state::half_open && free_place(before.ticket)]] [[false]])

fault(breaker_waits_for_a_hung_probe src/traffic/circuit_breaker.cpp
    [[elapsed_between(probe_began, now) >= options_.open_cap]] [[elapsed_between(probe_began, now) >= duration::max()]])

fault(breaker_frees_the_place_of_another src/traffic/circuit_breaker.cpp
    [[    if (later != places_.begin()) // or its place has been taken from it
        places_.erase(std::prev(later));]] [[    if (!places_.empty())
        places_.erase(places_.begin());]])

fault(breaker_lets_probes_begin_that_have_succeeded src/traffic/circuit_breaker.cpp
    [[if (static_cast<std::size_t>(places_.end() - oldest) + succeeded_ < options_.probes)]] [[if (static_cast<std::size_t>(places_.end() - oldest) < options_.probes)]])

fault(breaker_closes_after_one_success src/traffic/circuit_breaker.cpp
    [[} else if (++succeeded_ >= options_.probes) {]] [[} else if (++succeeded_ >= 1) {]])

fault(breaker_remembers_what_was src/traffic/circuit_breaker.cpp
    [[    window_.clear();
]] [[]])

fault(breakers_that_opened_together_probe_together src/traffic/circuit_breaker.cpp
    [[share_of(number_, now) *]] [[share_of(0, now) *]])

fault(breaker_tells_nothing_of_its_first_probe src/traffic/circuit_breaker.cpp
    [[    made.from = state_;
    if (made.from == breaker_state::open)
        half_open();]] [[    if (state_ == breaker_state::open)
        half_open();
    made.from = state_;]])

fault(breaker_forgets_as_its_options_change src/traffic/circuit_breaker.cpp
    [[    window.take(window_);
]] [[]])

fault(breaker_never_closes_with_fewer_probes src/traffic/circuit_breaker.cpp
    [[    succeeded_ = std::min<std::size_t>(succeeded_, good.probes - 1);
]] [[]])

# --- the other gates

fault(limit_does_not_count_the_one_that_ended include/asio_retry/traffic/concurrency_limit.hpp
    [[algorithm_.update(end.took, count, !succeeded);]] [[algorithm_.update(end.took, count - 1, !succeeded);]])

fault(cooldown_is_of_what_was_said_last src/traffic/cooldown.cpp
    [[while (latest < over)]] [[while (latest != over)]])

fault(cooldown_heeds_what_was_abandoned src/traffic/cooldown.cpp
    [[    if (end.outcome != attempt_end::how::failed || asked]] [[    if (asked]])

fault(cooldown_is_over_for_all_at_once src/traffic/cooldown.cpp
    [[fetch_add(golden_ratio,]] [[fetch_add(1,]])

fault(keyed_gates_forget_what_remembers_something src/traffic/keyed_gates.cpp
    [[return which.gate.use_count() == 1 && is_idle_(which.gate.get(), now);]] [[return which.gate.use_count() == 1;]])

fault(keyed_gates_replace_what_another_has_made src/traffic/keyed_gates.cpp
    [[        if (auto known = find_locked(key)) // another thread was faster
            return known;
]] [[]])

# --- rate_limit

fault(rate_limit_keeps_the_times_of_those_that_poll src/traffic/rate_limit.cpp
    [[    if (slot == last_slot())
        free_last();
    else if (slot]] [[    if (slot]])

fault(rate_limit_frees_one_time_alone src/traffic/rate_limit.cpp
    [[    if (free_->runs.empty() || free_->runs.rbegin()->second != last_slot())]] [[    if (true)]])

fault(rate_limit_gives_out_times_that_have_passed src/traffic/rate_limit.cpp
    [[free_->runs.lower_bound(earliest);]] [[free_->runs.begin();]])

fault(rate_limit_frees_one_of_those_that_began_at_once src/traffic/rate_limit.cpp
    [[if (its->first == slot)]] [[if (true)]])

fault(rate_limit_lets_all_begin_that_are_late src/traffic/rate_limit.cpp
    [[if (is_free && elapsed_between(promised, now) < std::max(interval_, detail::always_late))]] [[if (is_free)]])

fault(rate_limit_moves_no_later_times src/traffic/rate_limit.cpp
    [[if (next > now && has_slot && slot > last_begun_)]] [[if (false)]])

# --- queues

fault(queue_serves_the_lowest_first src/traffic/concurrency_limit.cpp
    [[    std::size_t rank = by_priority_.size() - 1;
    while (by_priority_[rank].empty())
        --rank;]] [[    std::size_t rank = 0;
    while (by_priority_[rank].empty())
        ++rank;]])

fault(queue_hears_of_successes_alone include/asio_retry/traffic/concurrency_limit.hpp
    [[        if (!is_update && queue_.size() == 0)]] [[        if (!is_update)]])

fault(queue_grants_a_place_to_nobody include/asio_retry/traffic/concurrency_limit.hpp
    [[        std::lock_guard const lock(mutex_);
        if (waiter.is_granted())
            return now;
]] [[        std::lock_guard const lock(mutex_);
]])

fault(machine_gives_a_late_time_back src/policy/machine_story.cpp
    [[is_admitted_ ? kept()]] [[is_admitted_ ? admission(now)]])

# --- one operation inside an attempt of another

fault(machine_blames_a_server_for_a_refusal_further_in src/policy/machine_story.cpp
    [[story_ ? !is_out_of_time() && detail::is_refusal(failure, story_->marks)]] [[story_ ? static_cast<bool>(failure.said())]])

# --- for servers

fault(advisor_divides_before_it_compares src/traffic/overload_advisor.cpp
    [[all.billionths >= least * all.requests]] [[all.share() >= options_.retry_share]])

fault(kind_depends_on_retry_sent src/policy/retry_machine.cpp
    [[    wish_ = is_wanted ? detail::retry_wish::wanted]] [[    wish_ = is_wanted && may_repeat ? detail::retry_wish::wanted]])

noticed_by(tests_of_hedge)

# --- latency_quantile

fault(quantile_forgets_what_is_rare src/traffic/latency_quantile.cpp
    [[left_over = (before + left_over) % 2;]] [[left_over = 0;]])
