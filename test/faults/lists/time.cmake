# Mistakes in waits, their timer and their threads.

noticed_by(tests_of_time)

# --- the wheel

fault(wheel_begins_waits_in_the_past src/time/timing_wheel.hpp
    [[std::max(tick_of(node.expiry()), reached_)]] [[tick_of(node.expiry())]])

fault(wheel_ends_a_slot_too_late src/time/timing_wheel.hpp
    [[length - 1 > limit - start]] [[length > limit - start]])

fault(wheel_does_not_begin_a_slot_in_time src/time/timing_wheel.hpp
    [[if (start > limit ||]] [[if (start >= limit ||]])

fault(wheel_passes_a_slot src/time/timing_wheel.hpp
    [[reached_ = std::max(reached_, std::min(limit, start - 1));]] [[reached_ = std::max(reached_, limit);]])

fault(wheel_keeps_a_slot_that_was_taken_back src/time/timing_wheel.hpp
    [[        if (slot const* const emptied = slot::erase(node))]] [[        if (slot const* const emptied = slot::erase(node); false)]])

fault(wheel_ends_a_slot_that_is_being_emptied src/time/timing_wheel.hpp
    [[bool const is_short = length <= longest && !is_being_emptied(at);]] [[bool const is_short = length <= longest;]])

fault(wheel_puts_a_wait_a_level_too_high src/time/wheel_levels.hpp
    [[bit != wheel_levels::first_bits[level + 1]; ++bit)]] [[bit + 1 != wheel_levels::first_bits[level + 1]; ++bit)]])

# --- the scheduler

fault(scheduler_takes_waits_during_the_shutdown src/time/scheduled_waits.hpp
    [[        if (shut_down_)
            return false;
        waits_.insert]] [[        waits_.insert]])

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

fault(scheduler_ends_all_that_were_ended_early_first src/time/pending_waits.hpp
    [[        takes_early_ = !takes_early_;]] [[        takes_early_ = true;]])

fault(scheduler_is_late_where_waits_are_few src/time/scheduled_waits.hpp
    [[manual_now_ || waits_.size() <= few ?]] [[manual_now_ || waits_.size() < few ?]])

fault(scheduler_ends_waits_ahead_of_time src/time/scheduled_waits.hpp
    [[            node = take_due(begin, moves);]] [[            node = take_due(saturating_add(begin, std::chrono::seconds(1)), moves);]])

fault(scheduler_does_not_arm_for_the_rest src/time/scheduled_waits.hpp
    [[        else if (waits_.empty())
            timer_.disarm();
        else
            arm();
    }]] [[        else if (waits_.empty())
            timer_.disarm();
    }]])

fault(scheduler_leaves_a_cancelled_wait src/time/scheduled_waits.hpp
    [[            return false;
        take_back(node);
        return true;]] [[            return false;
        return true;]])

fault(spread_puts_off_what_ends_earlier src/time/scheduled_waits.hpp
    [[        if (node.expiry() > latest) { // an early end has the earliest]] [[        {]])

fault(spread_does_not_arm src/time/scheduled_waits.hpp
    [[            waits_.insert(node, latest);
            arm_for(wake_up_for(latest));]] [[            waits_.insert(node, latest);]])

# --- its timer and arrivals

fault(timer_is_not_armed_for_something_earlier src/time/wake_up_timer.hpp
    [[if (armed_for_.load() <= wake_up)]] [[if (armed_for_.load() != time_point::max())]])

fault(timer_waits_twice src/time/wake_up_timer.hpp
    [[            waits_ = true;
        }]] [[        }]])

fault(arrivals_come_in_the_opposite_order src/time/wait_arrivals.hpp
    [[list_node* earliest = in_order(latest_.exchange(nullptr));]] [[list_node* earliest = latest_.exchange(nullptr);]])

# --- streams, mutexes and virtual time

fault(scheduler_gives_all_the_same_stream src/time/random_streams.hpp
    [[next_.fetch_add(1, std::memory_order_relaxed));]] [[next_.load(std::memory_order_relaxed));]])

fault(scheduler_keeps_its_seed_after_a_fork src/time/retry_scheduler.cpp
    [[event == boost::asio::execution_context::fork_child]] [[event == boost::asio::execution_context::fork_parent]])

noticed_by(exhaustion_tests)

# --- without memory

fault(timer_that_has_no_memory_does_not_fire src/time/wake_up_timer.hpp
    [[        threads.execute(handler());]] [[]])

fault(scheduler_ends_nothing_early_without_memory src/time/scheduled_waits.hpp
    [[        if (!turn_.post())
            arm_for(at_once);]] [[        turn_.post();]])

fault(scheduler_of_a_context_that_is_gone src/time/retry_scheduler.cpp
    [[latest.context != &context || latest.destroyed != destroyed]] [[latest.context != &context]])

noticed_by(interleaved_waits)

# --- between steps of the timer

fault(scheduler_does_not_look_at_the_timer_again src/time/scheduled_waits.hpp
    [[        if (!timer_.fires_by(expiry)) { // any more]] [[        if (false) {]])
