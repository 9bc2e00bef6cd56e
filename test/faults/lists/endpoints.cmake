# Mistakes in the choice of endpoints, and in their ejection.

noticed_by(tests_of_endpoints)

# --- the choice

fault(endpoints_are_tried_twice src/traffic/endpoint_table.cpp
    [[return has(tried, all.at(id)) ? nobody : id;]] [[return id;]])

fault(endpoints_draw_one_and_the_same src/traffic/endpoint_table.cpp
    [=[all.available[at < hole ? at : at + 1]]=] [=[all.available[at]]=])

fault(endpoints_prefer_the_busy_one src/traffic/endpoint_table.cpp
    [[return of_first < of_second ? a : b;]] [[return of_first > of_second ? a : b;]])

fault(endpoints_take_fast_failures_for_merit src/traffic/endpoint_table.cpp
    [[    if (is_second || fails_more(failed_first, failed_second)) {]] [[    if (false) {]])

fault(endpoints_ignore_latency src/traffic/endpoint_table.cpp
    [[is_clearly_faster(second.median_, first.median_) && below]] [[false && below]])

fault(endpoints_of_attempts_left_behind_are_forgotten include/asio_retry/detail/operation/retry_operation.hpp
    [[                apart->own_choice_of(form::chooser_of(callable_));]] [[                static_cast<void>(apart);]])

fault(endpoints_ask_again_the_one_tried_last src/traffic/endpoint_table.cpp
    [[each.last >= earliest))]] [[each.last <= earliest))]])

fault(endpoints_forget_nothing_that_they_tried src/traffic/endpoint_choice.cpp
    [[if (!longest_ago || each->last < longest_ago->last)]] [[if (!longest_ago || each->last > longest_ago->last)]])

fault(endpoints_leave_attempts_running src/traffic/endpoint_choice.cpp
    [[        if (each.runs) {]] [[        if (false) {]])

fault(endpoints_copy_what_was_tried src/traffic/endpoint_choice.cpp
    [[    : table_(other.table_) {}]] [[    : table_(other.table_)
    , count_(other.count_)
    , few_(other.few_) {}]])

# --- breakers

fault(endpoints_keep_a_full_one_available src/traffic/endpoint_table.cpp
    [[        if (!one.breaker_.is_closed() && one.breaker_.open_until(now) > now) // it was the last place of a probe
            place(id, now, false);
]] [[]])

fault(endpoints_tell_nothing_of_a_first_probe src/traffic/endpoint_table.cpp
    [[        if (made) {]] [[        if (false) {]])

fault(endpoints_do_not_see_a_breaker_open src/traffic/endpoint_table.cpp
    [[if (at.is_refused_ || at.breaker_.open_until(now) > now)]] [[if (at.is_refused_)]])

fault(endpoints_are_refused_until_the_last_returns src/traffic/due_heap.hpp
    [[heap_[below + 1].is_before(heap_[below])]] [[heap_[below].is_before(heap_[below + 1])]])

fault(endpoints_all_return_at_once src/traffic/endpoint_table.cpp
    [[if (!first.empty() && first.first_time() <= now) {]] [[if (!first.empty() && first.first_time() < now) {]])

fault(endpoints_name_a_time_while_probes_run src/traffic/endpoint_table.cpp
    [[return {all.probed.empty() ? first : (time_point::max)(), error::circuit_open};]] [[return {first, error::circuit_open};]])

# --- slow ones

fault(endpoints_eject_at_the_first_slow_success src/traffic/endpoint_table.cpp
    [[if (at.slow_in_row_ < slow_least_ || all.slow.size()]] [[if (at.slow_in_row_ < 1 || all.slow.size()]])

fault(endpoints_count_slow_successes_in_all src/traffic/endpoint_table.cpp
    [[    if (!is_slow)
        at.slow_in_row_ = 0;
]] [[]])

fault(endpoints_hear_nothing_of_defeats src/traffic/endpoint_table.cpp
    [[    else if (end.is_beaten)
        hear_of_defeat(at, now);
]] [[]])

fault(endpoints_eject_slow_ones_for_as_long_each_time src/traffic/endpoint_table.cpp
    [[at.times_slow_++]] [[at.times_slow_]])

fault(endpoints_compare_with_themselves src/traffic/step_counts.hpp
    [[        remove(own);
        latency_step const median = at(all_ / 2);]] [[        remove(0);
        latency_step const median = at(all_ / 2);]])

fault(endpoints_remember_the_defeats_before src/traffic/endpoint_table.cpp
    [[        at.latency_ = recent_latency();
        at.slow_in_row_ = 0;]] [[        at.latency_ = recent_latency();]])

fault(endpoints_count_medians_of_those_that_are_out src/traffic/endpoint_table.cpp
    [[    all.slots[id].position = nobody;
    count(id, 0);]] [[    all.slots[id].position = nobody;]])

fault(endpoints_eject_more_than_their_share src/traffic/endpoint_table.cpp
    [[return most - std::min(most, members_->count_out());]] [[return most;]])

fault(endpoints_eject_the_last_one src/traffic/endpoint_table.cpp
    [[std::min(static_cast<std::size_t>(share), all - 1)]] [[static_cast<std::size_t>(share)]])

fault(endpoints_bring_back_no_slow_one_in_time src/traffic/endpoint_table.cpp
    [[!all.slow.empty() && all.slow.first_time() <= now]] [[false]])

# --- rest

fault(endpoints_rest_as_the_last_wish_says src/traffic/endpoint_table.cpp
    [[at.rests_until_ = std::max(at.rests_until_.load(), until);]] [[at.rests_until_ = until;]])

# --- lists

fault(endpoints_forget_who_has_left src/traffic/endpoint_table.cpp
    [[    departed_.swap(left.forgotten);
]] [[]])

fault(endpoints_forget_who_is_slow src/traffic/endpoint_table.cpp
    [[            made->slow.set(id, back);]] [[            made->available.push_back(id);]])

fault(endpoints_keep_more_slow_ones_than_their_share src/traffic/endpoint_table.cpp
    [[    place(id, latest_, false);
    if (all.slow.size() > allowed_slow())
        bring_back_slow();]] [[    place(id, latest_, false);]])

fault(endpoints_mistake_one_for_another src/traffic/endpoint_table.cpp
    [[return id < slots.size() && &at(id) == &one ? id : nobody;]] [[return id < slots.size() ? id : nobody;]])

fault(endpoints_find_the_next_greater_one include/asio_retry/detail/traffic/value_finder.hpp
    [[if (found != order_.end() && wanted < *values_[*found])]] [[if (false)]])
