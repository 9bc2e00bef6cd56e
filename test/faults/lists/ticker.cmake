# fault(name file [[text]] [[replacement]]): a mistake in a ticker.

noticed_by(tests_of_ticker)

fault(ticker_forgets_a_wait_whose_reset_fails src/ticker/ticker_state.cpp
    [[        if (is_due)
            queue(*wait);]] [[        static_cast<void>(is_due);]])

fault(ticker_is_not_stopped_while_nobody_waits src/ticker/ticker_state.cpp
    [[    stopped_ = true;
    if]] [[    stopped_ = current_ != nullptr;
    if]])

fault(ticker_stops_inside_stop src/ticker/ticker_state.cpp
    [[    stopped_ = true;
    if (ticker_wait* const wait = current_; wait && take_back(*wait)) {]] [[    stopped_ = true;
    if (ticker_wait* const wait = current_; wait && !take_back(*wait)) {]])

fault(ticker_starts_over_although_stopped src/ticker/ticker_state.cpp
    [[    if (stopped_)
        return;
    time_point]] [[    time_point]])

fault(ticker_starts_over_from_the_next_wait src/ticker/ticker_state.cpp
    [[    starts_over_from_ = now;
]] [[    starts_over_from_ = time_point::max();
]])

fault(ticker_does_not_replan_a_pending_wait src/ticker/ticker_state.cpp
    [[            is_due = decide(*wait, now);]] [[            is_due = true;]])

fault(ticker_ignores_a_hurry_while_it_decides src/ticker/ticker_state.cpp
    [[    hurries_ = phase_ == phase::deciding || (]] [[    hurries_ = (]])

fault(ticker_ignores_a_hurry_after_it_starts_over src/ticker/ticker_state.cpp
    [[(phase_ == phase::queued && starts_over_from_)]] [[false]])

fault(ticker_hurries_for_ever src/ticker/ticker_state.cpp
    [[std::exchange(hurries_, false);]] [[hurries_;]])

fault(ticker_ignores_a_cancellation_of_what_is_queued src/ticker/ticker_state.cpp
    [[    wait.cancelled_ = true;
    if (take_back(wait)) {]] [[    wait.cancelled_ = phase_ != phase::queued;
    if (take_back(wait)) {]])

fault(ticker_ignores_a_cancellation_while_it_decides src/ticker/ticker_state.cpp
    [[is_due || hurries || stopped_ || wait.cancelled_) {]] [[is_due || hurries || stopped_) {]])

fault(ticker_keeps_an_end_that_is_due_when_it_starts_over src/ticker/ticker_state.cpp
    [[wait.result_ && !starts_over_from_;]] [[bool(wait.result_);]])

fault(ticker_keeps_a_refusal_that_is_due_when_it_starts_over src/ticker/ticker_state.cpp
    [[    if (starts_over_from_) {
        lock.unlock();]] [[    if (false) {
        lock.unlock();]])

fault(ticker_ends_with_a_refusal src/ticker/ticker_state.cpp
    [[    if (action.error && action.error != condition::refused)]] [[    if (action.error)]])

fault(ticks_are_sent src/policy/machine_events.cpp
    [[attempts_ != 0 && makes_attempts_ && (]] [[attempts_ != 0 && (]])

fault(ticker_has_many_waits src/ticker/ticker_state.cpp
    [[    if (current_) {
        wait.result_]] [[    if (current_ == &wait) {
        wait.result_]])

fault(ticker_takes_its_stream_when_it_needs_one src/ticker/ticker_state.cpp
    [[    if (retry_scheduler::any_seeded())
        get_random(); // streams go to the tickers in the order of their first waits
]] [[]])

fault(ticker_starts_over_as_often_as_a_hook_likes src/ticker/ticker_state.cpp
    [[        started_over = from || !starts_over_from_ || stopped_;]] [[        started_over = !starts_over_from_ || stopped_;]])

fault(ticker_keeps_a_wish_to_start_over src/ticker/ticker_state.cpp
    [[    starts_over_from_.reset();

]] [[]])

fault(ticker_keeps_its_end_when_it_starts_over src/ticker/ticker_state.cpp
    [[        ended_with_ = error_code();
]] [[]])

fault(ticker_keeps_its_plan_when_it_starts_over src/ticker/ticker_state.cpp
    [[        planned_.reset();
        ended_with_]] [[        ended_with_]])

fault(ticker_is_exhausted_although_stopped src/ticker/ticker_state.cpp
    [[again.error = stopped_ ? aborted_error() : ended_with_;]] [[again.error = ended_with_;]])

fault(ticker_plans_a_cancelled_wait_anew src/ticker/ticker_state.cpp
    [[        same.delay = elapsed_between(now, *planned_);]] [[        same.delay = elapsed_between(*planned_, now);]])

fault(ticker_does_not_watch_its_stop src/ticker/ticker_state.cpp
    [[        machine_->watch(*this);
]] [[]])

fault(ticker_ticks_at_once_after_it_starts_over src/ticker/ticker_state.cpp
    [[        if (first.what != retry_action::kind::attempt || !starts_over_from)]] [[        if (first.what == retry_action::kind::attempt || !starts_over_from)]])

fault(ticker_begins_when_it_is_asked_and_not_when_it_started_over src/ticker/ticker_state.cpp
    [[machine_->start(starts_over_from.value_or(now));]] [[machine_->start(now);]])

fault(ticker_ticks_although_cancelled src/ticker/ticker_state.cpp
    [[    if (cancelled && !stopped_) {]] [[    if (cancelled && stopped_) {]])

fault(ticker_keeps_its_plan_when_it_has_ticked src/ticker/ticker_state.cpp
    [[        return start_over_with(wait);
    planned_.reset();]] [[        return start_over_with(wait);]])

fault(ticker_loses_its_first_tick src/ticker/ticker_state.cpp
    [[    if (wait.is_first_tick_)
        machine_.reset();]] [[    if (!wait.is_first_tick_)
        machine_.reset();]])

fault(ticker_is_exhausted_at_its_deadline src/ticker/ticker_state.cpp
    [[    else if (action.reason == stop_reason::deadline)]] [[    else if (action.reason == stop_reason::elapsed)]])

fault(ticker_is_exhausted_whatever_threw src/ticker/ticker_state.cpp
    [[    if (action.error && action.error != condition::refused)]] [[    if (action.error && stopped_)]])

fault(ticker_stops_a_tick_that_is_due_when_it_starts_over src/ticker/ticker_state.cpp
    [[    if (phase_ != phase::waiting || !scheduler_.cancel(wait))]] [[    if (phase_ == phase::deciding || (phase_ == phase::waiting && !scheduler_.cancel(wait)))]])

fault(ticker_cannot_be_taken_back_without_memory src/ticker/ticker_state.cpp
    [[    if (!ended) {]] [[    if (false) {]])

fault(ticker_is_not_scheduled_again_without_memory src/ticker/ticker_state.cpp
    [[    phase_ = phase::waiting;
    bool scheduled = false;
    try {]] [[    bool scheduled = false;
    try {]])

fault(ticker_takes_an_empty_executor src/ticker/ticker_state.cpp
    [[refuse_if_empty_executor("backoff_ticker.executor", executor), ]] [[]])

fault(ticker_is_in_a_hurry_after_a_wait_that_was_cancelled src/ticker/ticker_state.cpp
    [[    hurries_ = false;
    lock.unlock();]] [[    lock.unlock();]])

fault(ticker_starts_over_from_its_turn src/ticker/ticker_state.cpp
    [[return decide(wait, from);]] [[return decide(wait, from < scheduler_.now() ? scheduler_.now() : from);]])

fault(ticker_forgets_its_wait_for_another src/ticker/ticker_state.cpp
    [[    if (current_ != &wait)
        return;
    current_ = nullptr;]] [[    static_cast<void>(wait);
    current_ = nullptr;]])

fault(ticker_is_cancelled_by_nothing src/ticker/ticker_wait.cpp
    [[    if (type == boost::asio::cancellation_type::none)
        return;
]] [[    static_cast<void>(type);
]])

fault(ticker_remembers_a_turn_that_was_dropped include/asio_retry/detail/ticker/handler_wait.hpp
    [[        this->state()->forget(*this);
]] [[]])

fault(ticker_keeps_a_wait_of_a_destroyed_context src/ticker/ticker_state.cpp
    [[*planned_);
    lock.unlock();
    if (!scheduled)
        wait.on_shutdown();]] [[*planned_);
    lock.unlock();
    static_cast<void>(scheduled);]])

# --- memory

noticed_by(exhaustion_tests)

fault(ticker_keeps_a_wait_that_it_could_not_begin src/ticker/ticker_state.cpp
    [[        withdraw(wait);
        forget(wait);
        throw;]] [[        withdraw(wait);
        throw;]])

fault(ticker_gives_up_without_memory src/ticker/ticker_state.cpp
    [[    return ended;]] [[    return true;]])

fault(ticker_loses_a_wait_that_there_is_no_memory_for src/ticker/ticker_state.cpp
    [[        lock.unlock();
        return wait.end();]] [[        lock.unlock();
        return;]])
