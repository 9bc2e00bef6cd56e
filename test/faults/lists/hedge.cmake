# Mistakes in attempts beside one another.

fault(hedge_tells_gates_of_an_answer_where_a_predicate_throws src/traffic/hedge_attempts.cpp
    [[        thrown = std::current_exception();
    }
    pushback const said]] [[        thrown = std::current_exception();
        is_wanted = failure.is_permanent() && !failure.is_permanent();
    }
    pushback const said]])

fault(hedge_calls_what_has_no_result_an_answer src/traffic/hedge_attempts.cpp
    [[has_answer ? attempt_end::how::failed : attempt_end::how::abandoned,]] [[attempt_end::how::failed,]])

fault(hedge_takes_the_mark_off_what_a_limit_ends src/traffic/hedge_machine.cpp
    [[        detail::mark_permanent(action.error, action.thrown);]] [[        action.what = hedge_action::kind::deliver;]])

fault(hedge_marks_what_nobody_is_nested_in src/traffic/hedge_machine.cpp
    [[was_stopped && error_ && common().is_nested)]] [[was_stopped && error_)]])

fault(hedge_hides_its_last_failure_from_what_a_hook_throws src/traffic/hedge_machine.cpp
    [[own ? detail::hook_exception(std::current_exception(), own) : std::current_exception());]] [[std::current_exception());]])

fault(hedge_nests_an_earlier_failure_in_what_a_hook_throws src/traffic/hedge_attempts.cpp
    [[        make_ready(now, &failure);]] [[        make_ready(now);]])

noticed_by(tests_of_hedge)

fault(hedge_counts_an_attempt_whose_judge_threw src/traffic/hedge_attempts.cpp
    [[                                 time_point now) {
    take(number);
    if (phase_ == phase::closed]] [[                                 time_point now) {
    if (phase_ == phase::closed]])

fault(hedge_lets_others_run_after_a_last_failure_in_a_drain src/traffic/hedge_attempts.cpp
    [[    if (!*is_wanted && is_stopping()) {
        end(phase::closed, stop_reason::cancelled, 0, aborted_error());
        return false;]] [[    if (!*is_wanted && is_stopping()) {
        return false;]])

# --- what decides

fault(hedge_never_begins_another src/traffic/hedge_machine.cpp
    [[is_ready_ && begun_ > 0 && now >= next_at_)]] [[is_ready_ && begun_ > 0 && now == time_point::max())]])

fault(hedge_begins_too_many src/traffic/hedge_machine.cpp
    [[return !no_more_ && begun_ < policy_.settings().max_attempts() && when < deadline_;]]
    [[return !no_more_ && begun_ <= policy_.settings().max_attempts() && when < deadline_;]])

fault(hedge_begins_after_its_deadline src/traffic/hedge_machine.cpp
    [[max_attempts() && when < deadline_;]] [[max_attempts();]])

fault(hedge_ignores_what_a_peer_said src/traffic/hedge_machine.cpp
    [[next_at_ = std::max(saturating_add(now, delay), not_before_);]] [[next_at_ = saturating_add(now, delay);]])

fault(hedge_goes_on_after_a_refusal src/traffic/hedge_machine.cpp
    [[    if (!has_lease_) {
        no_more_ = true;
]] [[    if (!has_lease_) {
]])

fault(hedge_keeps_the_lease_of_a_refused_attempt src/traffic/hedge_machine.cpp
    [[            give_lease_back();
            no_more_ = true;]] [[            no_more_ = true;]])

fault(hedge_forgets_an_attempt_that_did_not_begin src/traffic/hedge_machine.cpp
    [[        gate->on_end(unbegun);
]] [[]])

fault(hedge_does_not_tell_losers src/traffic/hedge_machine.cpp
    [[        has_to_stop_ = has_to_stop_ || !was_told_;]] [[        has_to_stop_ = false;]])

fault(hedge_tells_again src/traffic/hedge_machine.cpp
    [[        was_told_ = true;
]] [[]])

fault(hedge_records_no_losers src/traffic/hedge_machine.cpp
    [[        if (reason_ != stop_reason::cancelled)
            for]] [[        if (reason_ == stop_reason::cancelled)
            for]])

fault(hedge_waits_though_it_delivers_at_once src/traffic/hedge_machine.cpp
    [[(phase_ == phase::over || !policy_.settings().deliver_at_once)) {]] [[(true)) {]])

fault(hedge_delivers_before_losers_have_ended src/traffic/hedge_machine.cpp
    [[(phase_ == phase::over || !policy_.settings().deliver_at_once)) {]] [[phase_ == phase::over) {]])

fault(hedge_lets_two_win src/traffic/hedge_attempts.cpp
    [[    hedged_attempt& one = take(number);
    if (phase_ == phase::closed || phase_ == phase::over) {]] [[    hedged_attempt& one = take(number);
    if (phase_ == phase::over) {]])

fault(hedge_retries_what_is_fatal src/traffic/hedge_attempts.cpp
    [[    if (!*is_wanted) {
        bool const]] [[    if (failure.is_permanent()) {
        bool const]])

fault(hedge_calls_a_loser_failed src/traffic/hedge_attempts.cpp
    [[    if (phase_ != phase::open || stopping_ == stopping::cancelled) {
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none]]
    [[    if (phase_ != phase::open || stopping_ == stopping::cancelled) {
        end_attempt(number, attempt_end::how::failed, failure_kind::transient]])

fault(hedge_obeys_total_later src/traffic/hedge_attempts.cpp
    [[    bool const counts = begun_ <= 1 && failures_ == 0;]] [[    bool const counts = failures_ == 0;]])

fault(hedge_records_what_failed src/traffic/hedge_attempts.cpp
    [[    ++failures_;
    std::optional<bool> is_wanted;]] [[    ++failures_;
    record(at(number), now);
    std::optional<bool> is_wanted;]])

fault(quantile_is_below_the_truth src/traffic/latency_quantile.cpp
    [[    return greatest_in(octave, step);]] [[    return greatest_in(octave, step) / 2;]])

fault(quantile_never_forgets src/traffic/latency_quantile.cpp
    [[        halve();
]] [[        return;
]])

fault(quantile_forgets_what_is_rare src/traffic/latency_quantile.cpp
    [[left_over = (before + left_over) % 2;]] [[left_over = 0;]])

# --- what carries it out

fault(hedge_delivers_inside_emit src/hedge/hedge_core.cpp
    [[(place_ == place::cancellation || machine_.running() > 0)) {]] [[machine_.running() > 0) {]])

fault(hedge_keeps_results_of_losers src/hedge/hedge_core.cpp
    [[    if (!keeps)
        drop_result(one);
]] [[]])

fault(hedge_goes_while_its_handler_runs src/hedge/hedge_core.cpp
    [[        if (is_called_ && machine_.running() == 0)]] [[        if (machine_.running() == 0)]])

fault(hedge_leaves_its_timer src/hedge/hedge_core.cpp
    [[    if (expiry == time_point::max())
        return true;
    is_armed_]] [[    is_armed_]])

fault(hedge_counts_no_stopped_attempt src/hedge/hedge_core.cpp
    [[            membership()->count_stopped_attempt();
]] [[            static_cast<void>(0);
]])

fault(hedge_forgets_attempts_that_ended_while_told src/hedge/hedge_events.cpp
    [[    if (stack_mark::find(this))
        return occupancy_.add(ended(one.number));
    if (!occupancy_.enter_after_telling]] [[    if (stack_mark::find(this))
        return;
    if (!occupancy_.enter_after_telling]])

fault(hedge_tells_no_more_after_one_that_threw src/hedge/hedge_events.cpp
    [[            thrown = std::current_exception();
        }
    }]] [[            thrown = std::current_exception();
            return;
        }
    }]])

fault(hedge_is_abandoned_with_its_first_lost_attempt src/hedge/hedge_events.cpp
    [[    if (machine_.running() > 0 || is_armed_)
        return true;]] [[]])

fault(hedge_abandons_a_result_with_the_last_loser src/hedge/hedge_events.cpp
    [[        return machine_.has_end() && !is_delivered_ && arm(now());]] [[        return false;]])

fault(hedge_stays_when_its_queued_delivery_is_dropped src/hedge/hedge_events.cpp
    [[    case hedge_turn::delivery:
        return dissolve();]] [[    case hedge_turn::delivery:
        return;]])

fault(hedge_keeps_the_request_of_its_scope src/hedge/hedge_events.cpp
    [[    if ((events & hedge_event::scope_noticed) != hedge_event::nothing)
        membership()->take_request();]] [[]])

fault(hedge_takes_what_a_handler_throws_for_its_own src/hedge/hedge_core.cpp
    [[                    return true;]] [[                    return leave(), true;]])

fault(hedge_keeps_others_out_when_its_handler_cannot_be_moved include/asio_retry/detail/hedge/hedge_shell.hpp
    [[or_leave([this] { return Handler(std::move(this->handler())); });]] [[Handler(std::move(this->handler()));]])

fault(hedge_keeps_a_lease_for_no_attempt src/traffic/hedge_machine.cpp
    [[    give_lease_back();
    if (running_ == 0)
        conclude_unanswered();]] [[    if (running_ == 0)
        conclude_unanswered();]])

fault(hedge_makes_an_attempt_ready_twice src/traffic/hedge_attempts.cpp
    [[    if (is_ready_) // since another one failed at the same time
        return;
]] [[]])

fault(hedge_begins_what_a_peer_has_forbidden_meanwhile src/traffic/hedge_attempts.cpp
    [[    if (no_more_ || next_at_ > now)
        drop_ready();
]] [[]])

fault(hedge_outlasts_its_deadline_in_a_drain src/traffic/hedge_machine.cpp
    [[        else if (now >= deadline_)
            end]] [[        else if (false)
            end]])

fault(hedge_that_was_not_heard_outlasts_its_deadline src/traffic/hedge_machine.cpp
    [[    if (watches_deadline() && now >= tells_at_) {
        has_to_stop_ = true;]] [[    if (watches_deadline() && now >= tells_at_) {
        has_to_stop_ = false;]])

fault(hedge_that_was_told_does_not_hear_of_its_deadline src/traffic/hedge_machine.cpp
    [[    if (watches_deadline() && now >= tells_at_) {]] [[    if (!was_told_ && watches_deadline() && now >= tells_at_) {]])

fault(hedge_that_was_told_does_not_hear_of_its_scope src/traffic/hedge_attempts.cpp
    [[    stopping_ = stopping::cancelled;
    has_to_stop_ = true;]] [[    stopping_ = stopping::cancelled;
    has_to_stop_ = has_to_stop_ || !was_told_;]])

fault(hedge_tells_of_its_deadline_for_ever src/traffic/hedge_machine.cpp
    [[        tells_at_ = deadline_after(tells_at_);]] [[        tells_at_ = deadline_;]])

fault(hedge_tells_of_its_first_deadline_alone src/traffic/hedge_machine.cpp
    [[        tells_at_ = deadline_after(tells_at_);]] [[        tells_at_ = time_point::max();]])

fault(hedge_that_was_not_heard_forgets_its_deadline src/traffic/hedge_machine.cpp
    [[        return watches_deadline() ? tells_at_ : time_point::max();]] [[        return time_point::max();]])

fault(hedge_that_goes_keeps_what_is_ready src/traffic/hedge_machine.cpp
    [[    drop_ready();
    give_lease_back();
}

bool]] [[    give_lease_back();
}

bool]])

fault(hedge_that_goes_keeps_its_lease src/traffic/hedge_machine.cpp
    [[    drop_ready();
    give_lease_back();
}

bool]] [[    drop_ready();
}

bool]])

fault(hedge_starts_at_its_deadline src/traffic/hedge_machine.cpp
    [[    if (now >= deadline_)
        return end(phase::closed]] [[    if (now > deadline_)
        return end(phase::closed]])

fault(hedge_is_late_rather_than_cancelled src/traffic/hedge_machine.cpp
    [[    if (is_stopping())
        return end(phase::closed, stop_reason::cancelled, 0, aborted_error());
    if (now]] [[    if (now < deadline_ && is_stopping())
        return end(phase::closed, stop_reason::cancelled, 0, aborted_error());
    if (now]])

fault(hedge_has_no_room_rather_than_is_cancelled src/traffic/hedge_machine.cpp
    [[    if (is_stopping())
        end(phase::closed, stop_reason::cancelled, 0, aborted_error());
    else
]] [[]])

fault(hedge_records_what_failed_with_its_losers src/traffic/hedge_machine.cpp
    [[                if (attempts_[number - 1].is_running)
                    record]] [[                record]])

fault(hedge_keeps_its_lease_in_a_drain src/traffic/hedge_machine.cpp
    [[        drop_ready();
        give_lease_back();
        if (running_ == 0)]] [[        drop_ready();
        if (running_ == 0)]])

fault(hedge_has_no_error_for_a_rejected_value_that_is_gone src/traffic/hedge_machine.cpp
    [[error_ ? error_ : detail::attempt_refused_error(), std]] [[error_, std]])

fault(hedge_loses_what_a_failure_threw src/traffic/hedge_attempts.cpp
    [[    thrown_ = failure.exception();
    return false;]] [[    return false;]])

fault(hedge_does_not_deliver_what_a_failure_threw src/traffic/hedge_machine.cpp
    [[detail::attempt_refused_error(), std::move(thrown_));]] [[detail::attempt_refused_error());]])

fault(hedge_begins_at_its_deadline src/traffic/hedge_machine.cpp
    [[max_attempts() && when < deadline_;]] [[max_attempts() && when <= deadline_;]])

fault(hedge_lets_an_attempt_in_when_it_begins src/traffic/hedge_machine.cpp
    [[one.began = admitted_at_;]] [[one.began = now;]])

fault(hedge_keeps_what_is_ready_after_its_result src/traffic/hedge_machine.cpp
    [[    drop_ready();
    give_lease_back();
    if (watches_deadline()]] [[    give_lease_back();
    if (watches_deadline()]])

fault(hedge_keeps_what_a_success_heeded src/traffic/hedge_attempts.cpp
    [[failure_kind::none, one.heeded, now);]] [[failure_kind::none, pushback(), now);]])

fault(hedge_keeps_what_an_exception_heeded src/traffic/hedge_attempts.cpp
    [[has_answer ? at(number).heeded : pushback()]] [[pushback()]])

fault(hedge_ends_a_drain_with_a_final_failure src/traffic/hedge_attempts.cpp
    [[    if (!*is_wanted && is_stopping()) {]] [[    if (!*is_wanted && stopping_ == stopping::cancelled) {]])

fault(hedge_ends_a_drain_with_its_last_failure src/traffic/hedge_attempts.cpp
    [[!may_begin(next_at_) && !is_stopping()) {]] [[!may_begin(next_at_)) {]])

fault(hedge_takes_the_mark_off_within_another_retry src/traffic/hedge_attempts.cpp
    [[failure.is_permanent() && !common().is_nested;]] [[failure.is_permanent();]])

fault(hedge_does_not_wait_as_long_as_may_be src/traffic/hedge_attempts.cpp
    [[said.delay() > common().pushback_limit]] [[said.delay() >= common().pushback_limit]])

fault(hedge_heeds_the_last_peer_alone src/traffic/hedge_attempts.cpp
    [[not_before_ = std::max(not_before_, saturating_add(now, said.delay()));]]
    [[not_before_ = saturating_add(now, said.delay());]])

fault(hedge_plans_another_attempt_in_a_drain src/traffic/hedge_attempts.cpp
    [[    if (is_stopping())
        return;
    next_at_]] [[    next_at_]])

fault(hedge_prefers_what_an_attempt_heeded src/traffic/hedge_attempts.cpp
    [[return failure.said() ? failure.said() : one.heeded;]] [[return one.heeded ? one.heeded : failure.said();]])

fault(hedge_records_an_attempt_twice src/traffic/hedge_attempts.cpp
    [[observed && !std::exchange(one.is_recorded, true))]] [[observed)]])

fault(hedge_forgets_that_it_has_told_all src/traffic/hedge_attempts.cpp
    [[was_told_ = was_told_ || told;]] [[was_told_ = told;]])

fault(hedge_takes_a_cancellation_back src/traffic/hedge_attempts.cpp
    [[    if (stopping_ == stopping::no)
        stopping_ = stopping::drained;
}

void hedge_machine::begin_by]] [[    stopping_ = stopping::drained;
}

void hedge_machine::begin_by]])

fault(hedge_counts_what_its_caller_has_told src/hedge/hedge_core.cpp
    [[machine_.running() > 0 && !machine_.is_cancelled())]] [[machine_.running() > 0)]])

fault(hedge_has_no_time_for_its_losers src/hedge/hedge_core.cpp
    [[machine_.wants_results() || machine_.measures_successes() ||]] [[machine_.wants_results() ||]])

fault(hedge_takes_a_result_back_for_an_exception src/hedge/hedge_core.cpp
    [[if (!occupancy_.has(ended(number)) || one.outcome == hedge_slot::fate::completed)]]
    [[if (!occupancy_.has(ended(number)))]])

fault(hedge_that_is_abandoned_stays_in_its_slot src/hedge/hedge_core.cpp
    [[        forget_caller();
        return dissolve();]] [[        return dissolve();]])

fault(hedge_that_is_delivered_stays_in_its_slot src/hedge/hedge_core.cpp
    [[    forget_caller();
    if (place_]] [[    if (place_]])

fault(hedge_tells_those_that_have_ended src/hedge/hedge_events.cpp
    [[if (!machine_.is_running(number) || occupancy_.has(ended(number)))]] [[if (!machine_.is_running(number))]])

fault(hedge_tells_again_what_its_caller_has_told src/hedge/hedge_events.cpp
    [[machine_.cancel((type & asio::cancellation_type::terminal) != asio::cancellation_type::none);]]
    [[machine_.cancel(false);]])

fault(hedge_says_nothing_of_what_it_has_sent include/asio_retry/detail/hedge/hedge_slots.hpp
    [[void on_sent() noexcept override { machine_->on_sent(); }]] [[void on_sent() noexcept override {}]])

fault(hedge_of_silent_attempts_has_not_sent include/asio_retry/detail/hedge/hedge_slots.hpp
    [[        machine.on_sent();
]] [[]])

fault(hedge_keeps_what_a_retry_in_it_has_sent src/traffic/hedge_attempts.cpp
    [[marks && marks->sent)]] [[marks && marks->forbidden)]])

fault(hedge_delivered_at_once_abandons_what_hangs src/traffic/hedge_attempts.cpp
    [[    if (!was_too_late())]] [[    if (true)]])

fault(hedge_delivered_at_once_has_losers_that_time_out include/asio_retry/traffic/hedge_machine.hpp
    [[return !wants_results() && reason_ == stop_reason::deadline;]] [[return !wants_results();]])

fault(hedge_delivered_at_once_has_no_time_for_what_hangs src/hedge/hedge_core.cpp
    [[machine_.was_too_late() ? now() : time_point()]] [[time_point()]])

noticed_by(exhaustion_tests)

fault(hedge_stays_when_its_delivery_cannot_be_queued src/hedge/hedge_core.cpp
    [[        post(hedge_turn::delivery);
    } catch (...) { // nobody else knows it any more
        dissolve();]] [[        post(hedge_turn::delivery);
    } catch (...) {]])

fault(hedge_that_cannot_wait_leaves_its_attempt_alone src/hedge/hedge_core.cpp
    [[        machine_.fail(code_of(std::current_exception()), std::current_exception());
        occupancy_.add(hedge_event::called);]] [[        machine_.fail(code_of(std::current_exception()), std::current_exception());]])

fault(attempt_has_no_allocator_when_it_has_moved include/asio_retry/detail/attempt/attempt_handler.hpp
    [[get_allocator() const noexcept { return allocator_; }]] [[get_allocator() const noexcept { return operation_->get_handler_allocator(); }]])

fault(hedge_takes_an_attempt_without_memory_for_a_success src/hedge/hedge_core.cpp
    [[put_failure(one, no_memory_error(), std::make_exception_ptr(std::bad_alloc()));]] [[one.is_success = false;]])

fault(hedge_waits_for_a_notice_that_was_dropped src/hedge/hedge_events.cpp
    [[    if ((events & hedge_event::timer_expired) != hedge_event::nothing)
        is_armed_ = false;
    if ((events & hedge_event::handler_returned)]] [[    if ((events & hedge_event::handler_returned)]])

fault(hedge_waits_for_attempts_that_were_dropped src/hedge/hedge_events.cpp
    [[            on_attempt_over(slot(number));
            machine_.on_dropped(number);
        }]] [[            on_attempt_over(slot(number));
        }]])

fault(hedge_leaves_behind_who_has_surely_not_sent src/traffic/hedge_machine.cpp
    [[        on_sent(); // those that are left behind still may
]] [[        {}
]])
