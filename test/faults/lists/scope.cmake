# Mistakes in scopes, their requests and joins.

noticed_by(tests_of_scope)

fault(scope_counts_one_more_than_its_limit 33 src/scope/scope_state.cpp
    [[scope->ended_but_counted_ < scope->max_pending_]] [[scope->ended_but_counted_ <= scope->max_pending_]])

fault(scope_forgets_whom_it_could_not_tell 61 src/scope/scope_state.cpp
    [[standing_.load() >= what && !missed_]] [[standing_.load() >= what]])

fault(scope_leaves_the_rest_to_nobody 61 src/scope/scope_tree.cpp
    [[asked.take_step(work);
    list(asked);]] [[asked.take_step(work);]])

fault(teller_tells_nobody_when_its_context_ends 61 src/scope/scope_tree.cpp
    [[take_rest();
}

} // namespace]] [[}

} // namespace]])

fault(who_has_been_told_does_not_hear_of_more 62 src/scope/scope_state.cpp
    [[    member.request_ = request.what;
    member.spread_ = request.spread;]] [[    if (!member.is_being_told_) {
        member.request_ = request.what;
        member.spread_ = request.spread;
    }]])

fault(join_is_destroyed_under_the_mutex 39 src/scope/scope_state.cpp
    [[lock.unlock();
            return join.dissolve();]] [[return join.dissolve();]])
