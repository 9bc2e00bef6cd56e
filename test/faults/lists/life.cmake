# Mistakes in the life of an operation and in who is in. Walks through many orders of events notice them.

noticed_by(tests_of_life)

# --- the next step

fault(life_judges_before_its_limit_is_free src/life/attempt_life.hpp
    [[    if (ended_ != 0)
        return timer_ == timer::limit ? life_step::free_timer : life_step::judge;]] [[    if (ended_ != 0)
        return life_step::judge;]])

fault(life_ends_with_its_timer_armed src/life/attempt_life.hpp
    [[    if (timer_ != timer::none)
        return life_step::free_timer;
]] [[]])

fault(life_ends_without_leaving_its_scope src/life/attempt_life.hpp
    [[    if (linked_)
        return life_step::unlink;
]] [[]])

fault(life_leaves_its_scope_while_attempts_run src/life/attempt_life.hpp
    [[ || (end_ == end::told && running_ != 0)) {]] [[) {]])

fault(life_ends_while_its_handler_runs src/life/attempt_life.hpp
    [[        return returned_ ? life_step::dissolve : life_step::leave;]] [[        return life_step::dissolve;]])

fault(life_delivers_in_the_initiating_function src/life/attempt_life.hpp
    [[    if (is_in_initiation() && running_ == 0)
        return life_step::deliver_later;
]] [[]])

fault(life_delivers_in_a_cancellation src/life/attempt_life.hpp
    [[    if (place_ != place::executor)
        return leave_for_executor();
]] [[]])

fault(life_asks_the_machine_in_a_cancellation src/life/attempt_life.hpp
    [[place_ == place::initiation || place_ == place::cancellation ?]] [[place_ == place::initiation ?]])

fault(life_asks_the_machine_in_the_initiating_function src/life/attempt_life.hpp
    [[place_ == place::initiation || place_ == place::cancellation ?]] [[place_ == place::cancellation ?]])

fault(life_is_destroyed_under_attempts_that_run src/life/attempt_life.hpp
    [[running_ == 0 ? life_step::deliver : life_step::deliver_and_stay;]] [[life_step::deliver;]])

fault(life_rests_although_an_attempt_has_ended src/life/attempt_life.hpp
    [[        ended_ == 0 && end_ == end::open && question_]] [[        end_ == end::open && question_]])

fault(life_is_delivered_with_its_timer_armed src/life/attempt_life.hpp
    [[ && running_ == 0 && timer_ == timer::none;]] [[ && running_ == 0;]])

fault(life_is_delivered_without_leaving_its_scope include/asio_retry/detail/life/attempt_life.hpp
    [[return may_end_here() && !linked_ ? life_step]] [[return may_end_here() ? life_step]])

fault(life_leaves_and_queues_no_turn src/life/attempt_life.hpp
    [[    if (has_executor())
        occupancy.add(life_event::called);
]] [[]])

fault(life_queues_turns_on_an_executor_that_drops src/life/attempt_life.hpp
    [[    if (has_executor())
        occupancy.add(]] [[    if (true)
        occupancy.add(]])

# --- events

fault(life_forgets_the_request_of_a_scope src/life/attempt_life.hpp
    [[        wants_request_ = true;]] [[        wants_request_ = false;]])

fault(life_forgets_that_its_handler_has_returned src/life/attempt_life.hpp
    [[    returned_ = returned_ || any]] [[    returned_ = any]])

fault(life_takes_a_lost_timer_for_one_that_is_due src/life/attempt_life.hpp
    [[        put_in_timer(any(events & life_event::timer_lost));]] [[        put_in_timer(false);]])

fault(life_asks_what_follows_and_forgets_its_timer src/life/attempt_life.hpp
    [[    if (question_ == question::none)
        question_ = question::after_event;]] [[    question_ = question::after_event;]])

fault(life_takes_a_limit_after_its_attempt_for_a_wait src/life/attempt_life.hpp
    [[matters = timer_ != timer::limit || running_ != 0;]] [[matters = true;]])

fault(life_goes_on_waiting_after_its_wait src/life/attempt_life.hpp
    [[matters = timer_ != timer::limit || running_ != 0;]] [[matters = running_ != 0;]])

fault(life_goes_on_without_the_owner_that_it_lost src/life/attempt_life.hpp
    [[        lose_owner();
        lose_executor();]] [[        lose_executor();]])

fault(life_judges_one_of_two_attempts src/life/attempt_life.hpp
    [[    ended_ = (ended & (ended - 1u)) & all;]] [[    ended_ = 0;]])

# --- the results of steps

fault(life_obeys_a_request_and_asks_nothing src/life/attempt_life.hpp
    [[    wants_request_ = false;
    ask();]] [[    wants_request_ = false;]])

fault(life_abandons_an_attempt_whose_timer_is_not_armed src/life/attempt_life.hpp
    [[    if (running_ == 0)
        abandon();]] [[    abandon();]])

fault(life_sees_no_owner_in_an_attempt src/life/attempt_life.hpp
    [[    return running_ != 0 || timer_]] [[    return timer_]])

fault(life_sees_an_owner_in_a_limit src/life/attempt_life.hpp
    [[timer_ >= timer::wait || end_ == end::told]] [[timer_ >= timer::limit || end_ == end::told]])

# --- who is in

fault(life_without_memory_delivers_in_the_initiating_function src/life/attempt_life.hpp
    [[is_in_initiation() && running_ == 0 ? place::last_of_initiation : place::executor;]] [[place::executor;]])

fault(occupant_leaves_without_what_others_left src/life/attempt_life.hpp
    [[    while ((state & ~held) == 0)
]] [[    for (;;)
]])

fault(visitor_leaves_no_event include/asio_retry/detail/life/attempt_life.hpp
    [[? occupied : bits_of(event)));]] [[? occupied : word(0)));]])

noticed_by(tests_of_operation)

fault(attempt_ends_while_another_thread_emits_to_it src/life/attempt_life.hpp
    [[        while ((state & telling) != 0) {]] [[        while (false) {]])

fault(inner_emission_ends_the_outer_one src/life/attempt_life.hpp
    [[    return (state_.fetch_or(telling, std::memory_order_acq_rel) & telling) == 0;]] [[    state_.fetch_or(telling, std::memory_order_acq_rel);
    return true;]])

fault(emission_wakes_nobody_up src/life/attempt_life.hpp
    [[    state_.notify_all();
]] [[]])
