# Mistakes in attempts beside one another.

noticed_by(tests_of_hedge)

# --- the next attempt

fault(hedge_begins_too_many src/hedge/hedge_machine.cpp
    [[return !no_more_ && begun_ < policy_.settings().max_attempts() && when < deadline_;]]
    [[return !no_more_ && begun_ <= policy_.settings().max_attempts() && when < deadline_;]])

fault(hedge_begins_at_its_deadline src/hedge/hedge_machine.cpp
    [[max_attempts() && when < deadline_;]] [[max_attempts() && when <= deadline_;]])

fault(hedge_heeds_the_last_peer_alone src/hedge/hedge_machine.cpp
    [[not_before_ = std::max(not_before_, saturating_add(now, said.delay()));]]
    [[not_before_ = saturating_add(now, said.delay());]])

fault(hedge_goes_on_after_a_refusal src/hedge/hedge_machine.cpp
    [[        observe_refusal({}, error_code(), now);
        no_more_ = true;
]] [[        observe_refusal({}, error_code(), now);
]])

fault(hedge_forgets_an_attempt_that_did_not_begin src/hedge/hedge_machine.cpp
    [[    tell_gates(detail::unbegun(begun_ + 1u, given));
]] [[]])

fault(hedge_makes_an_attempt_ready_twice src/hedge/hedge_machine.cpp
    [[    if (is_ready_) // since another one failed at the same time
        return;
]] [[]])

fault(hedge_begins_what_a_peer_has_forbidden_meanwhile src/hedge/hedge_machine.cpp
    [[    if (no_more_ || next_at_ > now)
        drop_ready();
]] [[]])

# --- the end of an attempt

fault(hedge_lets_two_win src/hedge/hedge_machine.cpp
    [[    hedged_attempt& one = take(number);
    if (phase_ == phase::closed || phase_ == phase::over) {]] [[    hedged_attempt& one = take(number);
    if (phase_ == phase::over) {]])

fault(hedge_beats_those_that_began_later src/hedge/hedge_machine.cpp
    [[began < attempts_[result_ - 1].began]] [[began >= attempts_[result_ - 1].began]])

fault(hedge_calls_a_loser_failed src/hedge/hedge_machine.cpp
    [[    if (phase_ != phase::open || stopping_ == stopping::cancelled) {
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none]]
    [[    if (phase_ != phase::open || stopping_ == stopping::cancelled) {
        end_attempt(number, attempt_end::how::failed, failure_kind::transient]])

fault(hedge_counts_an_attempt_whose_judge_threw src/hedge/hedge_machine.cpp
    [[                                 time_point now) {
    take(number);
    if (phase_ == phase::closed]] [[                                 time_point now) {
    if (phase_ == phase::closed]])

fault(hedge_records_an_attempt_twice src/hedge/hedge_machine.cpp
    [[observed && !std::exchange(one.is_recorded, true))]] [[observed)]])

fault(hedge_does_not_tell_losers src/hedge/hedge_machine.cpp
    [[        has_to_stop_ = has_to_stop_ || !was_told_;]] [[        has_to_stop_ = false;]])

fault(hedge_ends_a_drain_with_its_last_failure src/hedge/hedge_machine.cpp
    [[!may_begin(next_at_) && !is_stopping()) {]] [[!may_begin(next_at_)) {]])

fault(hedge_keeps_what_is_ready_after_its_result src/hedge/hedge_machine.cpp
    [[    drop_ready();
    give_lease_back();
    if (watches_deadline()]] [[    give_lease_back();
    if (watches_deadline()]])

fault(hedge_delivers_before_losers_have_ended src/hedge/hedge_machine.cpp
    [[(phase_ == phase::over || !policy_.settings().deliver_at_once)) {]] [[phase_ == phase::over) {]])

# --- interruptions

fault(hedge_obeys_total_later src/hedge/hedge_machine.cpp
    [[    bool const counts = begun_ <= 1 && failures_ == 0;]] [[    bool const counts = failures_ == 0;]])

fault(hedge_that_was_told_does_not_hear_of_its_scope src/hedge/hedge_machine.cpp
    [[    note_cancelled(now);
    has_to_stop_ = true;]] [[    note_cancelled(now);
    has_to_stop_ = has_to_stop_ || !was_told_;]])

fault(hedge_outlasts_its_deadline_in_a_drain src/hedge/hedge_machine.cpp
    [[        else if (now >= deadline_)
            end]] [[        else if (false)
            end]])

# --- its driver

fault(hedge_ignores_partial src/hedge/hedge_driver.cpp
    [[    if (wish >= cancellation_wish::partial)]] [[    if (wish >= cancellation_wish::terminal)]])

fault(hedge_is_cancelled_and_does_not_ask_what_follows src/hedge/hedge_driver.cpp
    [[    return {.tells = true, .leaves = leaves, .asks = true};]] [[    return {.tells = true, .leaves = leaves};]])

fault(hedge_counts_what_its_caller_has_told src/hedge/hedge_driver.cpp
    [[        if (life_.running() != 0 && !machine_.is_cancelled())]] [[        if (life_.running() != 0)]])

fault(hedge_needs_no_room src/hedge/hedge_driver.cpp
    [[        if (is_scoped && !membership()->has_room())]] [[        if (false)]])

fault(hedge_has_no_time_for_its_losers src/hedge/hedge_driver.cpp
    [[        machine_.wants_results() || machine_.measures_successes() ||]] [[        machine_.wants_results() ||]])

fault(hedge_has_no_time_for_what_hangs src/hedge/hedge_driver.cpp
    [[machine_.was_too_late() || machine_.measures_successes();]] [[machine_.measures_successes();]])

fault(hedge_keeps_the_results_of_losers src/hedge/hedge_driver.cpp
    [[    if (!keeps)
        drop_result(attempt);
]] [[]])

fault(hedge_leaves_its_handler_in_the_slot_of_an_attempt src/hedge/hedge_driver.cpp
    [[    on_attempt_over(attempt);
    if (thrown_by_value_)]] [[    if (thrown_by_value_)]])

fault(hedge_waits_for_an_attempt_that_was_destroyed src/hedge/hedge_driver.cpp
    [[    on_attempt_over(attempt);
    machine_.on_dropped(attempt.number());]] [[    on_attempt_over(attempt);]])

fault(hedge_calls_every_throw_that_of_a_predicate src/hedge/hedge_driver.cpp
    [[            return machine_.on_exception(attempt.number(), error::predicate_threw, std::current_exception(),
                                         now());]] [[            throw;]])

fault(hedge_judges_the_success_of_a_plain_attempt src/hedge/hedge_driver.cpp
    [[    if (!failed && attempt.outcome != attempt_state::fate::succeeded) {]] [[    if (!failed && attempt.outcome == attempt_state::fate::succeeded) {]])

fault(hedge_of_silent_attempts_has_surely_not_sent include/asio_retry/detail/hedge/hedge_operation.hpp
    [[            this->machine().on_sent(one.number());]] [[            static_cast<void>(one);]])

fault(hedge_delivered_at_once_uses_the_handlers_memory include/asio_retry/detail/hedge/hedge_operation.hpp
    [[            if (policy.settings().deliver_at_once)
]] [[            if (false)
]])

noticed_by(exhaustion_tests)

fault(hedge_takes_an_attempt_without_memory_for_a_success src/hedge/hedge_driver.cpp
    [[                put_failure(attempt, no_memory_error(), std::make_exception_ptr(std::bad_alloc()));]] [[                attempt.complete(false);]])

noticed_by(tests_of_operation)

fault(hedge_swallows_what_a_value_throws src/hedge/hedge_driver.cpp
    [[        thrown = std::exchange(thrown_by_value_, nullptr);]] [[        thrown_by_value_ = nullptr;]])

fault(hedge_waits_for_a_value_that_threw include/asio_retry/detail/hedge/hedge_operation.hpp
    [[            } catch (...) { // no result can be made, so the attempt is dropped
                on_attempt_dropped();
]] [[            } catch (...) { // no result can be made, so the attempt is dropped
]])

noticed_by(tests_of_scope)

fault(hedge_spreads_no_end_of_a_wait src/hedge/hedge_driver.cpp
    [[        machine_.begin_by(time_within(request.spread, now(), get_random()));]] [[        machine_.begin_by(now());]])
