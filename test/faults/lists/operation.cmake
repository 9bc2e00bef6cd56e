# Mistakes of the driver, which carries out what a life asks for, and of a retry.

noticed_by(tests_of_life)

# --- the loop

fault(driver_starts_an_attempt_without_its_limit src/operation/driver_loop.hpp
    [[has_timer && !arm(life::timer::limit, next.until))
        return life_.not_armed();]] [[has_timer && !arm(life::timer::limit, next.until))
        life_.not_armed();]])

fault(driver_does_not_ask_after_a_stop src/operation/driver_loop.hpp
    [[        life_.ask();
        break;
    case plan_kind::deliver:]] [[        break;
    case plan_kind::deliver:]])

fault(driver_ends_before_the_notice_of_its_timer src/operation/driver_loop.hpp
    [[    if (life_.armed_for() != life::timer::queued && self().cancel_timer()) {]] [[    if (self().cancel_timer() || true) {]])

fault(driver_ends_before_the_notice_of_its_scope src/operation/driver_loop.hpp
    [[            return leave(); // the notice's turn asks for it again
        life_.unlinked();]] [[            static_cast<void>(0);
        life_.unlinked();]])

fault(driver_without_memory_for_a_turn_does_nothing src/operation/driver_loop.hpp
    [[        life_.go_on_here(life_.occupancy.take_all());
        return true;]] [[        return false;]])

fault(driver_revives_an_operation_on_an_executor_that_drops src/operation/driver_loop.hpp
    [[has_end() && life_.has_executor() && arm(]] [[has_end() && arm(]])

# --- the attempts

fault(driver_forgets_an_attempt_that_ends_while_it_starts src/operation/driver_loop.hpp
    [[            life_.put_in(static_cast<life_event>(mark.ended));]] [[            static_cast<void>(mark);]])

fault(driver_forgets_attempts_that_end_while_it_emits src/operation/driver_loop.hpp
    [[        if (ended != 0)
            occupied_.add(static_cast<life_event>(ended));
]] [[]])

fault(driver_emits_to_an_attempt_that_has_ended src/operation/driver_loop.hpp
    [[        if (!life_.is_running(number) || mark.has(attempt_ended(number)))
            continue;]] [[        if (!life_.is_running(number))
            continue;]])

fault(driver_emits_to_the_first_attempt_alone src/operation/driver_loop.hpp
    [[        if (!life_.is_running(number) || mark.has(attempt_ended(number)))
            continue;]] [[        if (!life_.is_running(number) || mark.has(attempt_ended(number)))
            break;]])

fault(driver_forgets_an_attempt_whose_coroutine_is_lost src/operation/driver_loop.hpp
    [[    life_.occupancy.add(event);
    go_on_quietly();]] [[    go_on_quietly();]])

fault(driver_waits_for_an_attempt_that_was_destroyed src/operation/driver_loop.hpp
    [[            life_.forget(number);
]] [[]])

# --- interruptions

fault(driver_waits_on_although_cancelled src/operation/driver_loop.hpp
    [[    cut_wait_short();
    if (entered]] [[    if (entered]])

fault(driver_waits_on_although_its_scope_asks src/operation/driver_loop.hpp
    [[    if (wish.cuts)
        cut_wait_short();
]] [[]])

fault(driver_cuts_a_time_limit_short src/operation/driver_loop.hpp
    [[    if (life_.armed_for() != life::timer::wait)
        return;
    if (self().end_timer_early()]] [[    if (life_.armed_for() == life::timer::none)
        return;
    if (self().end_timer_early()]])

fault(driver_without_memory_misses_a_request_and_obeys_it src/operation/driver_loop.hpp
    [[        life_.occupancy.take(life_event::scope_noticed);
]] [[]])

# --- turns

fault(driver_stays_when_its_delivery_is_destroyed src/operation/driver_loop.hpp
    [[    case operation_turn::delivery:
        return self().dissolve();]] [[    case operation_turn::delivery:
        return;]])

fault(driver_forgets_with_a_turn_that_its_handler_has_returned src/operation/driver_loop.hpp
    [[    life_event kept = events & life_event::returned;]] [[    life_event kept = life_event::nothing;]])

fault(driver_waits_for_an_owner_that_was_destroyed src/operation/driver_loop.hpp
    [[    life_.lose_owner();
]] [[]])

fault(driver_stays_when_its_handler_has_returned src/operation/driver_loop.hpp
    [[    life_.put_in(life_event::returned);
]] [[]])

# --- the timer

fault(driver_waits_for_a_timer_that_is_not_armed src/operation/driver_loop.hpp
    [[    if (!armed)
        life_.set_timer(life::timer::none);
]] [[]])

noticed_by(exhaustion_tests)

fault(connection_is_lost_without_memory include/asio_retry/detail/operation/connection_race.hpp
    [[                race->fail(boost::asio::error::no_memory);
            }
            if]] [[                throw;
            }
            if]])

fault(operation_without_memory_loses_its_handler include/asio_retry/detail/operation/driver_shell.hpp
    [[        if constexpr (!LeavesHandler)
            throw;]] [[        if constexpr (true)
            throw;]])

fault(operation_stays_when_its_delivery_cannot_be_queued include/asio_retry/detail/operation/driver_shell.hpp
    [[        } catch (...) { // nobody else knows it any more
            this->dissolve();
]] [[        } catch (...) { // nobody else knows it any more
]])

noticed_by(fault_sample)

fault(operation_succeeds_and_stays_in_the_slot_of_its_caller src/operation/driver.cpp
    [[        clear_slot();
        forget_caller();
]] [[        clear_slot();
]])

# --- what Asio and the user's code see

fault(operation_leaves_its_handler_in_the_callers_slot src/operation/driver_loop.hpp
    [[    self().forget_caller();
]] [[]])

fault(operation_obeys_every_total src/operation/driver.cpp
    [[    if (wish >= cancellation_wish::partial)]] [[    if (wish >= cancellation_wish::total)]])

fault(operation_stops_an_attempt_and_does_not_say_that_time_is_up src/operation/driver.cpp
    [[    watch(machine_.on_attempt_limit(expiry()));]] [[]])

fault(operation_hands_on_every_cancellation_as_terminal include/asio_retry/detail/operation/driver.hpp
    [[    void emit(asio::cancellation_type_t type) { signal_.emit(type); }]] [[    void emit(asio::cancellation_type_t type) { signal_.emit(type & asio::cancellation_type::terminal); }]])

fault(operation_with_a_scope_of_its_own_obeys_no_request include/asio_retry/detail/scope/scope_state.hpp
    [[        operation_.machine().watch(*this);]] [[]])

fault(operation_stays_when_its_attempt_is_dropped include/asio_retry/detail/attempt/attempt_handler.hpp
    [[            operation_->on_attempt_dropped();]] [[            static_cast<void>(operation_);]])

noticed_by(tests_of_operation)

fault(operation_leaves_an_attempt_that_takes_no_total src/operation/driver_loop.hpp
    [[wish.leaves ? asio::cancellation_type::terminal : type]] [[type]])

fault(operation_waits_in_a_queue_while_it_is_destroyed src/operation/driver_loop.hpp
    [[        self().leave_queue(); // while]] [[        // while]])

fault(operation_counts_no_limit_after_the_first src/operation/driver.cpp
    [[    watch(machine_.on_attempt_limit(expiry()));]] [[    machine_.on_attempt_limit(expiry());]])

fault(operation_swallows_what_is_thrown_when_it_emits src/operation/driver_loop.hpp
    [[        } catch (...) {
            thrown = std::current_exception();
        }
    }
}]] [[        } catch (...) {
        }
    }
}]])

fault(operation_waits_for_an_attempt_that_threw src/operation/driver_loop.hpp
    [[        keep_exception(attempt, static_cast<life_event>(mark.ended), thrown);]] [[        thrown = std::current_exception();]])

fault(operation_begins_a_wait_although_cancelled src/operation/driver.cpp
    [[    if (delay == duration::zero() || machine_.cancelled())]] [[    if (delay == duration::zero())]])

fault(operation_leaves_what_an_attempt_left_in_its_slot src/operation/driver.cpp
    [[    if (life_.is_interruptible())
        clear_slot();
]] [[]])

fault(operation_completes_an_attempt_that_was_destroyed src/operation/driver.cpp
    [[    if (attempt.outcome == fate::dropped)
        return {.what = plan_kind::abandon};
]] [[]])

fault(operation_stops_an_attempt_that_is_alive src/operation/driver.cpp
    [[        if (limit > reached && watch(limit))]] [[        if (limit < reached && watch(limit))]])

fault(operation_runs_its_hooks_where_it_was_initiated include/asio_retry/detail/operation/driver.hpp
    [[(attempt.outcome == fate::succeeded && !machine_.hears_success());]] [[attempt.outcome == fate::succeeded;]])

# --- attempts that were left behind

fault(operation_frees_memory_under_attempts_that_were_left src/operation/driver.cpp
    [[    if (left_.fetch_or(has_gone, std::memory_order_acq_rel) == 0)
        free();]] [[    left_.fetch_or(has_gone, std::memory_order_acq_rel);
    free();]])

fault(attempt_that_was_left_has_surely_not_sent include/asio_retry/detail/operation/retry_operation.hpp
    [[        this->machine().on_sent(); // it still may
]] [[]])

fault(operation_waits_for_a_value_that_threw include/asio_retry/detail/operation/retry_operation.hpp
    [[                this->end_attempts();
                this->on_attempt_dropped();
]] [[                this->end_attempts();
]])

# --- the shell

fault(a_delivery_elsewhere_keeps_the_context_of_the_waits include/asio_retry/detail/operation/driver_shell.hpp
    [[                this->release_io_work();
]] [[]])

fault(queued_turn_that_has_come_is_still_being_queued include/asio_retry/detail/handler/queued_turn.hpp
    [[            q->object_ = nullptr;]] [[            static_cast<void>(q);]])

fault(driver_stays_when_the_scheduler_is_destroyed src/operation/driver_loop.hpp
    [[        self().forget_waiting_place();
    if (life_.enter(place::cancellation, life_event::timer_lost))
        drop(life_event::timer_lost);]] [[        self().forget_waiting_place();]])

fault(driver_without_memory_ignores_the_end_of_a_wait src/operation/driver_loop.hpp
    [[                           life_.put_in(life_event::timer_due);
]] [[]])

# --- connections

fault(connection_begins_the_next_when_any_fails include/asio_retry/detail/operation/connection_race.hpp
    [[            if (number == begun_ && begun_ != endpoints_.size())]] [[            if (begun_ != endpoints_.size())]])

fault(connection_waits_for_its_lookup include/asio_retry/detail/operation/connection_race.hpp
    [[        if (auto const lookup = lookup_.lock(); lookup && lookup->take())
            --pending_;
]] [[]])

fault(connection_tries_one_family_first include/asio_retry/detail/operation/connection_race.hpp
    [[begin(interleave_families(std::vector<endpoint>(found.begin(), found.end())));]] [[begin(std::vector<endpoint>(found.begin(), found.end()));]])

fault(connection_replaces_the_first_one include/asio_retry/detail/operation/connection_race.hpp
    [[            target_connects_ = false;
        if (is_over_)
            return;]] [[            target_connects_ = false;]])

fault(connection_wins_after_its_socket_was_closed include/asio_retry/detail/operation/connection_race.hpp
    [[        else if (!race->target_.is_open()) {]] [[        else if (false) {]])

fault(connection_does_not_see_the_socket_closed include/asio_retry/detail/operation/connection_race.hpp
    [[race->target_is_open_ && !race->target_.is_open()]] [[!race->target_is_open_ && race->target_.is_open()]])

# --- one operation inside an attempt of another

fault(machine_hears_an_outer_limit_as_a_cancellation src/operation/driver.cpp
    [[        machine_.cancel(now);
    else]] [[        machine_.cancel();
    else]])

noticed_by(tests_of_hedge)

fault(driver_does_not_ask_after_a_start_on_its_executor src/operation/driver_loop.hpp
    [[            life_.put_in(life_.occupancy.take_those(all_attempts));
            life_.ask();
]] [[            life_.put_in(life_.occupancy.take_those(all_attempts));
]])

noticed_by(tests_of_scope)

fault(operation_needs_no_room src/operation/driver.cpp
    [[ || (is_scoped && !membership()->has_room()) ||]] [[ ||]])

fault(operation_waits_on_in_a_drain src/operation/driver.cpp
    [[        machine_.drain();
        return {.cuts = true};]] [[        machine_.drain();
        return {};]])

fault(operation_counts_what_its_caller_has_told src/operation/driver.cpp
    [[        if (life_.running() != 0 && !machine_.tells_attempt())]] [[        if (life_.running() != 0)]])

fault(operation_spreads_no_end_of_a_wait src/operation/driver.cpp
    [[        end_wait_by(time_within(request.spread, now(), get_random()));]] [[        end_wait_by(now());]])

fault(scope_forgets_an_operation_whose_handler_runs include/asio_retry/detail/operation/driver_shell.hpp
    [=[            return deliver_and_stay();
        [[maybe_unused]] auto const presence = part_.take_presence();]=] [[            return deliver_and_stay();
        part_.take_presence();]])
