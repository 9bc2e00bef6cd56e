# Mistakes in gates, counters and quantiles.

noticed_by(tests_of_traffic)

# --- retry_budget

fault(retry_budget_fades_what_it_keeps src/traffic/retry_budget.cpp
    [[(before > keep_ ? keep_ + left : before)]] [[(keep_ + left)]])

fault(retry_budget_adds_what_was_earned_long_ago src/traffic/retry_budget.cpp
    [[billionths(x > 0 ? all * -std::expm1(-x) / x : all);]] [[billionths(all);]])

fault(retry_budget_earns_the_same_again src/traffic/retry_budget.cpp
    [[earnings_.exchange(0);]] [[earnings_.load();]])

fault(retry_budget_grants_less_than_one src/traffic/retry_budget.cpp
    [[while (left >= one_retry)]] [[while (left > 0)]])

fault(retry_budget_saves_up_its_floor src/traffic/retry_budget.cpp
    [[saturating_add(now, extra_interval_).time_since_epoch().count();]] [[saturating_add(time_point(duration(next_extra_.load())), extra_interval_).time_since_epoch().count();]])

fault(retry_budget_earns_by_retries_too src/traffic/retry_budget.cpp
    [[? end.number == 1 &&]] [[?]])

# --- the other budgets

fault(token_budget_owes src/traffic/token_budget.cpp
    [[std::max<std::int64_t>(0, before - amount)]] [[before - amount]])

fault(token_budget_grants_on_credit src/traffic/token_budget.cpp
    [[while (before >= cost)]] [[while (before > 0)]])

fault(token_budget_refunds_first_attempts src/traffic/token_budget.cpp
    [[refund_ && end.number > 1 ?]] [[refund_ ?]])

fault(window_budget_forgets_one_slot_at_a_time src/traffic/window_budget.cpp
    [[std::min<duration::rep>(passed, slot_count));]] [[std::min<duration::rep>(passed, 1));]])

fault(window_budget_gives_back_the_latest_retry src/traffic/window_budget.cpp
    [[        auto& retries = slots_[(last + i) % slot_count].retries;]] [[        auto& retries = slots_[(last + 1 + slot_count - i) % slot_count].retries;]])

fault(share_budget_forgets_the_sleepers src/traffic/share_budget.cpp
    [[compare_exchange_weak(counts, counts + retry_of_many))]] [[compare_exchange_weak(counts, counts))]])

fault(share_budget_ends_retries_that_have_not_begun src/traffic/share_budget.cpp
    [[    else if (end.after != failure_kind::none)]] [[    else if (true)]])

# --- fleet_budget

fault(fleet_budget_begins_without_a_token src/traffic/fleet_budget.cpp
    [[    if (held_ == 0) {
        missed_ = true;]] [[    if (held_ == 0 && reserved_ == 0) {
        missed_ = true;]])

fault(fleet_budget_asks_twice_at_once src/traffic/fleet_budget.cpp
    [[needed == 0 || under_way_ ||]] [[needed == 0 ||]])

fault(fleet_budget_tells_the_same_again src/traffic/fleet_budget.cpp
    [[    earned_ = 0;
    return fleet_request]] [[    return fleet_request]])

fault(fleet_budget_believes_any_answer src/traffic/fleet_budget.cpp
    [[held_ += std::min(tokens, under_way_->wanted);]] [[held_ += tokens;]])

fault(fleet_budget_loses_what_it_told_in_vain src/traffic/fleet_budget.cpp
    [[std::min(earned_ + under_way_->earned, most_earned);]] [[earned_;]])

fault(fleet_budget_spends_what_did_not_begin src/traffic/fleet_budget.cpp
    [[        ++held_;
]] [[]])

fault(fleet_budget_turns_time_back src/traffic/fleet_budget.cpp
    [[        now = std::max(now, *looked_);
]] [[]])

fault(fleet_budget_lets_reserved_tokens_fade src/traffic/fleet_budget.cpp
    [[std::max(free_from, *looked_), now)]] [[free_from, now)]])

# --- throttle and windows

fault(throttle_does_not_count_what_it_refuses src/traffic/adaptive_throttle.cpp
    [[    window_.add({.requests = 1});
    if (rejected > 0 && drawn_share(source_) < rejected)
        return {time_point::max(), error::client_throttled};]] [[    if (rejected > 0 && drawn_share(source_) < rejected)
        return {time_point::max(), error::client_throttled};
    window_.add({.requests = 1});]])

fault(throttle_takes_answers_for_failures src/traffic/adaptive_throttle.cpp
    [[end.outcome == attempt_end::how::succeeded || end.kind == failure_kind::permanent]] [[end.outcome == attempt_end::how::succeeded]])

fault(throttle_counts_what_was_abandoned src/traffic/adaptive_throttle.cpp
    [[        window_.subtract({.requests = 1}, end.now);
]] [[]])

fault(throttle_does_not_look_at_the_time src/traffic/adaptive_throttle.cpp
    [[    window_.advance(now);
    return rejection_now();]] [[    return rejection_now();]])

fault(slots_are_forgotten_one_too_late include/asio_retry/detail/traffic/slot_window.hpp
    [[slot - static_cast<std::int64_t>(SlotCount) + 1)]] [[slot - static_cast<std::int64_t>(SlotCount) + 2)]])

fault(slots_turn_time_back include/asio_retry/detail/traffic/slot_window.hpp
    [[        if (slot <= newest_)
            return;
]] [[        if (slot <= newest_) {
            newest_ = slot;
            return;
        }
]])

# --- circuit_breaker

fault(breaker_opens_too_soon src/traffic/circuit_breaker.cpp
    [[if (attempts < options_.min_attempts)]] [[if (attempts + 1 < options_.min_attempts)]])

fault(breaker_hears_from_before src/traffic/circuit_breaker.cpp
    [[    if (began < heard_from_)
        return;
]] [[]])

fault(breaker_waits_for_an_abandoned_probe src/traffic/circuit_breaker.cpp
    [[    if (state_ == breaker_state::half_open)
        free_place(began);]] [[    if (state_ == breaker_state::half_open && !is_abandoned)
        free_place(began);]])

fault(breaker_waits_for_a_hung_probe src/traffic/circuit_breaker.cpp
    [[elapsed_between(taken, now) >= options_.open_cap]] [[elapsed_between(taken, now) >= duration::max()]])

fault(breaker_frees_the_place_of_another src/traffic/circuit_breaker.cpp
    [[    if (later != places_.begin()) // or its place has been taken from it
        places_.erase(std::prev(later));]] [[    if (!places_.empty())
        places_.erase(places_.begin());]])

fault(breaker_lets_probes_begin_that_have_succeeded src/traffic/circuit_breaker.cpp
    [[if (places_.size() + succeeded_ >= options_.probes)]] [[if (places_.size() >= options_.probes)]])

fault(breaker_closes_after_one_success src/traffic/circuit_breaker.cpp
    [[} else if (++succeeded_ >= options_.probes) {]] [[} else if (++succeeded_ >= 1) {]])

fault(breaker_remembers_what_was src/traffic/circuit_breaker.cpp
    [[    window_.clear();
]] [[]])

fault(breaker_keeps_the_sums_of_the_last_attempts src/traffic/failure_window.cpp
    [[    total_of_last_ -= last_[next_];
]] [[]])

# --- the other gates

fault(limit_does_not_count_the_one_that_ended include/asio_retry/traffic/concurrency_limit.hpp
    [[algorithm_.update(end.took, count, !succeeded);]] [[algorithm_.update(end.took, count - 1, !succeeded);]])

fault(cooldown_is_of_what_was_said_last src/traffic/cooldown.cpp
    [[while (latest < over &&]] [[while (latest != over &&]])

fault(cooldown_heeds_what_was_abandoned src/traffic/cooldown.cpp
    [[    if (end.outcome != attempt_end::how::failed || asked]] [[    if (asked]])

fault(keyed_gates_forget_the_oldest include/asio_retry/traffic/keyed_gates.hpp
    [[        by_age_.splice(by_age_.begin(), by_age_, found->second);
]] [[]])

fault(keyed_gates_replace_what_another_has_made include/asio_retry/traffic/keyed_gates.hpp
    [[        if (auto known = find_locked(key)) // another thread was faster
            return known;
]] [[]])

# --- rate_limit

fault(rate_limit_keeps_the_times_of_those_that_poll src/traffic/rate_limit.cpp
    [[        if (end.now == last_slot())
            free_last();
        else if]] [[        if]])

fault(rate_limit_frees_one_time_alone src/traffic/rate_limit.cpp
    [[!free_.empty() && *free_.rbegin() == last_slot()]] [[false]])

fault(rate_limit_gives_out_times_that_have_passed src/traffic/rate_limit.cpp
    [[if (saturating_add(earliest, tolerance_) >= now)]] [[if (earliest != now - tolerance_)]])

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

fault(gates_behind_a_queue_are_not_asked src/policy/retry_gate.cpp
    [[ask_from(at + 1, nullptr,]] [[ask_from(at + 2, nullptr,]])

fault(gates_get_another_time_back_than_was_reserved src/policy/retry_gate.cpp
    [[gates_[--end]->on_end(detail::unbegun(number, std::max(now, reserved)));]] [[gates_[--end]->on_end(detail::unbegun(number, reserved > now ? now : reserved));]])

fault(waiter_is_granted_for_ever include/asio_retry/gate_waiter.hpp
    [[        answer_.store(answer::none);
]] [[]])

fault(machine_begins_before_its_reserved_time src/policy/machine_story.cpp
    [[if (story_->is_reserved ? is_early : is_early && !story_->waiter->is_decided()) {]] [[if (!story_->is_reserved && is_early && !story_->waiter->is_decided()) {]])

fault(machine_gives_a_late_time_back src/policy/machine_story.cpp
    [[is_admitted_ && story_->is_reserved ? story_->held_until : now]] [[now]])

fault(machine_ends_with_a_place src/policy/machine_story.cpp
    [[    is_admitted_ = answer.until <= std::max(now, began_) || answer.reserved;
]] [[    is_admitted_ = answer.reserved;
]])

# --- for servers

fault(counter_forgets_nothing_when_asked src/traffic/attempt_counter.cpp
    [[    window_.advance(now);
    attempt_histogram counted;]] [[    attempt_histogram counted;]])

fault(advisor_divides_before_it_compares src/traffic/overload_advisor.cpp
    [[all.billionths >= least * all.requests]] [[all.share() >= options_.retry_share]])

noticed_by(tests_of_hedge)

# --- latency_quantile

fault(quantile_forgets_what_is_rare src/traffic/latency_quantile.cpp
    [[left_over = (before + left_over) % 2;]] [[left_over = 0;]])
