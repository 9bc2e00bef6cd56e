# fault(name file [[text]] [[replacement]]): a mistake in what scopes count, limit and join.

noticed_by(tests_of_scope)

fault(scope_has_more_time_than_its_parent src/scope/scope_state.cpp
    [[deadline_(parent_ ? std::min(deadline, parent_->deadline_) : deadline)]] [[deadline_(deadline)]])

fault(scope_takes_an_empty_executor src/scope/scope_state.cpp
    [[    refuse_if_empty_executor("retry_scope.executor", executor);
]] [[]])

fault(scope_does_not_look_at_those_above_it src/scope/scope_state.cpp
    [[        scope = scope->parent_;
    return scope != nullptr;]] [[        scope = nullptr;
    return scope != nullptr;]])

fault(scope_replaces_a_greater_request src/scope/scope_state.cpp
    [[standing_.store(std::max(standing_.load(), request.what), std::memory_order_release);]]
    [[standing_.store(request.what, std::memory_order_release);]])

fault(scope_hears_nothing_after_a_drain src/scope/scope_state.cpp
    [[standing_.load() >= what && !missed_;]] [[standing_.load() >= scope_request::drain && !missed_;]])

fault(scope_forgets_whom_it_could_not_tell src/scope/scope_state.cpp
    [[standing_.load() >= what && !missed_;]] [[standing_.load() >= what;]])

fault(scope_tells_a_member_of_less_than_stands src/scope/scope_state.cpp
    [[    return std::max(told, timed_request{standing_.load(), duration::zero()});]] [[    return told;]])

fault(scope_tells_its_first_child_only src/scope/scope_state.cpp
    [[    children_.push_back(child);]]
    [[    children_.push_back(child);
    children_.append(round_.to_ask);]])

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
    [[        for (; steps != 0 && scope->has_joins_to_end(); --steps)]] [[        if (scope->has_joins_to_end())]])

fault(attempts_stopped_in_a_child_do_not_count src/scope/scope_state.cpp
    [[        ++scope->stopped_attempts_;]] [[        scope->stopped_attempts_ += scope == this;]])

fault(drain_counts_all_that_was_ever_stopped src/scope/scope_state.cpp
    [[stopped_attempts_ - *join.stopped_before_;]] [[stopped_attempts_;]])

fault(drain_counts_from_its_second_expiry src/scope/scope_join.cpp
    [[            if (is_first)
                stopped_before_]] [[                stopped_before_]])

fault(drain_does_not_cancel src/scope/scope_join.cpp
    [[scope->request(scope_request::cancel, is_first, {}, scope_tree::steps_of_turn);]] [[scope->request(scope_request::drain);]])

fault(drain_ends_before_its_operations src/scope/scope_join.cpp
    [[        if (!scope->end_if_over(*this)) {
            if (scheduler_.schedule]] [[        if (false) {
            if (scheduler_.schedule]])

fault(join_that_is_cancelled_ends_without_an_error src/scope/scope_join.cpp
    [[scope_->end_join(*this, aborted_error())]] [[scope_->end_join(*this, error_code())]])

fault(joins_are_lost_with_their_context src/scope/scope_join.cpp
    [[    finish();
}

} // namespace]] [[    dissolve();
}

} // namespace]])

fault(scope_gives_back_who_waits_to_leave src/scope/scope_state.cpp
    [[        members::erase(member);
        return true;]] [[        return true;]])

fault(scope_does_not_know_who_relies_on_a_notice src/scope/scope_state.cpp
    [[    member.is_told_again_ = std::exchange(member.is_being_told_, true);
    if (!member.is_told_again_)]] [[    if (!std::exchange(member.is_being_told_, true))]])

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

fault(scope_tells_who_relied_on_it_of_nothing src/scope/scope_state.cpp
    [[        current_round().to_tell.push_back(member);
        tree_->add(*this);]] [[        current_round().to_tell.push_back(member);
        member.request_ = scope_request::none;
        tree_->add(*this);]])

fault(join_is_destroyed_under_the_mutex src/scope/scope_state.cpp
    [[            lock.unlock();
            return join.dissolve();]] [[            return join.dissolve();]])

# --- requests in portions

fault(scope_tells_all_in_the_call src/scope/scope_state.cpp
    [[    if (!has_teller)
        tree->take_rest();
]] [[    static_cast<void>(has_teller);
    tree->take_rest();
]])

fault(teller_tells_too_many_in_a_turn include/asio_retry/detail/scope/scope_tree.hpp
    [[steps_of_turn = 4;]] [[steps_of_turn = 64;]])

fault(teller_makes_one_turn_of_all src/scope/scope_tree.cpp
    [[        if (!asked_.empty() && schedule())
            return;
]] [[]])

fault(teller_does_not_tell_later src/scope/scope_tree.cpp
    [[                    member.is_told_again_ = true;]] [[                    static_cast<void>(member);]])

fault(teller_tells_nobody_when_its_context_ends src/scope/scope_tree.cpp
    [[        keeps = std::move(teller_);
    }
    take_rest();
}

} // namespace]] [[        keeps = std::move(teller_);
    }
}

} // namespace]])

fault(teller_is_needed_where_it_cannot_be src/scope/scope_state.cpp
    [[    if (!has_teller)
        tree->take_rest();
]] [[    static_cast<void>(has_teller);
]])

fault(scope_leaves_the_rest_to_nobody src/scope/scope_tree.cpp
    [[        steps -= asked.take_step(work);
    list(asked);]] [[        steps -= asked.take_step(work);]])

fault(scope_asks_its_children_once src/scope/scope_state.cpp
    [[!round_.again && child.has_heard(round_.request.what)]] [[child.has_heard(round_.request.what)]])

fault(scope_asks_its_children_again src/scope/scope_state.cpp
    [[!round_.again && child.has_heard(round_.request.what)]] [[false]])

fault(scope_asks_again_for_ever src/scope/scope_state.cpp
    [[        round_.again = false;
]] [[]])

fault(scope_asks_for_what_was_asked_last src/scope/scope_state.cpp
    [[    in.request = std::max(in.request, request);]] [[    in.request = request;]])

fault(scope_asks_its_children_one_after_the_other_and_not_what_is_below src/scope/scope_state.cpp
    [[        asked.push_front(*child);]] [[        asked.push_back(*child);]])

fault(scope_owes_and_does_not_pay src/scope/scope_state.cpp
    [[        current_round().to_tell.push_back(member);
        tree_->add(*this);
]] [[        current_round().to_tell.push_back(member);
]])

# --- who is asked for less after more, scopes beside one another, joins

fault(scope_asks_all_for_the_greater_request src/scope/scope_state.cpp
    [[    bool const is_less = request < current_round().request;]]
    [[    bool const is_less = false;
    static_cast<void>(current_round());]])

fault(scope_never_asks_for_the_lesser_request src/scope/scope_state.cpp
    [[        round_.append(next_round_);
    }
    return round_;]] [[        round dropped;
        dropped.append(next_round_);
    }
    return round_;]])

fault(scope_asks_for_the_lesser_request_all_the_same src/scope/scope_state.cpp
    [[    if (!is_less)
        round_.append(next_round_);
]] [[]])

fault(scope_goes_on_asking_for_what_is_over src/scope/scope_state.cpp
    [[        round_.request = {};
]] [[]])

fault(who_has_been_told_does_not_hear_of_more src/scope/scope_state.cpp
    [[    member.request_ = request.what;
    member.spread_ = request.spread;]] [[    if (!member.is_being_told_) {
        member.request_ = request.what;
        member.spread_ = request.spread;
    }]])

fault(the_longer_time_asks_for_more include/asio_retry/detail/scope/scope_state.hpp
    [[a.what < b.what : a.spread > b.spread;]] [[a.what < b.what : a.spread < b.spread;]])

fault(scopes_are_told_one_after_the_other src/scope/scope_tree.cpp
    [[        steps -= asked.take_step(work);
        list(asked);]] [[        steps -= asked.take_step(work);
        if (!asked.asked_.empty())
            asked_.push_front(asked);]])

fault(scope_that_asks_stays_among_others src/scope/scope_tree.cpp
    [[    if (asked.is_asked())
        scope_state::asked_scopes::erase(asked);
    asked.asked_.push_front(asked);]] [[    if (!asked.is_asked())
        asked.asked_.push_front(asked);]])

fault(joins_end_all_with_the_operation src/scope/scope_state.cpp
    [[        for (; steps != 0 && scope->has_joins_to_end(); --steps)]]
    [[        for (; scope->has_joins_to_end();)]])

fault(join_takes_one_step src/scope/scope_state.cpp
    [[        cost = scope_tree::steps_of_turn;]] [[        cost = 1;]])

fault(joins_wait_for_what_came_later src/scope/scope_state.cpp
    [[    return !joins_.empty() && joins_.front().times_empty_ != times_empty_;]]
    [[    return !joins_.empty() && pending_ + without_room_ == 0;]])

fault(drain_that_is_over_cancels src/scope/scope_join.cpp
    [[        if (!scope->end_if_over(*this)) {           //]] [[        if (!has_ended_) {           //]])

# --- waits that end within a time

fault(spread_ends_all_at_its_end include/asio_retry/detail/scope/scope_state.hpp
    [[    return saturating_add(now, source.uniform(]] [[    return saturating_add(now + spread, source.uniform(]])

fault(spread_lasts_half_as_long include/asio_retry/detail/scope/scope_state.hpp
    [[(std::max)(spread, duration(1)) - duration(1)]] [[(std::max)(spread / 2, duration(1)) - duration(1)]])

fault(spread_puts_off_what_ends_earlier src/time/scheduled_waits.hpp
    [[        if (node.expiry() > latest) { // an early end has the earliest]] [[        {]])

fault(spread_does_not_arm src/time/scheduled_waits.hpp
    [[            waits_.insert(node, latest);
            arm_for(wake_up_for(latest));]] [[            waits_.insert(node, latest);]])

fault(spread_of_children_is_none src/scope/scope_state.cpp
    [[    child.ask(round_.request, round_.again);]] [[    child.ask({round_.request.what, duration::zero()}, round_.again);]])

fault(spread_may_be_negative include/asio_retry/retry_scope.hpp
    [[detail::non_negative("retry_now", spread) == duration::zero();]] [[spread == duration::zero();]])

fault(spread_ends_a_wait_of_a_coroutine_at_once include/asio_retry/detail/operation/awaited_core.hpp
    [[        if (request == scope_request::retry_within)
            return end_wait_within(spread);
]] [[        static_cast<void>(spread);
]])

fault(spread_ends_a_wait_at_once src/operation/operation_events.cpp
    [[    } else if (request == scope_request::retry_within) {
        end_wait_within(spread);
]] [[]])

fault(spread_of_a_hedge_is_none src/hedge/hedge_core.cpp
    [[time_within(request.spread, now()]] [[time_within(duration::zero(), now()]])
