# Mistakes in operations of coroutines, which need no handler.

noticed_by(fault_sample)

fault(operation_begins_a_coroutine_that_was_told_to_stop include/asio_retry/detail/operation/attempt_runner.hpp
    [[return !std::exchange(stops_at_begin_, false) && !is_cancelled();]] [[return true;]])

fault(awaiting_forgets_that_its_caller_was_cancelled_before include/asio_retry/detail/operation/await_driver.hpp
    [[        cancel(entry_.state().cancelled());]] [[        static_cast<void>(entry_);]])

fault(awaiting_leaves_its_handler_in_the_callers_slot include/asio_retry/detail/operation/await_driver.hpp
    [[        caller_.clear();]] [[        static_cast<void>(caller_);]])

fault(awaiting_gives_every_attempt_the_state_of_the_first include/asio_retry/detail/operation/await_driver.hpp
    [[            entry_.renew();]] [[            static_cast<void>(entry_);]])

fault(awaiting_keeps_the_state_of_the_caller include/asio_retry/detail/operation/await_driver.hpp
    [[    entry_.give_back();
]] [[]])

noticed_by(tests_of_awaited)

fault(notice_outlives_its_coroutine include/asio_retry/detail/operation/coroutine_notice.hpp
    [[exchange(state::queued, state::abandoned)]] [[exchange(state::queued, state::queued)]])

fault(notice_is_its_coroutines_until_it_arrives include/asio_retry/detail/operation/coroutine_notice.hpp
    [[            if (made->unqueue())
                throw;
            delete made;]] [[            throw;]])

fault(awaiting_stays_on_the_strand_of_its_attempts include/asio_retry/detail/handler/coroutine_entry.hpp
    [[            std::swap(key::executor(*entry_), *moved_);
        return std::move(moved_);]] [[            static_cast<void>(key::executor(*entry_));
        return std::move(moved_);]])

fault(awaiting_has_attempts_that_no_limit_interrupts include/asio_retry/detail/operation/await_driver.hpp
    [[caller_.is_connected() || machine().limits_attempts()) {]] [[caller_.is_connected()) {]])

fault(awaiting_piles_one_retry_on_the_other include/asio_retry/detail/operation/await_driver.hpp
    [[    if (entry_.has_moved() && stack_mark::find(&entry_)) {]] [[    if (false) {]])

fault(awaiting_interrupts_on_any_executor include/asio_retry/detail/operation/await_retry.hpp
    [[                              !runs_one_at_a_time(entry.executor(), home);]] [[                              false;]])

fault(awaiting_leaves_no_time_for_a_join include/asio_retry/detail/operation/awaited_presence.hpp
    [[        if (!ended_on_ || member_->end_unjoined())
            return;]] [[        return;]])

noticed_by(tests_of_operation)

fault(spawned_attempt_goes_on_elsewhere include/asio_retry/detail/operation/attempt_runner.hpp
    [[            if (!executor_home(co_await asio::this_coro::executor).is_here())
                co_await asio::dispatch(asio::deferred);
]] [[]])
