# Mistakes in what a retry_machine decides.

noticed_by(tests_of_machine)

# --- the start and the limits of time

fault(machine_has_a_total_timeout_for_a_deadline src/policy/retry_machine.cpp
    [[deadline_ = std::min(deadline_, saturating_add(now, *settings.total_timeout));]]
    [[deadline_ = saturating_add(now, *settings.total_timeout);]])

fault(machine_starts_at_its_deadline src/policy/retry_machine.cpp
    [[deadline_ == time_point::max() || now < deadline_;]] [[deadline_ == time_point::max() || now <= deadline_;]])

fault(machine_mixes_up_its_limits src/policy/retry_machine.cpp
    [[limited_by_deadline_ ? interruption::deadline : interruption::attempt_timeout;]]
    [[!limited_by_deadline_ ? interruption::deadline : interruption::attempt_timeout;]])

fault(machine_blames_the_lesser_limit src/policy/retry_machine.cpp
    [[limited_by_deadline_ = deadline_ <= reached;]] [[limited_by_deadline_ = deadline_ < reached;]])

fault(machine_tells_of_no_limit_after_the_first src/policy/retry_machine.cpp
    [[    return first_limit(began_, saturating_add(reached, duration(1)));]] [[    return time_point::max();]])

fault(machine_lets_progress_go_unheard src/policy/retry_machine.cpp
    [[        said->heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);]] [[        said->heard.store(began_.time_since_epoch().count(), std::memory_order_relaxed);]])

# --- cancellations

fault(machine_decides_on_a_cancelled_attempt src/policy/retry_machine.cpp
    [[    if (is_cancelled)
        return give_up]] [[    if (is_cancelled && !expired)
        return give_up]])

fault(machine_makes_an_attempt_after_a_cancelled_wait src/policy/retry_machine.cpp
    [[    began_ = now;
    if (cancelled())
        return end_cancelled(now);
    if (now > deadline_]] [[    began_ = now;
    if (now > deadline_]])

fault(machine_does_not_look_after_on_retry src/policy/retry_machine.cpp
    [[    if (cancelled())
        return stop_reason::cancelled;
    if (is_told_)
        tell_retry]] [[    if (is_told_)
        tell_retry]])

fault(machine_always_obeys_total include/asio_retry/retry_machine.hpp
    [[return failures_ == 0 || policy_]] [[return failures_ < 100 || policy_]])

fault(machine_asks_for_total_after_the_failure src/policy/retry_machine.cpp
    [[bool const is_cancelled = cancelled(); // asked while this attempt may still be the first]]
    [[bool const is_cancelled = (++failures_, cancelled());
    --failures_;]])

# --- a success that lasts

fault(machine_is_stable_a_little_later src/policy/retry_machine.cpp
    [[elapsed_between(healthy_since_, now) >= *stable_for)]] [[elapsed_between(healthy_since_, now) > *stable_for)]])

fault(machine_takes_a_marked_attempt_for_hung src/policy/retry_machine.cpp
    [[interrupted_by == interruption::attempt_timeout && !marks_health_;]] [[interrupted_by == interruption::attempt_timeout;]])

fault(machine_does_not_start_its_time_over src/policy/retry_machine.cpp
    [[        started_ = now;
        at_edge_ = false;]] [[        at_edge_ = false;]])

fault(machine_counts_health_from_the_last_mark src/policy/retry_machine.cpp
    [[if (marks_health_ && now < healthy_since_)]] [[if (marks_health_)]])

# --- the next delay

fault(machine_makes_one_attempt_more src/policy/retry_machine.cpp
    [[failures_ >= *settings.max_attempts)]] [[failures_ > *settings.max_attempts)]])

fault(machine_backs_off_by_all_attempts src/policy/retry_machine.cpp
    [[&settings.jitter, story_ ? counted_for_backoff() : failures_,]] [[&settings.jitter, attempts_,]])

fault(machine_does_not_wait_up_to_its_limit src/policy/retry_machine.cpp
    [[    bool const is_last = delay > allowed;]] [[    bool const is_last = delay >= allowed;]])

fault(machine_leaves_a_last_attempt_no_time src/policy/retry_machine.cpp
    [[std::min({delay, allowed, wait_leaving_time(now)});]] [[std::min({delay, allowed});]])

fault(machine_does_not_report_what_a_callable_threw src/policy/retry_machine.cpp
    [[    detail::tell_all(observer_, &detail::machine_observer::on_hook_exception, thrown);
]] [[]])

fault(machine_adds_its_own_delay_to_the_wish src/policy/retry_machine.cpp
    [[    duration wish = least;]] [[    duration wish = sum(least, delay);]])

fault(machine_spreads_a_wish_beyond_its_limit src/policy/retry_machine.cpp
    [[        spread = std::min(spread, allowed - least);]] [[        spread = std::max(spread, duration());]])

fault(machine_makes_no_attempt_at_its_deadline src/policy/retry_machine.cpp
    [[    if (now > deadline_ && !at_edge_)]] [[    if (now >= deadline_ && !at_edge_)]])

fault(waits_are_not_added_up src/policy/retry_machine.cpp
    [[        story_->waited = sum(story_->waited, delay);]] [[        story_->waited = delay;]])

# --- gates

fault(machine_keeps_the_lease_when_it_gives_up src/policy/machine_story.cpp
    [[    give_lease_back();
    if (observer_)]] [[    if (observer_)]])

fault(machine_gives_back_what_is_spent src/policy/machine_story.cpp
    [[    has_lease_ = false;
    has_begun_ = true;]] [[    has_begun_ = true;]])

fault(machine_leaves_an_attempt_running src/policy/machine_story.cpp
    [[    if (is_admitted_)
        tell_abandoned(reason == stop_reason::cancelled ? interruption::cancellation : interruption::none, now);
    give_lease_back();]] [[    give_lease_back();]])

fault(machine_calls_a_cancelled_attempt_a_failure src/policy/retry_machine.cpp
    [[        if (interrupted_by == interruption::cancellation)
            tell_abandoned(interruption::cancellation, now);
        else if]] [[        if]])

fault(machine_asks_twice_for_the_first_attempt src/policy/machine_story.cpp
    [[    if (is_refused_ || is_admitted_ || !makes_attempts_)]] [[    if (is_admitted_ || !makes_attempts_)]])

# --- the kind of a failure, and hooks

fault(kind_of_an_exception_is_known src/policy/failure_class.cpp
    [[        if (code == error::operation_threw)
            return std::nullopt;
]] [[]])

fault(kind_of_an_abort_is_permanent src/policy/retryable.cpp
    [[    if (is_abort && (failure.is_permanent() || !(is_wanted || wish == retry_wish::asked)))
        return std::nullopt;
]] [[]])

fault(kind_of_a_failure_ignores_the_judgement src/policy/retryable.cpp
    [[    if (failure.own_kind() != failure_kind::none)
        return failure.own_kind();
    bool const is_wanted]] [[    bool const is_wanted]])

fault(hooks_are_told_that_a_cancelled_attempt_failed src/policy/retryable.cpp
    [[    if (facts.stopped == interruption::cancellation || facts.wish]] [[    if (facts.wish]])

fault(machine_retries_what_was_aborted_in_another_category src/policy/retryable.cpp
    [[!is_abortion(failure.error());]] [[failure.error() != aborted_error();]])

fault(machine_retries_when_a_hook_threw src/policy/retry_machine.cpp
    [[    stage = error::hook_threw;
]] [[]])

fault(event_keeps_what_stopped_an_attempt_before src/policy/retry_machine.cpp
    [[    interrupted_by_ = is_late ? interruption::deadline : interruption::none;]]
    [[    if (is_late)
        interrupted_by_ = interruption::deadline;]])

fault(attempts_have_sent_for_ever include/asio_retry/retry_machine.hpp
    [[        has_sent_ = false;
]] [[]])

# --- rules and the report

fault(rules_count_all_failures src/policy/failure_rules.hpp
    [[        std::uint64_t const counted = own ? ++own->failures : failures;]] [[        if (own)
            ++own->failures;
        std::uint64_t const counted = failures;]])

fault(rules_are_not_reset src/policy/retry_machine.cpp
    [[            std::fill_n(story_->rules(), policy_.settings().rules.size(), detail::rule_state());
]] [[]])

fault(report_forgets_the_first_failure src/policy/report_recorder.cpp
    [[history.erase(history.begin() + 1);]] [[history.erase(history.begin());]])

fault(verdict_of_a_time_out_is_never_permanent src/policy/verdict.cpp
    [[v.permanent_ = own.permanent_;]] [[v.permanent_ = false;]])

fault(machine_may_be_woken_between_two_waits src/policy/machine_story.cpp
    [[        story_->waiter->ignore();]] [[        (void)0;]])

# --- waits for gates

fault(gates_are_not_asked_again_after_a_wait src/policy/retry_gate.cpp
    [[for (bool const again : {false, true})]] [[for (bool const again : {false})]])

fault(gates_get_another_time_back_than_was_reserved src/policy/retry_gate.cpp
    [[            if (end.outcome == attempt_end::how::abandoned)
                end.now = given.until;
]] [[]])

fault(waiter_enters_the_next_queue_as_if_it_were_granted src/policy/retry_gate.cpp
    [[                    waiter->renew(); // a queue before this one may have granted it
]] [[]])

fault(machine_keeps_a_time_that_it_cannot_use src/policy/machine_story.cpp
    [[    if (!wait_held(now))
        keep_nothing(now);
]] [[]])

fault(machine_ends_with_a_place src/policy/machine_story.cpp
    [[    is_admitted_ = answer.until <= left || answer.reserved;
]] [[    is_admitted_ = answer.reserved;
]])

fault(machine_begins_before_its_reserved_time src/policy/machine_story.cpp
    [[    if (is_early && !(is_listening]] [[    if (!story_->is_reserved && is_early && !(is_listening]])
