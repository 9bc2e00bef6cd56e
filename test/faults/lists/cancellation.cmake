# fault(name file [[text]] [[replacement]]): a mistake in the handling of cancellation that somebody might make.

noticed_by(fault_sample)

# --- the machine

fault(machine_decides_on_a_cancelled_attempt src/policy/retry_machine.cpp
    [[    if (is_cancelled)
        return give_up]] [[    if (is_cancelled && !expired)
        return give_up]])

fault(machine_forgets_the_failure_it_reports src/policy/retry_machine.cpp
    [[return give_up(stop_reason::cancelled, v, aborted_error(), now);]]
    [[return give_up(stop_reason::cancelled, verdict::failure(aborted_error()), aborted_error(), now);]])

fault(machine_delivers_the_last_error_when_cancelled src/policy/retry_machine.cpp
    [[return give_up(stop_reason::cancelled, v, aborted_error(), now);]]
    [[return give_up(stop_reason::cancelled, v, error_code(), now);]])

fault(machine_starts_although_cancelled include/asio_retry/retry_machine.hpp
    [[start_clock(now)) && !cancelled() &&]] [[start_clock(now)) &&]])

fault(machine_makes_an_attempt_after_a_cancelled_wait src/policy/retry_machine.cpp
    [[    began_ = now;
    if (cancelled())
        return end_without_attempt(stop_reason::cancelled, aborted_error(), now);
    if (now > deadline_]] [[    began_ = now;
    if (now > deadline_]])

fault(machine_gives_another_reason_for_a_cancelled_wait src/policy/retry_machine.cpp
    [[        return end_without_attempt(stop_reason::cancelled, aborted_error(), now);
    if (now > deadline_]] [[        return end_without_attempt(stop_reason::attempts, aborted_error(), now);
    if (now > deadline_]])

fault(machine_tells_of_a_retry_although_cancelled src/policy/retry_machine.cpp
    [[    if (cancelled())
        return stop_reason::cancelled;
    if (is_told_ && !take_lease]] [[    if (is_told_ && !take_lease]])

fault(machine_does_not_look_after_on_retry src/policy/retry_machine.cpp
    [[    if (cancelled())
        return stop_reason::cancelled;
    if (is_told_)
        tell_retry]] [[    if (is_told_)
        tell_retry]])

fault(machine_gives_up_twice src/policy/retry_machine.cpp
    [[        call_on_give_up(failure, now, reason);]] [[        call_on_give_up(failure, now, reason), call_on_give_up(failure, now, reason);]])

fault(policy_does_not_allow_total src/policy/retry_policy.cpp
    [[s.allow_total_cancellation = true;]] [[s.allow_total_cancellation = false;]])

fault(machine_loses_its_latch include/asio_retry/retry_machine.hpp
    [[void cancel() noexcept { stopping_ = stopping::cancelled; }]] [[void cancel() noexcept {}]])

fault(machine_always_obeys_total include/asio_retry/retry_machine.hpp
    [[return failures_ == 0 || policy_]] [[return failures_ < 100 || policy_]])

# --- the scheduler

fault(scheduler_leaves_its_timer_armed src/time/scheduled_waits.hpp
    [[            timer_.disarm();
        else if (waits_.size() == few)]] [[            return;
        else if (waits_.size() == few)]])

fault(scheduler_leaves_a_cancelled_wait src/time/scheduled_waits.hpp
    [[            return false;
        take_back(node);
        return true;]] [[            return false;
        return true;]])

fault(scheduler_keeps_its_waits_at_shutdown src/time/scheduled_waits.hpp
    [[            node->on_shutdown();]] [[            static_cast<void>(node);]])

# --- the scope

fault(scope_does_not_tell_its_members src/scope/scope_state.cpp
    [[            tell(*work.members[i]);]] [[            work.members[i]->is_being_told_ = false;]])

fault(scope_does_not_tell_its_children src/scope/scope_state.cpp
    [[    in.to_ask.append(children_);
]] [[]])

fault(scope_forgets_that_it_is_cancelled src/scope/scope_state.cpp
    [[standing_.store(std::max(standing_.load(), request.what), std::memory_order_release);]]
    [[static_cast<void>(standing_);]])

fault(scope_counts_what_has_ended src/scope/scope_state.cpp
    [[        scope->uncount(room);
        if]] [[        scope->uncount(scope == this ? room : scope_room::none);
        if]])

fault(operation_does_not_ask_its_scope include/asio_retry/detail/operation/operation_membership.hpp
    [[        operation_.machine().watch(*this);
]] [[]])

# --- the operation

fault(operation_does_not_clear_the_slot src/operation/operation_core.cpp
    [[    forget_caller();
]] [[]])

fault(operation_does_not_tell_its_attempt src/operation/operation_events.cpp
    [[        stop_attempt(type);
    else]] [[        static_cast<void>(type);
    else]])

fault(operation_tells_everything_as_terminal include/asio_retry/detail/operation/operation_core.hpp
    [[signal_.emit(type);]] [[signal_.emit(type & asio::cancellation_type::terminal);]])

fault(operation_waits_on_although_cancelled src/operation/operation_core.cpp
    [[    if (!state_.is(operation_stage::waiting))
        return;]] [[    if (!state_.is(operation_stage::queued))
        return;]])

fault(operation_resumes_inside_emit src/operation/operation_core.cpp
    [[        return;
    state_.skip_wait();
]] [[        return;
    state_.skip_wait();
    state_.go_to_executor();
    return state_.occupancy.add(wait_ended);
]])

fault(operation_ignores_partial src/operation/operation_events.cpp
    [[constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;]]
    [[constexpr auto stopping = asio::cancellation_type::terminal;]])

fault(operation_obeys_every_total src/operation/operation_events.cpp
    [[constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;]]
    [[constexpr auto stopping = asio::cancellation_type::all;]])

fault(operation_leaves_the_limit_armed src/operation/operation_core.cpp
    [[    if (!disarm_limit())
        return leave();]] [[    if (false)
        return leave();]])

fault(operation_does_not_count_a_limit src/operation/operation_events.cpp
    [[    watch_limit(machine_.on_attempt_limit(reached));
]] [[]])

fault(operation_forgets_the_limits_after_the_first src/operation/operation_events.cpp
    [[    watch_limit(machine_.on_attempt_limit(reached));]] [[    machine_.on_attempt_limit(reached);]])

fault(awaiting_forgets_the_limits_after_the_first include/asio_retry/detail/operation/awaited_core.hpp
    [[        watch_limit(machine_.on_attempt_limit(reached));]] [[        machine_.on_attempt_limit(reached);]])

fault(machine_tells_of_no_limit_after_the_first src/policy/machine_times.cpp
    [[    return first_limit(began_, saturating_add(reached, duration(1)));]] [[    return time_point::max();]])

fault(machine_tells_of_the_same_limit_again src/policy/machine_times.cpp
    [[    return first_limit(began_, saturating_add(reached, duration(1)));]] [[    return first_limit(began_, reached);]])

fault(machine_tells_of_one_deadline src/policy/machine_times.cpp
    [[    if (deadline_ < earliest) { // of which]] [[    if (false) { // of which]])

fault(scope_is_cancelled_once src/scope/scope_state.cpp
    [[!again && has_heard(what)]] [[has_heard(what)]])

fault(scope_goes_and_tells_again include/asio_retry/retry_scope.hpp
    [[            state_->request(detail::scope_request::cancel);]] [[            state_->request(detail::scope_request::cancel, true);]])

fault(drain_that_tries_again_tells_all_again src/scope/scope_join.cpp
    [[scope->request(scope_request::cancel, is_first, {}, scope_tree::steps_of_turn);]] [[scope->request(scope_request::cancel, true);]])

fault(drain_tells_only_who_was_not_told src/scope/scope_join.cpp
    [[scope->request(scope_request::cancel, is_first, {}, scope_tree::steps_of_turn);]] [[scope->request(scope_request::cancel);]])

fault(operation_begins_a_coroutine_that_was_told_to_stop include/asio_retry/detail/operation/attempt_runner.hpp
    [[return !std::exchange(stops_at_begin_, false) && !is_cancelled();]] [[return true;]])

fault(operation_completes_twice include/asio_retry/detail/operation/operation_shell.hpp
    [[        detail::unpack(take_handler(), std::move(result), places_of<arguments>);]] [[        Handler handler = take_handler();
        if constexpr (std::is_copy_constructible_v<Handler>)
            std::apply(Handler(handler), arguments(result));
        std::apply(std::move(handler), std::move(result));]])

fault(operation_is_not_destroyed include/asio_retry/detail/handler/operation_block.hpp
    [[            ~on_exit() { operation->~Operation(); }]] [[            ~on_exit() {}]])

fault(operation_stays_when_a_value_throws_as_it_is_reported include/asio_retry/detail/operation/attempt_runner.hpp
    [[                        runner->on_dropped();
]] [[]])

fault(operation_stays_when_its_attempt_is_dropped include/asio_retry/detail/attempt/attempt_handler.hpp
    [[            operation_->on_attempt_dropped();]] [[            static_cast<void>(operation_);]])

fault(operation_keeps_the_error_of_the_attempt include/asio_retry/detail/attempt/completion.hpp
    [[if (action.error || action.thrown)]] [[if (action.thrown)]])

fault(operation_loses_the_coroutine_of_an_attempt include/asio_retry/detail/operation/attempt_runner.hpp
    [[                runner_->on_dropped();]] [[                static_cast<void>(runner_);]])

# --- the operation that a coroutine awaits directly

fault(awaiting_does_not_listen include/asio_retry/detail/operation/slot_listener.hpp
    [[        if (is_connected())
            slot_.template emplace<emitted>(this);]] [[]])

fault(awaiting_leaves_its_handler_in_the_slot include/asio_retry/detail/operation/slot_listener.hpp
    [[        if (listens_)
            slot_.clear();]] [[]])

fault(awaiting_forgets_what_came_before include/asio_retry/detail/operation/awaited_core.hpp
    [[            note(entry.state().cancelled());]] [[            static_cast<void>(entry);]])

fault(awaiting_does_not_tell_its_attempt include/asio_retry/detail/operation/awaited_core.hpp
    [[        if (is_attempting_)
            signal_attempt(type);
        else]] [[        if (!is_attempting_)]])

fault(awaiting_gives_every_attempt_the_state_of_the_first include/asio_retry/detail/operation/awaited_core.hpp
    [[        entry_.renew();]] [[        if (machine_.current_attempt().number == 1)
            entry_.renew();]])

fault(awaiting_lets_the_end_of_an_attempt_throw include/asio_retry/detail/operation/awaited_core.hpp
    [[        entry_.let_nothing_throw();
        if (!is_home()]] [[        if (!is_home()]])

fault(awaiting_keeps_the_state_of_the_caller include/asio_retry/detail/operation/awaited_core.hpp
    [[            entry_.give_back();]] [[            static_cast<void>(entry_);]])

fault(awaiting_does_not_say_why_its_attempt_is_told include/asio_retry/detail/operation/awaited_core.hpp
    [[        watch_limit(machine_.on_attempt_limit(reached));
]] [[]])

fault(awaiting_has_no_limits include/asio_retry/detail/operation/awaited_core.hpp
    [[if (limit == (time_point::max)() || limit_.arm(]] [[if (limit == limit || limit_.arm(]])

fault(limit_of_a_coroutine_is_not_taken_back include/asio_retry/detail/operation/coroutine_limit.hpp
    [[        if (armed_in_ && armed_in_->cancel(*this))
            armed_in_ = nullptr;
        return !armed_in_;]] [[        return true;]])

fault(virtual_time_has_several_threads src/time/retry_scheduler.cpp
    [[ || impl_->has_virtual_time]] [[]])

fault(awaiting_ignores_partial include/asio_retry/detail/operation/awaited_core.hpp
    [[constexpr auto stopping = asio::cancellation_type::terminal | asio::cancellation_type::partial;]]
    [[constexpr auto stopping = asio::cancellation_type::terminal;]])

fault(awaiting_obeys_every_total include/asio_retry/detail/operation/awaited_core.hpp
    [[machine_.cancel_total();]] [[(machine_.cancel(), true);]])

# --- what the unit tests of awaited operations notice

noticed_by(tests_of_awaited)

fault(coroutine_of_the_attempts_ends_when_cancelled include/asio_retry/detail/operation/attempt_runner.hpp
    [[            co_await asio::this_coro::throw_if_cancelled(false);
]] [[]])

fault(awaiting_waits_on_although_cancelled include/asio_retry/detail/operation/coroutine_wait.hpp
    [[        if (scheduler_->cancel(*this))
            resume_later();]] [[        static_cast<void>(scheduler_);]])

fault(awaiting_goes_on_inside_emit include/asio_retry/detail/operation/awaited_core.hpp
    [[        if (!is_home() || signal_.is_telling())]] [[        if (!is_home())]])

fault(completion_waits_for_nobody_who_tells include/asio_retry/detail/operation/occupancy.hpp
    [[            while ((state & telling) != 0) {]] [[            while (false) {]])

fault(awaiting_goes_on_elsewhere include/asio_retry/detail/operation/awaited_core.hpp
    [[        if (!is_home() || signal_.is_telling())]] [[        if (signal_.is_telling())]])

fault(awaiting_goes_on_before_the_notice_of_its_limit include/asio_retry/detail/operation/awaited_core.hpp
    [[        return limit_.disarm();]] [[        limit_.disarm();
        return true;]])

fault(awaiting_interrupts_on_any_executor include/asio_retry/detail/operation/await_retry.hpp
    [[!runs_one_at_a_time(entry.executor(), home);]] [[false;]])

fault(awaiting_moves_before_it_can_begin include/asio_retry/detail/operation/await_retry.hpp
    [[    awaited_retry<Callable, executor_type, typename Source::waits_on> retry(]] [[    if (wants_strand)
        move_to_strand(entry);
    awaited_retry<Callable, executor_type, typename Source::waits_on> retry(]])

fault(awaiting_stays_on_the_strand_of_its_attempts include/asio_retry/detail/handler/coroutine_entry.hpp
    [[            std::swap(key::executor(*entry_), *moved_);
        return std::move(moved_);]] [[            static_cast<void>(key::executor(*entry_));
        return std::move(moved_);]])

fault(awaiting_piles_one_retry_on_the_other include/asio_retry/detail/operation/awaited_core.hpp
    [[        if (entry_.has_moved() && pause_ != pause::rising && wait_.stands_where_it_entered())]]
    [[        if (pause_ == pause::rising)]])

fault(awaiting_in_a_scope_goes_on_before_the_notice include/asio_retry/detail/operation/awaited_core.hpp
    [[            if (!membership_.leave())
                return pause_for(pause::leaving);
]] [[            membership_.leave();
]])

fault(awaiting_ends_a_drain_like_a_cancellation include/asio_retry/detail/operation/awaited_core.hpp
    [[        if (request != scope_request::cancel)
            return wait_.cut_short();
]] [[]])

fault(awaiting_does_not_count_what_its_scope_stops include/asio_retry/detail/operation/awaited_core.hpp
    [[            membership_.count_stopped_attempt();]] [[            static_cast<void>(membership_);]])

fault(awaiting_needs_no_room include/asio_retry/detail/operation/awaited_core.hpp
    [[has_no_room = !membership_.has_room() &&]] [[has_no_room = false &&]])

fault(awaiting_leaves_time_for_a_join_to_the_last_alone src/scope/scope_state.cpp
    [[        if (!scope->joins_.empty())
            return false;]] [[        if (!scope->joins_.empty() && scope->pending_ == 1)
            return false;]])

fault(awaiting_leaves_no_time_for_a_join include/asio_retry/detail/operation/coroutine_membership.hpp
    [[        if (!ended_on_ || presence_->end_unjoined())
            return;]] [[        return;]])

fault(awaiting_has_no_work_on_the_context_of_its_scope include/asio_retry/detail/operation/awaited_context.hpp
    [[        if (&get(own, home) != &home.context_of(own))]] [[        if (&get(own, home) == nullptr)]])

fault(awaiting_knows_no_strand include/asio_retry/detail/operation/awaited_context.hpp
    [[        return executor_home(executor).is_strand();]] [[        return false;]])

fault(notice_outlives_its_coroutine include/asio_retry/detail/operation/coroutine_notice.hpp
    [[exchange(state::queued, state::abandoned)]] [[exchange(state::queued, state::queued)]])

fault(notice_is_its_coroutines_until_it_arrives include/asio_retry/detail/operation/coroutine_notice.hpp
    [[            if (made->unqueue())
                throw;
            delete made;]] [[            throw;]])

fault(limit_of_a_coroutine_is_lost_without_a_word include/asio_retry/detail/operation/coroutine_limit.hpp
    [[    void on_shutdown() noexcept override { on_notice_lost(); }]]
    [[    void on_shutdown() noexcept override { armed_in_ = nullptr; }]])

fault(limit_of_an_operation_is_lost_without_a_word src/operation/operation_events.cpp
    [[        on_turn_dropped(operation_turn::limit_notice);]] [[        state_.forget_limit();]])

fault(awaiting_ends_without_giving_back_where_a_value_throws include/asio_retry/detail/operation/awaited_retry.hpp
    [[            thrown_ = std::current_exception();]] [[            std::rethrow_exception(std::current_exception());]])

fault(context_of_one_thread_has_several src/time/one_thread.hpp
    [[hint == 1 || ]] [[]])

fault(context_without_locks_has_several_threads src/time/one_thread.hpp
    [[ || !BOOST_ASIO_CONCURRENCY_HINT_IS_LOCKING(SCHEDULER, hint);]] [[;]])

fault(spawned_attempt_goes_on_elsewhere include/asio_retry/detail/operation/attempt_runner.hpp
    [[            if (!executor_home(co_await asio::this_coro::executor).is_here())
                co_await asio::dispatch(asio::deferred);
]] [[]])

fault(awaiting_throws_for_an_ignored_total include/asio_retry/detail/handler/coroutine_entry.hpp
    [[std::exchange(key::throws_if_cancelled(*entry_), false);]] [[key::throws_if_cancelled(*entry_);]])

fault(scope_asks_only_itself_whether_a_join_waits src/scope/scope_state.cpp
    [[    for (scope_state* scope = this; scope; scope = scope->parent_)
        if (!scope->joins_.empty())
            return false;]] [[    if (!joins_.empty())
        return false;]])

fault(awaiting_counts_what_its_caller_has_told include/asio_retry/detail/operation/awaited_core.hpp
    [[if (is_attempting_ && !machine_.tells_attempt())]] [[if (is_attempting_)]])

fault(awaiting_does_not_know_that_its_scope_tells_it include/asio_retry/detail/operation/coroutine_membership.hpp
    [[bool tells_attempt() const noexcept override { return scope().cancelled(); }]]
    [[bool tells_attempt() const noexcept override { return false; }]])

fault(awaiting_swallows_what_is_thrown_when_it_tells include/asio_retry/detail/operation/attempt_signal.hpp
    [[        if (thrown)
            std::rethrow_exception(thrown);]] [[        static_cast<void>(thrown);]])

fault(operation_begins_a_wait_although_cancelled src/operation/operation_core.cpp
    [[if (delay == duration::zero() || machine_.cancelled()) {]] [[if (delay == duration::zero()) {]])

fault(operation_leaves_what_an_attempt_left_in_its_slot src/operation/operation_core.cpp
    [[    state_.begin_judging();
    clear_attempt();
]] [[    state_.begin_judging();
]])

fault(operation_leaves_what_an_attempt_left_that_ended_when_told src/operation/operation_events.cpp
    [[    if (was_attempting && state_.is(operation_stage::judging))
        clear_attempt();
]] [[    static_cast<void>(was_attempting);
]])

fault(operation_times_out_what_has_ended src/operation/operation_events.cpp
    [[if ((events & limit_reached) != nothing && state_.is(operation_stage::attempting)) // or it came too late]]
    [[if ((events & limit_reached) != nothing)]])

# --- attempts that are left behind

fault(nobody_is_left_behind src/operation/detached_attempt.cpp
    [[    if (change(state::left))]] [[    if (false)]])

fault(an_attempt_that_was_left_behind_counts include/asio_retry/detail/operation/detached_attempt.hpp
    [[        if (is_wanted)
            tell();]] [[        tell();
        if (is_wanted) {}]])

fault(an_attempt_that_was_left_behind_speaks src/operation/detached_attempt.cpp
    [[    if (!state_.compare_exchange_strong(from, state::speaking, std::memory_order_acq_rel))
        return;]] [[    (void)from;]])

fault(a_detached_attempt_says_nothing src/operation/detached_attempt.cpp
    [[    say([this] { said_as_.mark_sent(); });]] [[]])

fault(what_is_left_behind_is_forgotten src/operation/operation_core.cpp
    [[    if (left_.fetch_or(has_gone, std::memory_order_acq_rel) == 0)]] [[    if (left_.fetch_or(has_gone, std::memory_order_acq_rel) != has_gone)]])

fault(the_last_one_leaves_the_memory src/operation/operation_core.cpp
    [[    if (left_.fetch_sub(1, std::memory_order_acq_rel) == (has_gone | 1))]] [[    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 0)]])

fault(more_are_left_behind_than_can_be_counted src/operation/operation_core.cpp
    [[        if (count >= most_left)]] [[        if (count > most_left)]])

fault(what_is_left_behind_has_the_memory_of_the_handler include/asio_retry/detail/operation/initiate_retry.hpp
    [[            if (policy.settings().deliver_at_once)]] [[            if (false && policy.settings().deliver_at_once)]])

fault(a_coroutine_waits_for_its_attempts_all_the_same include/asio_retry/detail/operation/await_retry.hpp
    [[    if (policy.settings().deliver_at_once || (wants_strand]] [[    if ((wants_strand]])

fault(a_slot_keeps_an_attempt_that_has_ended include/asio_retry/detail/operation/attempt_runner.hpp
    [[        if (this->leaves_attempts()) // or its coroutine stays in the slot
            shell::clear_slot();]] [[]])

fault(an_attempt_without_memory_is_waited_for include/asio_retry/detail/operation/operation_shell.hpp
    [[            this->drop();
            throw;
        }
    }

    /// For the handler]] [[            throw;
        }
    }

    /// For the handler]])

fault(what_is_left_behind_has_surely_not_sent include/asio_retry/detail/operation/operation_shell.hpp
    [[        this->machine().on_sent(); // it still may
]] [[]])
