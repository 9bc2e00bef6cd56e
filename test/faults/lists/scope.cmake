# fault(name file [[text]] [[replacement]]): a mistake in what scopes count, limit and join.

noticed_by(tests_of_scope)

fault(scope_has_more_time_than_its_parent src/scope/scope_state.cpp
    [[deadline_(parent_ ? std::min(deadline, parent_->deadline_) : deadline)]] [[deadline_(deadline)]])

fault(scope_takes_an_empty_executor src/scope/scope_state.cpp
    [[    refuse_if_empty_executor("retry_scope.executor", executor);
]] [[]])

fault(scope_begins_in_a_stopped_parent src/scope/scope_state.cpp
    [[    standing_.store(parent_->standing_.load());
]] [[]])

fault(scope_replaces_a_greater_request src/scope/scope_state.cpp
    [[standing_.store(std::max(standing_.load(), what), std::memory_order_release);]]
    [[standing_.store(what, std::memory_order_release);]])

fault(scope_hears_nothing_after_a_drain src/scope/scope_state.cpp
    [[standing_.load() >= what && !missed_;]] [[standing_.load() >= scope_request::drain && !missed_;]])

fault(scope_forgets_whom_it_could_not_tell src/scope/scope_state.cpp
    [[standing_.load() >= what && !missed_;]] [[standing_.load() >= what;]])

fault(scope_tells_a_member_of_less_than_stands src/scope/scope_state.cpp
    [[    return std::max(request, standing_.load());]] [[    return request;]])

fault(scope_tells_its_first_child_only src/scope/scope_state.cpp
    [[        if (scope_state* const sibling = scope->parent_->children_.after(*scope))]]
    [[        if (scope_state* const sibling = nullptr)]])

fault(scope_counts_one_more_than_its_ceiling src/scope/scope_state.cpp
    [[scope->without_need_ < scope->max_pending_;]] [[scope->without_need_ <= scope->max_pending_;]])

fault(scope_asks_only_itself_for_room src/scope/scope_state.cpp
    [[has_room && scope->pending_ - scope->without_need_ < scope->max_pending_;]]
    [[has_room && (scope != this || scope->pending_ - scope->without_need_ < scope->max_pending_);]])

fault(scope_gives_room_to_what_it_refused src/scope/scope_state.cpp
    [[        ++(has_room ? scope->pending_ : scope->without_room_);]] [[        ++(has_room || scope != this ? scope->pending_ : scope->without_room_);]])

fault(join_does_not_wait_for_what_had_no_room src/scope/scope_state.cpp
    [[        if (scope->pending_ + scope->without_room_ != 0)
            continue;]] [[        if (scope->pending_ != 0)
            continue;]])

fault(join_ends_at_once_where_there_was_no_room src/scope/scope_state.cpp
    [[        if (pending_ + without_room_ != 0) {]] [[        if (pending_ != 0) {]])

fault(join_ends_alone src/scope/scope_state.cpp
    [[        while (!scope->joins_.empty()) {]] [[        if (!scope->joins_.empty()) {]])

fault(attempts_stopped_in_a_child_do_not_count src/scope/scope_state.cpp
    [[        ++scope->stopped_attempts_;]] [[        scope->stopped_attempts_ += scope == this;]])

fault(drain_counts_all_that_was_ever_stopped src/scope/scope_state.cpp
    [[stopped_attempts_ - *join.stopped_before_;]] [[stopped_attempts_;]])

fault(drain_counts_from_its_second_expiry src/scope/scope_join.cpp
    [[            if (is_first)
                stopped_before_]] [[                stopped_before_]])

fault(drain_does_not_cancel src/scope/scope_join.cpp
    [[scope->request(scope_request::cancel, is_first);]] [[scope->request(scope_request::drain);]])

fault(drain_ends_before_its_operations src/scope/scope_join.cpp
    [[        if (!has_ended_) {
            if (scheduler_.schedule]] [[        if (false) {
            if (scheduler_.schedule]])

fault(join_that_is_cancelled_ends_without_an_error src/scope/scope_join.cpp
    [[scope_->end_join(*this, aborted_error())]] [[scope_->end_join(*this, error_code())]])

fault(joins_are_shut_down_twice src/scope/scope_join.cpp
    [[        if (!std::exchange(has_ended_, true))]] [[        if (std::exchange(has_ended_, true))]])

fault(scope_gives_back_who_waits_to_leave src/scope/scope_state.cpp
    [[        return true; // and is a member no more]] [[        return members_.push_back(member), true;]])

fault(scope_owes_nothing_to_who_asked_for_more src/scope/scope_state.cpp
    [[    owes_more_ = owes_more_ || standing_.load() > missed;]] [[    static_cast<void>(missed);]])

fault(operation_keeps_the_context_of_its_waits src/operation/operation_events.cpp
    [[        forget_waiting_place();
]] [[]])

fault(scope_keeps_its_executor src/scope/scope_state.cpp
    [[    executor_ = asio::any_io_executor();
]] [[]])

fault(coroutine_keeps_the_executor_of_its_scope include/asio_retry/detail/operation/awaited_context.hpp
    [[        work_.reset();
        scope_.reset();]] [[        work_.reset();]])

fault(joins_let_go_one_after_the_other src/scope/scope_state.cpp
    [[        (join.let_go() ? elsewhere : here).push_back(join);]] [[        here.push_back(join);]])

fault(joins_end_here_after_those_elsewhere src/scope/scope_state.cpp
    [[    here.append(elsewhere);]] [[    elsewhere.append(here);
    here.append(elsewhere);]])

fault(join_is_cancelled_by_nothing src/scope/scope_join.cpp
    [[    if (type == boost::asio::cancellation_type::none)
        return;
]] [[    static_cast<void>(type);
]])

fault(join_of_an_empty_scope_may_end_twice src/scope/scope_state.cpp
    [[        join.has_ended_ = true;
    }
    join.post();]] [[    }
    join.post();]])

fault(join_stays_when_its_context_is_destroyed src/scope/scope_state.cpp
    [[            lock.unlock();
            return join.dissolve();]] [[            return;]])

fault(scope_tells_again_what_it_has_made_up_for src/scope/scope_state.cpp
    [[        missed_ = false;
    }]] [[    }]])

fault(operation_counts_what_its_caller_has_told src/operation/operation_events.cpp
    [[state_.is(operation_stage::attempting) && !machine_.tells_attempt())]]
    [[state_.is(operation_stage::attempting))]])

fault(operation_does_not_know_that_its_scope_tells_it include/asio_retry/detail/operation/operation_membership.hpp
    [[bool tells_attempt() const noexcept override { return presence_.scope().cancelled(); }]]
    [[bool tells_attempt() const noexcept override { return false; }]])

fault(coroutine_takes_room_after_its_end include/asio_retry/detail/operation/coroutine_membership.hpp
    [[if (is_in_ && presence_.unlink(*this, waits))]] [[if (is_in_ && scope().unlink(*this, waits))]])

fault(coroutine_makes_room_below_only src/scope/scope_state.cpp
    [[        ++scope->without_need_;]] [[        scope->without_need_ += scope == this;]])

fault(coroutine_makes_room_for_good src/scope/scope_state.cpp
    [[    without_need_ -= room == scope_room::made;]] [[]])

fault(operation_takes_room_while_its_handler_runs include/asio_retry/detail/operation/operation_membership.hpp
    [[return is_idle ? presence_.unlink(*this) : presence_.scope().unlink(*this);]]
    [[return presence_.scope().unlink(*this);]])

fault(hedge_makes_room_while_its_attempts_run src/hedge/hedge_core.cpp
    [[membership()->unlink(machine_.running() == 0)]] [[membership()->unlink()]])

fault(scope_above_does_not_know_of_a_request_that_was_missed src/scope/scope_state.cpp
    [[    for (scope_state* scope = this; scope; scope = scope->parent_)
        scope->missed_ = true;]] [[    missed_ = true;]])

fault(scope_owes_no_more_than_the_last_has_missed src/scope/scope_state.cpp
    [[owes_more_ = owes_more_ || standing_]] [[owes_more_ = standing_]])

fault(join_is_destroyed_under_the_mutex src/scope/scope_state.cpp
    [[            lock.unlock();
            return join.dissolve();]] [[            return join.dissolve();]])
