# Mistakes in an operation: its forms, its life, its driver, coroutines and tickers.

# --- a life and its driver, where walks through many orders of events notice them

noticed_by(tests_of_life)

fault(life_queues_turns_on_an_executor_that_drops 25 src/life/attempt_life.hpp
    [[if (has_executor())]] [[if (true)]])

fault(life_takes_a_limit_after_its_attempt_for_a_wait 12 src/life/attempt_life.hpp
    [[matters = timer_ != timer::limit || running_ != 0]] [[matters = true]])

fault(occupant_leaves_without_what_others_left 15 src/life/attempt_life.hpp
    [[while ((state & ~held) == 0)]] [[for (;;)]])

fault(driver_waits_on_although_cancelled 13 src/operation/driver_loop.hpp
    [[cut_wait_short();
    if (entered]] [[if (entered]])

fault(driver_stays_when_its_delivery_is_destroyed 25 src/operation/driver_loop.hpp
    [[case operation_turn::delivery:
        return self().dissolve();]] [[case operation_turn::delivery:
        return;]])

# --- its forms

noticed_by(tests_of_attempt)

fault(fail_if_takes_a_failure_of_no_kind_for_one
    judgement.is_no_failure_unless_something_is_said include/asio_retry/fail_if.hpp
    [[judged.failed && judged.what.kind != failure_kind::none]] [[judged.failed]])

fault(disposition_of_the_last_failure_is_lost_in_a_wait 72 include/asio_retry/detail/attempt/completion.hpp
    [[if (kept_ && disposition_access]] [[if (false && disposition_access]])

fault(wrapper_forgets_that_its_lambda_had_no_name 73 include/asio_retry/detail/attempt/operation_form.hpp
    [[(is_temporary<Given> || ...)]] [[(is_temporary<Given> && ...)]])

fault(hooks_at_the_end_throw_unheard 53 src/policy/narrator_events.cpp
    [[tell_all(observers, &machine_observer::on_hook_exception, std::current_exception());]] [[]])

# --- cancellation

noticed_by(fault_sample)

fault(operation_succeeds_and_stays_in_the_slot_of_its_caller 18 src/operation/driver.cpp
    [[clear_slot();
        forget_caller();]] [[clear_slot();]])

fault(operation_stops_an_attempt_and_does_not_say_that_time_is_up 38 src/operation/driver.cpp
    [[watch(machine_.on_attempt_limit(expiry()));]] [[]])

fault(awaiting_gives_every_attempt_the_state_of_the_first 34 src/operation/await_driver.cpp
    [[stack_.renew();]] [[static_cast<void>(stack_);]])

noticed_by(tests_of_operation)

fault(operation_begins_a_wait_although_cancelled 15 src/operation/driver.cpp
    [[delay == duration::zero() || machine_.cancelled()]] [[delay == duration::zero()]])

fault(attempt_ends_while_another_thread_emits_to_it 35 src/life/attempt_life.hpp
    [[while ((state & telling) != 0)]] [[while (false)]])

fault(machine_hears_an_outer_limit_as_a_cancellation 74 src/operation/driver.cpp
    [[machine_.cancel(now);
    else]] [[machine_.cancel();
    else]])

# --- executors and lifetimes

fault(executor_may_be_empty 40 include/asio_retry/detail/handler/operation_executors.hpp
    [[!static_cast<bool>(executor)]] [[false]])

fault(operation_waits_in_a_queue_while_it_is_destroyed 25 src/operation/driver_loop.hpp
    [[self().leave_queue(); // while]] [[// while]])

fault(operation_runs_its_hooks_where_it_was_initiated 21 include/asio_retry/detail/operation/driver.hpp
    [[fate::succeeded && !machine_.hears_success()]] [[fate::succeeded]])

fault(operation_waits_for_a_value_that_threw 59 include/asio_retry/detail/operation/retry_operation.hpp
    [[this->end_attempts();
                this->on_attempt_dropped();]] [[this->end_attempts();]])

fault(operation_leaves_an_attempt_that_takes_no_total 57 src/operation/driver_loop.hpp
    [[wish.leaves ? asio::cancellation_type::terminal : type]] [[type]])

fault(operation_frees_memory_under_attempts_that_were_left 57 src/operation/driver.cpp
    [[if (left_.fetch_or(has_gone, std::memory_order_acq_rel) == 0)]]
    [[left_.fetch_or(has_gone, std::memory_order_acq_rel);]])

noticed_by(exhaustion_tests)

fault(operation_without_memory_loses_its_handler 59 include/asio_retry/detail/operation/driver_shell.hpp
    [[if constexpr (!LeavesHandler)]] [[if constexpr (true)]])

# --- connections

noticed_by(tests_of_operation)

fault(connection_begins_the_next_when_any_fails 66 include/asio_retry/detail/operation/connection_race.hpp
    [[number == begun_ && begun_ != endpoints_.size()]] [[begun_ != endpoints_.size()]])

fault(connection_waits_for_its_lookup 66 include/asio_retry/detail/operation/connection_race.hpp
    [[lookup && lookup->take()]] [[false]])

# --- coroutines

fault(awaiting_stays_on_the_strand_of_its_attempts 46 src/handler/coroutine_stack.cpp
    [[std::swap(*executor_, *moved_);
    moved_.reset();]] [[moved_.reset();]])

fault(awaiting_piles_one_retry_on_the_other 5 src/operation/await_driver.cpp
    [[stack_.has_moved() && stack_mark::find(&stack_)]] [[false]])

# --- tickers

noticed_by(tests_of_ticker)

fault(ticker_loses_its_first_tick F10 src/ticker/ticker_state.cpp
    [[if (wait.is_first_tick_)]] [[if (!wait.is_first_tick_)]])
