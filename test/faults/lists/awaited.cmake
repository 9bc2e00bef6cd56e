# Mistakes in operations of coroutines, which need no handler.

noticed_by(fault_sample)

fault(operation_begins_a_coroutine_that_was_told_to_stop include/asio_retry/detail/operation/attempt_runner.hpp
    [[return !std::exchange(stops_at_begin_, false) && !is_cancelled();]] [[return true;]])

fault(awaiting_forgets_that_its_caller_was_cancelled_before src/operation/await_driver.cpp
    [[        cancel(stack_.state().cancelled());]] [[        static_cast<void>(stack_);]])

fault(awaiting_leaves_its_handler_in_the_callers_slot src/operation/await_driver.cpp
    [[        caller_.clear();]] [[        static_cast<void>(caller_);]])

fault(awaiting_gives_every_attempt_the_state_of_the_first src/operation/await_driver.cpp
    [[            stack_.renew();]] [[            static_cast<void>(stack_);]])

fault(awaiting_keeps_the_state_of_the_caller src/operation/await_driver.cpp
    [[    stack_.give_back();
]] [[]])

noticed_by(tests_of_awaited)

fault(notice_outlives_its_coroutine src/operation/coroutine_notice.hpp
    [[leave_queue(state::abandoned)]] [[leave_queue(state::queued)]])

fault(notice_is_its_coroutines_until_it_arrives src/operation/coroutine_notice.hpp
    [[            if (made->leave_queue(state::idle))
                throw;
            delete made;]] [[            throw;]])

fault(awaiting_stays_on_the_strand_of_its_attempts src/handler/coroutine_stack.cpp
    [[    std::swap(*executor_, *moved_);
    moved_.reset();]] [[    moved_.reset();]])

fault(awaiting_has_attempts_that_no_limit_interrupts src/operation/await_driver.cpp
    [[caller_.is_connected() || machine().limits_attempts()) {]] [[caller_.is_connected()) {]])

fault(awaiting_piles_one_retry_on_the_other src/operation/await_driver.cpp
    [[    if (stack_.has_moved() && stack_mark::find(&stack_)) {]] [[    if (false) {]])

fault(awaiting_interrupts_on_any_executor src/operation/await_driver.cpp
    [[wants_strand_ = context || !executor_home(stack.executor()).is_strand();]] [[wants_strand_ = false;]])

fault(awaiting_leaves_no_time_for_a_join src/operation/await_driver.cpp
    [[    if (!ended_on_ || member_.end_unjoined())
        return;]] [[    return;]])

noticed_by(tests_of_operation)

fault(spawned_attempt_goes_on_elsewhere include/asio_retry/detail/operation/attempt_runner.hpp
    [[            if (!executor_home(co_await asio::this_coro::executor).is_here())
                co_await asio::dispatch(asio::deferred);
]] [[]])
