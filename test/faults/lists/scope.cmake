# Mistakes in scopes, their requests and joins.

noticed_by(tests_of_scope)

# --- requests

fault(scope_does_not_tell_its_members src/scope/scope_state.cpp
    [[            tell(*work.members[i]);]] [[            work.members[i]->is_being_told_ = false;]])

fault(scope_replaces_a_greater_request src/scope/scope_state.cpp
    [[standing_.store(std::max(standing_.load(), request.what), std::memory_order_release);]]
    [[standing_.store(request.what, std::memory_order_release);]])

fault(scope_hears_nothing_after_a_drain src/scope/scope_state.cpp
    [[standing_.load() >= what && !missed_;]] [[standing_.load() >= scope_request::drain && !missed_;]])

fault(scope_forgets_whom_it_could_not_tell src/scope/scope_state.cpp
    [[standing_.load() >= what && !missed_;]] [[standing_.load() >= what;]])

fault(scope_tells_a_member_of_less_than_stands src/scope/scope_state.cpp
    [[    return std::max(told, timed_request{standing_.load(), duration::zero()});]] [[    return told;]])

fault(scope_does_not_know_who_relies_on_a_notice src/scope/scope_state.cpp
    [[    member.is_told_again_ = std::exchange(member.is_being_told_, true);
    if (!member.is_told_again_)]] [[    if (!std::exchange(member.is_being_told_, true))]])

fault(scope_asks_its_children_once src/scope/scope_state.cpp
    [[!round_.again && child.has_heard(round_.request.what)]] [[child.has_heard(round_.request.what)]])

fault(scope_owes_and_does_not_pay src/scope/scope_state.cpp
    [[        current_round().to_tell.push_back(member);
        tree_->add(*this);
]] [[        current_round().to_tell.push_back(member);
]])

fault(who_has_been_told_does_not_hear_of_more src/scope/scope_state.cpp
    [[    member.request_ = request.what;
    member.spread_ = request.spread;]] [[    if (!member.is_being_told_) {
        member.request_ = request.what;
        member.spread_ = request.spread;
    }]])

fault(scope_leaves_the_rest_to_nobody src/scope/scope_tree.cpp
    [[        steps -= asked.take_step(work);
    list(asked);]] [[        steps -= asked.take_step(work);]])

fault(teller_tells_nobody_when_its_context_ends src/scope/scope_tree.cpp
    [[        keeps = std::move(teller_);
    }
    take_rest();
}

} // namespace]] [[        keeps = std::move(teller_);
    }
}

} // namespace]])

# --- room

fault(scope_counts_one_more_than_its_ceiling src/scope/scope_state.cpp
    [[scope->without_need_ < scope->max_pending_;]] [[scope->without_need_ <= scope->max_pending_;]])

fault(scope_asks_only_itself_for_room src/scope/scope_state.cpp
    [[has_room && scope->pending_ - scope->without_need_ < scope->max_pending_;]]
    [[has_room && (scope != this || scope->pending_ - scope->without_need_ < scope->max_pending_);]])

fault(operation_takes_room_while_its_handler_runs include/asio_retry/detail/scope/scope_state.hpp
    [[return is_idle ? presence_.unlink(*this) : presence_.scope().unlink(*this);]]
    [[return presence_.scope().unlink(*this);]])

# --- joins

fault(join_does_not_wait_for_what_had_no_room src/scope/scope_state.cpp
    [[        if (scope->pending_ + scope->without_room_ != 0)
            continue;]] [[        if (scope->pending_ != 0)
            continue;]])

fault(join_of_an_empty_scope_may_end_twice src/scope/scope_state.cpp
    [[        join.has_ended_ = true;
    }
    join.post();]] [[    }
    join.post();]])

fault(join_is_destroyed_under_the_mutex src/scope/scope_state.cpp
    [[            lock.unlock();
            return join.dissolve();]] [[            return join.dissolve();]])

fault(drain_counts_all_that_was_ever_stopped src/scope/scope_state.cpp
    [[stopped_attempts_ - *join.stopped_before_;]] [[stopped_attempts_;]])

fault(drain_ends_before_its_operations src/scope/scope_join.cpp
    [[        if (!scope_node::of(*scope).end_if_over(*this)) {
            if (scheduler_.schedule]] [[        if (false) {
            if (scheduler_.schedule]])

fault(joins_are_lost_with_their_context src/scope/scope_join.cpp
    [[    finish();
}

} // namespace]] [[    dissolve();
}

} // namespace]])
