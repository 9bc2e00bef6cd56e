# fault(name file [[text]] [[replacement]]): a mistake in how waits are kept and ended.

noticed_by(tests_of_time)

fault(operation_has_its_stream_when_it_needs_it src/operation/operation_core.cpp
    [[        if (retry_scheduler::any_seeded())
            scheduler();
]] [[]])

fault(awaiting_has_its_stream_when_it_needs_it include/asio_retry/detail/operation/awaited_core.hpp
    [[        if (retry_scheduler::any_seeded())
            scheduler();
]] [[]])

fault(operation_takes_its_stream_of_a_seed_late include/asio_retry/detail/time/lazy_scheduler.hpp
    [[        if (retry_scheduler::any_seeded())
            take_stream();]] [[]])

fault(operation_takes_a_stream_for_each_number include/asio_retry/detail/time/lazy_scheduler.hpp
    [[        if ((found_ & has_stream) == 0)]] [[]])

# --- the mutex

fault(brief_mutex_is_had_by_two_when_others_wait include/asio_retry/detail/time/brief_mutex.hpp
    [[state_.exchange(state::awaited, std::memory_order_acquire) != state::unlocked)]]
    [[state_.exchange(state::awaited, std::memory_order_acquire) == state::locked)]])

fault(brief_mutex_is_not_handed_on include/asio_retry/detail/time/brief_mutex.hpp
    [[std::memory_order_release) == state::awaited)]] [[std::memory_order_release) == state::unlocked)]])

fault(brief_mutex_forgets_the_second_that_waits include/asio_retry/detail/time/brief_mutex.hpp
    [[while (state_.exchange(state::awaited, std::memory_order_acquire) != state::unlocked)]]
    [[for (state mark = state::awaited; state_.exchange(mark, std::memory_order_acquire) != state::unlocked; mark = state::locked)]])

fault(brief_mutex_is_taken_by_who_tries include/asio_retry/detail/time/brief_mutex.hpp
    [[        state expected = state::unlocked;
]] [[        state expected = state_.load();
]])

# --- the scheduler

fault(scheduler_takes_a_wait_of_the_beginning_for_an_early_end src/time/pending_waits.hpp
    [[wheel_.insert(node, std::max(expiry, time_point::min() + duration(1)));]] [[wheel_.insert(node, expiry);]])

fault(scheduler_takes_waits_during_the_shutdown src/time/scheduled_waits.hpp
    [[        if (shut_down_)
            return false;
        waits_.insert]] [[        waits_.insert]])

fault(scheduler_ends_all_that_were_ended_early_first src/time/pending_waits.hpp
    [[        takes_early_ = !takes_early_;]] [[        takes_early_ = true;]])

fault(scheduler_ends_all_that_are_over_first src/time/pending_waits.hpp
    [[        takes_early_ = !takes_early_;]] [[        takes_early_ = false;]])

fault(scheduler_arms_for_the_first_wait_only src/time/scheduled_waits.hpp
    [[            arm_for(wake_up_for(expiry));
        } catch]] [[            if (waits_.size() == 1)
                arm_for(wake_up_for(expiry));
        } catch]])

fault(scheduler_forgets_that_its_turn_was_posted src/time/scheduled_waits.hpp
    [[take_turn([this] { turn_.on_begun(); });]] [[take_turn([] {});]])

fault(scheduler_cancels_a_wait_that_is_over src/time/scheduled_waits.hpp
    [[        if (!node.is_linked())
            return false;
        take_back(node);
        return true;
]] [[        if (!node.is_linked())
            return true;
        take_back(node);
        return true;
]])

fault(scheduler_shuts_down_without_what_was_ended_early src/time/pending_waits.hpp
    [[return ended ? ended : wheel_.take_any();]] [[return ended ? wheel_.take_any() : wheel_.take_any();]])

fault(scheduler_stays_seeded_when_it_is_gone src/time/random_streams.hpp
    [[~random_streams() { count(false); }]] [[~random_streams() { count(true); }]])

fault(scheduler_counts_each_seed src/time/random_streams.hpp
    [[        if (std::exchange(state_.is_seeded, is_seeded) == is_seeded)]]
    [[        if (std::exchange(state_.is_seeded, is_seeded) == is_seeded && !is_seeded)]])

fault(scheduler_goes_on_with_the_streams_of_another_seed src/time/random_streams.hpp
    [[restore({value, 0, true});]] [[restore({value, next_.load(), true});]])

fault(scheduler_ignores_its_seed src/time/random_streams.hpp
    [[restore({value, 0, true});]] [[restore({value == 0 ? state_.seed : state_.seed, 0, true});]])

fault(scheduler_draws_a_new_seed_although_seeded src/time/random_streams.hpp
    [[        if (!state_.is_seeded)
            state_.seed = entropy_seed();]] [[        state_.seed = entropy_seed();]])

fault(scheduler_keeps_its_seed_after_a_fork src/time/retry_scheduler.cpp
    [[event == boost::asio::execution_context::fork_child]] [[event == boost::asio::execution_context::fork_parent]])

fault(scheduler_gives_all_the_same_stream src/time/random_streams.hpp
    [[next_.fetch_add(1, std::memory_order_relaxed));]] [[next_.load(std::memory_order_relaxed));]])

fault(scheduler_stops_its_clock_twice src/time/scheduled_waits.hpp
    [[        if (manual_now_)
            throw]] [[        if (manual_now_ && !waits_.empty())
            throw]])

fault(scheduler_stops_its_clock_under_a_wait src/time/scheduled_waits.hpp
    [[        if (!waits_.empty())
            throw]] [[        if (waits_.size() > 1)
            throw]])

fault(restarted_clock_is_without_the_waits src/time/scheduled_waits.hpp
    [[        waits_.restart(now());
]] [[]])

fault(restarted_clock_keeps_the_slack src/time/scheduled_waits.hpp
    [[        slack = slack_before_;
]] [[]])

fault(restarted_clock_keeps_the_seed src/time/random_streams.hpp
    [[        state_ = saved;
]] [[        state_ = {state_.seed, saved.next, saved.is_seeded};
]])

fault(restarted_clock_keeps_the_stream src/time/random_streams.hpp
    [[        next_.store(saved.next, std::memory_order_relaxed);
]] [[        next_.store(saved.is_seeded ? 0 : next_.load(), std::memory_order_relaxed);
]])

fault(restarted_clock_stays_seeded src/time/random_streams.hpp
    [[        state_ = saved;
]] [[        state_.seed = saved.seed;
]])

fault(restarted_clock_stays_counted_as_seeded src/time/random_streams.hpp
    [[        else
            seeded_.fetch_sub(1, std::memory_order_relaxed);
]] [[]])

fault(restarted_clock_uncounts_what_was_seeded_before src/time/random_streams.hpp
    [[        if (std::exchange(state_.is_seeded, is_seeded) == is_seeded)]]
    [[        if (std::exchange(state_.is_seeded, is_seeded) == is_seeded && is_seeded)]])

fault(restarted_clock_leaves_the_timer_held src/time/scheduled_waits.hpp
    [[        timer_.hold_until(time_point::min());
]] [[]])

fault(restarted_clock_does_not_arm src/time/scheduled_waits.hpp
    [[            arm_for_rest(); // what]] [[            if (waits_.any_ended_early())
                arm_for(at_once); // what]])

fault(restarted_clock_leaves_what_was_ended_early src/time/scheduled_waits.hpp
    [[            arm_for_rest(); // what]] [[            arm(); // what]])

fault(scheduler_does_not_arm_for_another_slack src/time/scheduled_waits.hpp
    [[        slack = greatest;
        arm();]] [[        slack = greatest;]])

fault(scheduler_has_no_expiry_of_what_was_ended_early src/time/scheduled_waits.hpp
    [[return waits_.any_ended_early() ? manual_now_ : waits_.next_expiry(waits_.size());]]
    [[return waits_.next_expiry(waits_.size());]])

fault(scheduler_looks_at_few_waits_for_the_next_expiry src/time/scheduled_waits.hpp
    [[manual_now_ : waits_.next_expiry(waits_.size());]] [[manual_now_ : waits_.next_expiry(few);]])

fault(scheduler_advances_its_clock_back src/time/scheduled_waits.hpp
    [[manual_now_ = std::max(*manual_now_, to);]] [[manual_now_ = to;]])

fault(scheduler_sets_its_clock_back_without_the_waits src/time/scheduled_waits.hpp
    [[        if (to < *manual_now_)
            waits_.restart(to);]] [[]])

fault(scheduler_is_late_where_waits_are_few src/time/scheduled_waits.hpp
    [[manual_now_ || waits_.size() <= few ?]] [[manual_now_ || waits_.size() < few ?]])

fault(scheduler_is_late_by_a_manual_clock src/time/scheduled_waits.hpp
    [[manual_now_ || waits_.size() <= few ?]] [[waits_.size() <= few ?]])

fault(scheduler_is_never_late src/time/scheduled_waits.hpp
    [[manual_now_ || waits_.size() <= few ?]] [[manual_now_ || waits_.size() <= 1000 ?]])

fault(scheduler_arms_again_one_too_late src/time/scheduled_waits.hpp
    [[        else if (waits_.size() == few)]] [[        else if (waits_.size() + 1 == few)]])

fault(scheduler_does_not_arm_when_few_are_left src/time/scheduled_waits.hpp
    [[            arm(); // from here on they are exact]] [[            return;]])

fault(scheduler_waits_by_a_manual_clock src/time/scheduled_waits.hpp
    [[fires_by(wake_up) && !manual_now_ && ]] [[fires_by(wake_up) && ]])

fault(scheduler_ends_all_in_one_turn src/time/scheduled_waits.hpp
    [[            if (ended == waits_per_turn && !manual_now_)]] [[            if (ended == 1000 * waits_per_turn && !manual_now_)]])

fault(scheduler_ends_waits_ahead_of_time src/time/scheduled_waits.hpp
    [[            node = take_due(begin, moves);]] [[            node = take_due(saturating_add(begin, std::chrono::seconds(1)), moves);]])

fault(scheduler_moves_any_number_in_a_turn src/time/scheduled_waits.hpp
    [[unsigned moves = manual_now_ ? any_number : moves_per_turn;]] [[unsigned moves = any_number;]])

fault(scheduler_moves_nothing_ahead src/time/scheduled_waits.hpp
    [[            waits_.prepare(begin, tolerance(), moves);]] [[            (void)0;]])

fault(scheduler_has_no_turn_to_move_ahead src/time/scheduled_waits.hpp
    [[arm_for(std::min(wake_up_for(*expiry), next_preparation()));]] [[arm_for(wake_up_for(*expiry));]])

fault(scheduler_does_not_go_on_moving src/time/scheduled_waits.hpp
    [[(has_more || moves == 0 || next_preparation() <= begin);]] [[has_more;]])

fault(scheduler_does_not_follow_the_clock src/time/scheduled_waits.hpp
    [[        count_begun(1);
]] [[]])

fault(scheduler_does_not_arm_ahead src/time/scheduled_waits.hpp
    [[        arm_ahead(begin);
]] [[]])

fault(scheduler_does_not_arm_for_the_rest src/time/scheduled_waits.hpp
    [[        else if (waits_.empty())
            timer_.disarm();
        else
            arm();
    }]] [[        else if (waits_.empty())
            timer_.disarm();
    }]])

fault(scheduler_does_not_pause_without_memory src/time/scheduled_waits.hpp
    [[        timer_.hold_until(saturating_add(now(), pause_without_memory));
]] [[]])

fault(scheduler_ends_waits_while_it_pauses src/time/scheduled_waits.hpp
    [[!timer_.is_held(begin) && !turn_.is_posted();]] [[!turn_.is_posted();]])

fault(scheduler_loses_a_wait_without_memory src/time/pending_waits.hpp
    [[        else
            wheel_.insert(node);]] [[]])

fault(scheduler_loses_an_early_end_without_memory src/time/pending_waits.hpp
    [[        if (node.was_ended_early())
            ended_early_.push_back(node);
        else]] [[        if (!node.was_ended_early())]])

fault(scheduler_stops_short_of_the_limit src/time/retry_scheduler.cpp
    [[    if (!next || *next > limit)]] [[    if (!next || *next >= limit)]])

fault(scheduler_does_not_say_that_it_lacks_memory src/time/retry_scheduler.cpp
    [[    if (first == detail::scheduled_waits::due::no_memory)
        throw std::bad_alloc();
]] [[]])

fault(scheduler_takes_the_last_wait_back_with_the_timer_armed_for_it src/time/scheduled_waits.hpp
    [[        if (waits_.empty() && !waits_.any_ended_early())
            timer_.disarm();
        else if]] [[        if]])

fault(scheduler_takes_back_without_what_has_arrived src/time/scheduled_waits.hpp
    [[            if (in.waits_.any_arrived())
                in.admit();
]] [[]])

fault(turn_is_posted_once_for_ever src/time/posted_turn.hpp
    [[    void on_begun() noexcept { is_posted_ = false; }]] [[    void on_begun() noexcept {}]])

fault(timer_takes_a_turn_beside_the_one_that_is_posted src/time/scheduled_waits.hpp
    [[!timer_.is_held(begin) && !turn_.is_posted();]] [[!timer_.is_held(begin);]])

fault(work_of_a_pool_does_not_keep_it src/time/pool_executor.hpp
    [[        if (is_work_)
            scheduler_->work_started();]] [[        is_work_ = false;]])

fault(what_is_queued_for_a_pool_runs_at_once src/time/pool_executor.hpp
    [[        if (!scheduler_)
            return]] [[        if (true)
            return]])

fault(arrivals_come_in_the_opposite_order src/time/wait_arrivals.hpp
    [[list_node* earliest = in_order(latest_.exchange(nullptr));]] [[list_node* earliest = latest_.exchange(nullptr);]])

fault(arrivals_stay_linked src/time/wait_arrivals.hpp
    [[            node->next_node = nullptr;
]] [[]])

fault(arrivals_are_counted_for_ever src/time/wait_arrivals.hpp
    [[        count_.store(0, std::memory_order_relaxed); // those that are being added will be counted or not
]] [[]])

# --- the timing wheel

fault(wheel_begins_waits_in_the_past src/time/timing_wheel.hpp
    [[std::max(tick_of(node.expiry()), reached_)]] [[tick_of(node.expiry())]])

fault(wheel_ends_what_never_ends src/time/timing_wheel.hpp
    [[return node.expiry() == time_point::max();]] [[return node.expiry() > time_point::max();]])

fault(wheel_has_no_time_before_the_epoch src/time/timing_wheel.hpp
    [[bias = tick(1) << 63;]] [[bias = 0;]])

fault(wheel_ends_a_slot_too_late src/time/timing_wheel.hpp
    [[length - 1 > limit - start]] [[length > limit - start]])

fault(wheel_ends_a_slot_too_early src/time/timing_wheel.hpp
    [[(is_short && length - 1 > limit - start)]] [[(is_short && length - 1 > limit - start + 64)]])

fault(wheel_does_not_begin_a_slot_in_time src/time/timing_wheel.hpp
    [[if (start > limit ||]] [[if (start >= limit ||]])

fault(wheel_passes_a_slot src/time/timing_wheel.hpp
    [[reached_ = std::max(reached_, std::min(limit, start - 1));]] [[reached_ = std::max(reached_, limit);]])

fault(wheel_looks_at_one_wait_more src/time/timing_wheel.hpp
    [[if (looks-- == 0)]] [[if (looks-- == 0 && nodes.after(*node))]])

fault(wheel_takes_the_last_expiry_for_the_first src/time/timing_wheel.hpp
    [[least = std::min(least, tick_of(node->expiry()));]] [[least = tick_of(node->expiry());]])

fault(wheel_counts_what_never_ends src/time/timing_wheel.hpp
    [[        endless_.pop_front();
        --size_;]] [[        endless_.pop_front();]])

fault(wheel_gives_away_only_what_ends src/time/timing_wheel.hpp
    [[        if (endless_.empty())
            return nullptr;]] [[        if (size_ != 1)
            return nullptr;]])

fault(wheel_forgets_where_waits_are_when_the_clock_is_set src/time/timing_wheel.hpp
    [[        reached_ = tick_of(reached);
        while]] [[        while]])

fault(wheel_keeps_slots_that_were_spread src/time/timing_wheel.hpp
    [[        if (nodes.empty())
            set_vacant(at);
    }]] [[    }]])

fault(wheel_moves_a_slot_whole src/time/timing_wheel.hpp
    [[        for (; moves != 0 && !nodes.empty(); --moves) {]] [[        for (; !nodes.empty(); moves -= moves != 0) {]])

fault(wheel_moves_a_slot_without_counting src/time/timing_wheel.hpp
    [[        for (; moves != 0 && !nodes.empty(); --moves) {]] [[        for (; moves != 0 && !nodes.empty();) {]])

fault(wheel_enters_a_slot_that_has_waits src/time/timing_wheel.hpp
    [[            if (moves == 0)
                return std::nullopt;
            spread(at, moves);]] [[            if (moves == 0) {
                reached_ = std::max(reached_, limit);
                return std::nullopt;
            }
            spread(at, moves);]])

fault(wheel_ends_a_slot_that_is_being_emptied src/time/timing_wheel.hpp
    [[bool const is_short = length <= longest && !is_being_emptied(at);]] [[bool const is_short = length <= longest;]])

fault(wheel_takes_the_only_wait_too_early src/time/timing_wheel.hpp
    [[ && tick_of(nodes.front().expiry()) <= limit;]] [[;]])

fault(wheel_takes_the_first_of_several_waits_of_a_slot src/time/timing_wheel.hpp
    [[return !is_being_emptied(at) && !nodes.after(nodes.front()) &&]] [[return !is_being_emptied(at) &&]])

fault(wheel_takes_the_last_wait_of_a_slot_before_others src/time/timing_wheel.hpp
    [[return !is_being_emptied(at) && !nodes.after(nodes.front()) &&]] [[return !nodes.after(nodes.front()) &&]])

fault(wheel_prepares_nothing src/time/timing_wheel.hpp
    [[            if (is_prepared(level, slack) && occupied_[number].contains(next))]] [[            if (false)]])

fault(wheel_prepares_the_slot_after_the_next src/time/timing_wheel.hpp
    [[(index_of(level, reached_) + 1) & level.last_slot;]] [[(index_of(level, reached_) + 2) & level.last_slot;]])

fault(wheel_puts_waits_below_a_slot_that_has_some src/time/timing_wheel.hpp
    [[if (!is_next || number == 0 || occupied_[number].contains(at.index))]] [[if (!is_next || number == 0)]])

fault(wheel_never_puts_waits_below_the_next_slot src/time/timing_wheel.hpp
    [[if (!is_next || number == 0 || occupied_[number].contains(at.index))]] [[if (true)]])

fault(wheel_empties_the_lower_of_two_slots_first src/time/timing_wheel.hpp
    [[if (its_first.start <= first.start)]] [[if (its_first.start < first.start)]])

fault(wheel_ends_waits_before_a_slot_is_empty src/time/timing_wheel.hpp
    [[                break; // what begins in other slots]] [[                break;
            break; // what begins in other slots]])

fault(wheel_says_too_much_of_a_slot_that_is_being_emptied src/time/timing_wheel.hpp
    [[if (at.level == 0 || is_being_emptied(at))]] [[if (at.level == 0)]])

fault(wheel_turns_the_order_of_equal_waits_round src/time/timing_wheel.hpp
    [[        slots_[number_of(at)].push_back(node);]] [[        slots_[number_of(at)].push_front(node);]])

fault(wheel_keeps_a_slot_that_was_taken_back src/time/timing_wheel.hpp
    [[        if (slot const* const emptied = slot::erase(node))]] [[        if (slot const* const emptied = slot::erase(node); false)]])

fault(wheel_is_slack_by_twice_as_much src/time/timing_wheel.hpp
    [[bool const is_short = length <= longest && !is_being_emptied(at);]] [[bool const is_short = length <= 64 * longest && !is_being_emptied(at);]])

fault(wheel_puts_a_wait_a_level_too_high src/time/wheel_levels.hpp
    [[bit != wheel_levels::first_bits[level + 1]; ++bit)]] [[bit + 1 != wheel_levels::first_bits[level + 1]; ++bit)]])

fault(slots_begin_again_one_too_late src/time/slot_set.hpp
    [[(~word(0) << (slot % word_bits))]] [[(~word(0) << (slot % word_bits) << 1)]])

fault(slots_are_not_a_ring src/time/slot_set.hpp
    [[behind ? behind : words_with_slots_]] [[words_with_slots_]])

fault(slots_are_all_vacant_when_one_is src/time/slot_set.hpp
    [[        if (changed == 0)
            words_with_slots_]] [[        if (changed != 0)
            words_with_slots_]])

# --- the timer

fault(timer_does_not_hold src/time/wake_up_timer.hpp
    [[        wake_up = std::max(wake_up, held_until_);
]] [[]])

fault(timer_is_not_armed_for_something_earlier src/time/wake_up_timer.hpp
    [[if (armed_for_.load() <= wake_up)]] [[if (armed_for_.load() != time_point::max())]])

fault(timer_is_armed_for_something_later src/time/wake_up_timer.hpp
    [[        if (armed_for_.load() <= wake_up)
            return;
]] [[]])

fault(timer_waits_twice src/time/wake_up_timer.hpp
    [[            waits_ = true;
        }]] [[        }]])

fault(timer_remembers_what_it_has_fired_for src/time/wake_up_timer.hpp
    [[        waits_ = false;
        armed_for_ = time_point::max();]] [[        waits_ = false;]])

# --- virtual time

fault(virtual_time_has_another_seed src/time/virtual_time.cpp
    [[.seed(0);]] [[.seed(1);]])

fault(virtual_time_does_not_reach_its_target src/time/virtual_time.cpp
    [[    scheduler_.advance_clock(target);
]] [[]])

fault(virtual_time_jumps_over_what_is_due src/time/virtual_time.cpp
    [[    return run_until(now());]] [[    return 0;]])

fault(virtual_time_does_not_restart_its_context src/time/virtual_time.cpp
    [[    context_.restart();
]] [[]])

fault(virtual_time_lets_its_context_stop src/time/virtual_time.cpp
    [[    auto const work = boost::asio::make_work_guard(context_);
]] [[]])

fault(virtual_time_goes_on_when_its_context_is_stopped src/time/virtual_time.cpp
    [[    while (!context_.stopped() && scheduler_]] [[    while (scheduler_]])

fault(virtual_time_polls_once src/time/virtual_time.cpp
    [[    while (std::size_t const ran = context_.poll())]] [[    if (std::size_t const ran = context_.poll_one())]])

fault(virtual_time_counts_turns src/time/virtual_time.cpp
    [[        handlers += ran;]] [[        handlers += ran != 0;]])

fault(virtual_time_may_go_back src/time/virtual_time.cpp
    [[detail::non_negative("advance", by)]] [[by]])

fault(wheel_vacates_a_slot_for_what_never_ends src/time/timing_wheel.hpp
    [[        if (never_ends(node)) {
            slot::erase(node);
            return;
        }
]] [[]])

fault(work_of_a_pool_is_as_good_as_none src/time/pool_executor.hpp
    [[a.context_ == b.context_ && a.is_work_ == b.is_work_;]] [[a.context_ == b.context_;]])

fault(restarted_clock_leaves_one_thread src/time/retry_scheduler.cpp
    [[    impl_->has_virtual_time = false;
]] [[]])

# --- memory

noticed_by(exhaustion_tests)

fault(timer_that_has_no_memory_does_not_fire src/time/wake_up_timer.hpp
    [[        threads.execute(handler());]] [[]])

fault(timer_throws_when_it_has_no_memory_to_wait src/time/wake_up_timer.hpp
    [[                return fire();]] [[                throw;]])

fault(timer_is_not_fired_when_virtual_time_ends src/time/scheduled_waits.hpp
    [[            timer_.fire();
]] [[]])

fault(scheduler_keeps_a_wait_that_it_refused src/time/scheduled_waits.hpp
    [[            arm_for(wake_up_for(expiry));
        } catch (...) {
            waits_.erase(node);
            throw;]] [[            arm_for(wake_up_for(expiry));
        } catch (...) {
            throw;]])

fault(scheduler_ends_nothing_early_without_memory src/time/scheduled_waits.hpp
    [[        if (!turn_.post())
            arm_for(at_once);]] [[        turn_.post();]])

fault(scheduler_believes_in_a_turn_that_was_not_posted src/time/posted_turn.hpp
    [[        } catch (...) { // no memory
            return false;]] [[        } catch (...) { // no memory
            return !(is_posted_ = true);]])

fault(timer_allocates_to_be_armed src/time/timer_memory.hpp
    [[return size <= sizeof(bytes_) ? bytes_ : ::operator new(size);]] [[return ::operator new(size);]])

fault(scheduler_of_a_context_that_is_gone src/time/retry_scheduler.cpp
    [[latest.context != &context || latest.destroyed != destroyed]] [[latest.context != &context]])

# --- what two threads do at the same time

noticed_by(interleaved_waits)

fault(scheduler_does_not_look_at_the_timer_again src/time/scheduled_waits.hpp
    [[        if (!timer_.fires_by(expiry)) { // any more]] [[        if (false) {]])

fault(timer_forgets_to_look_for_arrivals src/time/scheduled_waits.hpp
    [[    void on_timer() {
        take_turn]] [[    void on_timer() {
        if (waits_.empty())
            return timer_.on_fired();
        take_turn]])

fault(list_loses_the_rest_when_it_takes_another include/asio_retry/detail/time/linked_list.hpp
    [[        other.root_.previous_node->next_node = &root_;]] [[        other.root_.next_node->next_node = &root_;]])
