# Mistakes in waits, their timer and their threads.

noticed_by(tests_of_time)

fault(wheel_ends_a_slot_that_is_being_emptied 63 src/time/timing_wheel.hpp
    [[length <= longest && !is_being_emptied(at)]] [[length <= longest]])

fault(scheduler_ends_waits_ahead_of_time 43 src/time/scheduled_waits.hpp
    [[take_due(begin, moves)]] [[take_due(saturating_add(begin, std::chrono::seconds(1)), moves)]])

fault(scheduler_leaves_a_cancelled_wait 13 src/time/scheduled_waits.hpp
    [[            return false;
        take_back(node);
        return true;]] [[            return false;
        return true;]])

fault(spread_puts_off_what_ends_earlier 62 src/time/scheduled_waits.hpp
    [[if (node.expiry() > latest) { // an early end]] [[{ // an early end]])

fault(scheduler_gives_all_the_same_stream 3 src/time/random_streams.hpp
    [[next_.fetch_add(1, ]] [[next_.load(]])

fault(scheduler_keeps_its_seed_after_a_fork 33 src/time/retry_scheduler.cpp
    [[execution_context::fork_child]] [[execution_context::fork_parent]])

noticed_by(interleaved_waits)

fault(scheduler_does_not_look_at_the_timer_again 63 src/time/scheduled_waits.hpp
    [[if (!timer_.fires_by(expiry)) { // any more]] [[if (false) {]])
