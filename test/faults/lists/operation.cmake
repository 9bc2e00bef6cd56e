# What may happen to an operation, and what follows: each row of the table in doc/internals/architecture.md.

noticed_by(tests_of_operation)

fault(stage_starting_takes_no_refusal include/asio_retry/detail/operation/operation_state.hpp
    [[            start_refused | step_failed,]] [[            step_failed,]])

fault(stage_attempting_takes_no_end include/asio_retry/detail/operation/operation_state.hpp
    [[            attempt_ended | limit_reached | step_failed | coroutine_lost,]]
    [[            limit_reached | step_failed | coroutine_lost,]])

fault(stage_attempting_takes_no_lost_coroutine include/asio_retry/detail/operation/operation_state.hpp
    [[            attempt_ended | limit_reached | step_failed | coroutine_lost,]]
    [[            attempt_ended | limit_reached | step_failed,]])

fault(stage_judging_takes_no_limit include/asio_retry/detail/operation/operation_state.hpp
    [[            attempt_ended | limit_reached | step_failed,]] [[            attempt_ended | step_failed,]])

fault(stage_waiting_takes_a_limit include/asio_retry/detail/operation/operation_state.hpp
    [[            wait_ended | step_failed, // waiting]] [[            wait_ended | step_failed | limit_reached, // waiting]])

fault(stage_queued_takes_no_end include/asio_retry/detail/operation/operation_state.hpp
    [[            wait_ended | step_failed, // queued]] [[            step_failed, // queued]])

fault(stage_ending_takes_an_attempt include/asio_retry/detail/operation/operation_state.hpp
    [[            limit_reached,
        };]] [[            limit_reached | attempt_ended,
        };]])

fault(stage_takes_nothing_from_a_scope include/asio_retry/detail/operation/operation_state.hpp
    [[ | scope_noticed | owner_dropped;]] [[ | owner_dropped;]])

fault(state_forgets_that_the_limit_was_reached include/asio_retry/detail/operation/operation_state.hpp
    [[        if ((events & limit_reached) != nothing)
            forget_limit();
]] [[]])

fault(state_finishes_what_was_dropped include/asio_retry/detail/operation/operation_state.hpp
    [[            return operation_step::abandon;]] [[            return operation_step::finish;]])

fault(state_goes_on_after_the_end include/asio_retry/detail/operation/operation_state.hpp
    [[            return operation_step::finish;]] [[            return operation_step::leave;]])

fault(state_starts_what_was_refused include/asio_retry/detail/operation/operation_state.hpp
    [[            return operation_step::refuse_start;]] [[            return operation_step::leave;]])

fault(state_goes_on_after_a_failed_step include/asio_retry/detail/operation/operation_state.hpp
    [[            return operation_step::complete_failed;]] [[            return operation_step::conclude_attempt;]])

fault(state_waits_on include/asio_retry/detail/operation/operation_state.hpp
    [[            return operation_step::resume;]] [[            return operation_step::leave;]])

fault(state_prefers_a_wait_to_a_failure include/asio_retry/detail/operation/operation_state.hpp
    [[        if ((events & step_failed) != nothing)]] [[        if ((events & step_failed) != nothing && (events & wait_ended) == nothing)]])

fault(state_does_not_end_an_attempt_whose_coroutine_is_lost include/asio_retry/detail/operation/operation_state.hpp
    [[        if ((events & (attempt_ended | coroutine_lost)) != nothing)]] [[        if ((events & attempt_ended) != nothing)]])

fault(state_goes_on_attempting include/asio_retry/detail/operation/operation_state.hpp
    [[            begin_judging();
]] [[            return operation_step::conclude_attempt;
]])

fault(state_concludes_an_attempt_at_its_limit include/asio_retry/detail/operation/operation_state.hpp
    [[        return is(operation_stage::judging) ? operation_step::conclude_attempt : operation_step::leave;]]
    [[        return operation_step::conclude_attempt;]])

fault(state_loses_nothing_while_it_judges include/asio_retry/detail/operation/operation_state.hpp
    [[ || is(operation_stage::judging);]] [[;]])

fault(state_attempts_while_it_waits include/asio_retry/detail/operation/operation_state.hpp
    [[    void begin_wait() noexcept { stage_ = operation_stage::waiting; }]]
    [[    void begin_wait() noexcept { stage_ = operation_stage::queued; }]])

fault(state_completes_what_it_abandons include/asio_retry/detail/operation/operation_state.hpp
    [[        abandoned_ = true;
]] [[]])

fault(state_takes_the_place_of_the_occupant include/asio_retry/detail/operation/operation_state.hpp
    [[        if (entered)
            place_ = where;]] [[        place_ = where;]])

fault(state_comes_after_an_attempt_anywhere include/asio_retry/detail/operation/operation_state.hpp
    [[        if (entered)
            place_ = place::executor;]] [[        if (!entered)
            place_ = place::executor;]])

fault(state_lets_only_scopes_interrupt include/asio_retry/detail/operation/operation_state.hpp
    [[return interrupter_ >= interrupter::limit;]] [[return interrupter_ > interrupter::limit;]])

fault(state_lets_a_caller_interrupt_anywhere include/asio_retry/detail/operation/operation_state.hpp
    [[return interrupter_ >= interrupter::limit;]] [[return interrupter_ >= interrupter::caller;]])

fault(no_turn_is_in_the_handlers_memory include/asio_retry/detail/handler/handler_operation.hpp
    [[    static constexpr bool has_memory_of_its_own =
]] [[    static constexpr bool has_memory_of_its_own = false &&
]])

fault(operation_takes_an_empty_executor include/asio_retry/detail/operation/initiate_retry.hpp
    [[        if constexpr (requires { source.executor; })]] [[        if constexpr (false)]])

fault(queued_turn_that_has_come_is_still_being_queued include/asio_retry/detail/handler/queued_turn.hpp
    [[            q->object_ = nullptr;]] [[            static_cast<void>(q);]])

fault(queueing_knows_the_innermost_alone include/asio_retry/detail/handler/queued_turn.hpp
    [[        while (q && q->object_ != object)
            q = q->outer_;
        return q;]] [[        return q && q->object_ == object ? q : nullptr;]])

fault(operation_loses_what_a_value_throws_that_has_to_be_made include/asio_retry/detail/operation/attempt_runner.hpp
    [[            return std::current_exception();]] [[            return std::make_exception_ptr(1);]])

fault(hedge_swallows_what_a_value_throws src/hedge/hedge_core.cpp
    [[            thrown_by_value_ = std::current_exception();]] [[]])

noticed_by(tests_of_awaited)

fault(awaiting_forgets_that_its_caller_was_cancelled_before include/asio_retry/detail/operation/awaited_core.hpp
    [[            note(entry.state().cancelled());]] [[            static_cast<void>(entry);]])

fault(awaiting_has_attempts_that_throw_at_no_cancellation include/asio_retry/detail/handler/coroutine_entry.hpp
    [[        key::throws_if_cancelled(*entry_) = true;]] [[]])

fault(operation_stays_when_its_queued_delivery_is_dropped src/operation/operation_events.cpp
    [[    case operation_turn::delivery:
        return dissolve();]] [[    case operation_turn::delivery:
        return;]])

fault(a_delivery_elsewhere_keeps_the_context_of_the_waits include/asio_retry/detail/operation/turning_operation.hpp
    [[                this->release_io_work();]] [[]])

fault(awaiting_gives_back_what_it_has_not_taken include/asio_retry/detail/handler/coroutine_entry.hpp
    [[        if (!std::exchange(has_taken_over_, false))
            return;
]] [[]])

fault(awaited_operation_without_memory_loses_its_coroutine include/asio_retry/detail/operation/turning_operation.hpp
    [[        if constexpr (!LeavesHandler)]] [[        if constexpr (true)]])

fault(awaited_retry_without_memory_elsewhere_loses_its_coroutine include/asio_retry/detail/operation/retry_operation.hpp
    [[        if constexpr (is_erased<Callable>) { //]] [[        if constexpr (false) { //]])

noticed_by(exhaustion_tests)

fault(hooks_are_not_told_of_an_end_before_the_first_attempt include/asio_retry/detail/attempt/observation_at_exit.hpp
    [[    ~observation_at_exit() { machine_]] [[    ~observation_at_exit() { if (!std::uncaught_exceptions()) machine_]])

fault(report_that_has_no_room_keeps_an_operation_before include/asio_retry/with_report.hpp
    [[        operation.recorder_.clear();
        inner::prepare(operation.operation_, machine);
        operation.recorder_.make_room();]] [[        inner::prepare(operation.operation_, machine);
        operation.recorder_.make_room();
        operation.recorder_.clear();]])

fault(operation_stays_when_its_delivery_cannot_be_queued src/operation/operation_core.cpp
    [[        post(operation_turn::delivery);
    } catch (...) { // nobody else knows it any more
        dissolve();]] [[        post(operation_turn::delivery);
    } catch (...) {]])
