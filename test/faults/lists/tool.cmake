# fault(name file [[text]] [[replacement]]): a mistake in what the tool explains and studies.

noticed_by(tool_tests)

fault(explanation_adds_up_beyond_all_durations src/tool/explanation.cpp
    [[return a > duration::max() - b ? duration::max() : a + b;]] [[return a + b;]])

fault(explanation_has_a_mean_without_the_cap src/tool/range_of_delays.hpp
    [[        if (range.greatest <= jitter_.cap())
            return]] [[        if (range.least <= jitter_.cap())
            return]])

fault(explanation_counts_the_cap_once_more src/tool/range_of_delays.hpp
    [[(below + (greatest - last) * cap)]] [[(below + (greatest - last + 1) * cap)]])

fault(explanation_has_one_draw_less src/tool/explanation.cpp
    [[for (std::size_t i = 0; i != request.draws; ++i) {]] [[for (std::size_t i = 1; i < request.draws; ++i) {]])

fault(explanation_does_not_sort_its_draws src/tool/explanation.cpp
    [[        std::sort(f.draws.begin(), f.draws.end());]] [[        std::reverse(f.draws.begin(), f.draws.end());]])

fault(explanation_sums_the_last_delay_only src/tool/explanation.cpp
    [[        before = f;
]] [[]])

fault(explanation_has_the_later_limit src/tool/explanation.cpp
    [[least = std::min(least.value_or(duration::max()), *settings.total_timeout);]] [[least = *settings.total_timeout;]])

fault(explanation_leaves_the_last_attempt_out_of_the_longest_time src/tool/explanation.cpp
    [[at_most(sum(*settings.max_elapsed, *settings.attempt_timeout));]] [[at_most(*settings.max_elapsed);]])

fault(explanation_stops_at_its_limit src/tool/explanation.cpp
    [[        bool const is_last = each->mean > left;]] [[        bool const is_last = each->mean >= left;]])

fault(explanation_has_a_wait_after_the_last_attempt src/tool/explanation.cpp
    [[settings.max_attempts ? *settings.max_attempts - 1 : most]] [[settings.max_attempts ? *settings.max_attempts : most]])

fault(explanation_expects_no_last_failure src/tool/explanation.cpp
    [[        sum.successes += 1 - all_fail;]] [[        sum.successes += 1;]])

fault(quantile_is_one_too_high src/tool/sample.hpp
    [[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1]] [[std::clamp<std::size_t>(rank, 0, sorted.size() - 1)]])

fault(deviation_is_that_of_all src/tool/sample.hpp
    [[static_cast<double>(values_.size() - 1));]] [[static_cast<double>(values_.size()));]])

fault(rounds_serve_one_more src/tool/rounds_study.cpp
    [[        if (round.served < capacity) {]] [[        if (round.served <= capacity) {]])

fault(rounds_have_clients_that_come_twice src/tool/rounds_study.cpp
    [[        next = std::max(next, start_of(round_at(now) + 1));
]] [[]])

fault(rounds_forget_who_gave_up src/tool/rounds_study.cpp
    [[            ++result.gave_up;
]] [[]])

fault(contention_has_lost_updates src/tool/occ_study.cpp
    [[            ++version_;
]] [[            version_ += c.read_version == 0;
]])

fault(contention_counts_successes src/tool/occ_study.cpp
    [[            ++writes_;
            if (c.read_version != version_)
                return send(message::kind::write_failure, m.from, duration::zero());]] [[            if (c.read_version != version_)
                return send(message::kind::write_failure, m.from, duration::zero());
            ++writes_;]])

fault(simulated_attempt_ends_by_itself_at_its_limit src/tool/simulated_caller.cpp
    [[        machine_.on_attempt_limit();
]] [[]])

fault(simulated_requests_come_half_as_often src/tool/simulated_caller.cpp
    [[mean_ns(1e9 / per_second)]] [[mean_ns(2e9 / per_second)]])

fault(simulated_server_keeps_whatever_comes src/tool/simulated_server.hpp
    [[if (requests_.size() >= places_)]] [[if (false)]])

fault(slot_counts_begin_with_the_first src/tool/slot_counts.hpp
    [[auto i = static_cast<std::size_t>(begin.time_since_epoch() / slot_);]] [[std::size_t i = 0;]])

fault(slots_are_steady_while_they_are_not src/tool/slot_counts.hpp
    [[slots[result - 1] >= least]] [[slots[result - 1] < least]])

fault(ethernet_study_does_not_count_the_last_slot src/tool/ethernet_study.cpp
    [[result.slots = number + 1;]] [[result.slots = number;]])

fault(pushback_study_lets_the_first_attempts_in src/tool/pushback_study.cpp
    [[if (events.now() == time_point())]] [[if (false)]])

fault(amplification_study_has_a_layer_less src/tool/amplification_study.cpp
    [[for (unsigned layer = setting.layers; layer-- != 0;)]] [[for (unsigned layer = setting.layers; --layer != 0;)]])

fault(study_report_has_a_number_for_what_never_happens src/tool/study_report_formats.cpp
    [[std::isnan(row.figures[i]) ? json::value(nullptr) :]] [[false ? json::value(nullptr) :]])

fault(fleet_study_has_a_store_without_a_bound src/tool/simulated_store.hpp
    [[std::min(capacity_, tokens_ + request.earned + per_second_ * passed);]] [[tokens_ + 7000 + request.earned + per_second_ * passed;]])

fault(fleet_study_grants_nothing src/tool/simulated_store.hpp
    [[std::min<double>(request.wanted, std::floor(tokens_));]] [[0;]])
