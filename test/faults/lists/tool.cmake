# fault(name file [[text]] [[replacement]]): a mistake in what the tool explains and studies.

noticed_by(tool_tests)

fault(explanation_adds_up_beyond_all_durations src/tool/limits_of_time.hpp
    [[return a > duration::max() - b ? duration::max() : a + b;]] [[return a + b;]])

fault(explanation_has_a_mean_without_the_cap src/tool/range_of_delays.hpp
    [[        if (range.greatest <= jitter_.cap())
            return]] [[        if (range.least <= jitter_.cap())
            return]])

fault(explanation_counts_the_cap_once_more src/tool/range_of_delays.hpp
    [[(below + (greatest - last) * cap)]] [[(below + (greatest - last + 1) * cap)]])

fault(explanation_has_a_least_delay_below_the_unit src/tool/range_of_delays.hpp
    [[full_jitter().unit(kind.unit()).at_least(kind.at_least());]] [[full_jitter().at_least(kind.at_least());]])

fault(explanation_has_one_draw_less src/tool/explanation.cpp
    [[for (std::size_t i = 0; i != request.draws; ++i) {]] [[for (std::size_t i = 1; i < request.draws; ++i) {]])

fault(explanation_does_not_sort_its_draws src/tool/explanation.cpp
    [[        std::sort(f.draws.begin(), f.draws.end());]] [[        std::reverse(f.draws.begin(), f.draws.end());]])

fault(explanation_sums_the_last_delay_only src/tool/limits_of_time.cpp
    [[        passed = *each;
]] [[]])

fault(explanation_has_the_later_limit src/tool/limits_of_time.cpp
    [[earliest_ = std::min(earliest_.value_or(duration::max()), *limit);]] [[earliest_ = *limit;]])

fault(explanation_knows_no_limit_of_all_waits src/tool/limits_of_time.cpp
    [[{settings.max_elapsed, settings.max_waited, settings.total_timeout}]] [[{settings.max_elapsed, settings.total_timeout}]])

fault(explanation_takes_its_own_end_for_that_of_the_policy src/tool/played_runs.cpp
    [[while (attempts != 0 && attempts <= most_attempts_in_a_run && operation.next())]] [[while (attempts != 0 && attempts < most_attempts_in_a_run && operation.next())]])

fault(explanation_adds_up_beyond_its_limit src/tool/limits_of_time.cpp
    [[std::min(saturating_sum(passed, delay), earliest_.value_or(duration::max()));]] [[saturating_sum(passed, delay);]])

fault(explanation_has_the_longest_wait_after_the_longest src/tool/limits_of_time.cpp
    [[end_of_wait(before.cumulative_least, of.greatest) - before.cumulative_least;]] [[end_of_wait(before.cumulative_greatest, of.greatest) - before.cumulative_greatest;]])

fault(explanation_has_the_sums_of_all_delays_under_a_limit src/tool/explanation.cpp
    [[if (result.is_whole && !is_limited && !result.failures.empty())]] [[if (result.is_whole && !result.failures.empty())]])

fault(explanation_leaves_the_last_attempt_out_of_the_longest_time src/tool/explanation.cpp
    [[at_most(saturating_sum(*settings.max_elapsed, *settings.attempt_timeout));]] [[at_most(*settings.max_elapsed);]])

fault(explanation_stops_at_its_limit src/tool/limits_of_time.cpp
    [[earliest_ && each->mean > left;]] [[earliest_ && each->mean >= left;]])

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
    [[        machine_.on_attempt_limit(limit);
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

fault(terminal_is_as_wide_as_it_says_whatever_columns_say src/tool/terminal.cpp
    [[number == 0)
        return std::nullopt;]] [[number != 0)
        return std::nullopt;]])

fault(terminal_has_colours_that_nobody_wants src/tool/terminal.cpp
    [[environment("NO_COLOR").empty()]] [[true]])

fault(terminal_is_asked_for_its_locale_last_first src/tool/terminal.cpp
    [[{"LC_ALL", "LC_CTYPE", "LANG"}]] [[{"LANG", "LC_CTYPE", "LC_ALL"}]])

fault(progress_is_wider_than_the_terminal src/tool/progress_bar.hpp
    [[std::min<std::size_t>(width_of_errors() - beside_it, 40)]] [[40]])

fault(table_leaves_out_what_matters_most src/tool/text_layout.cpp
    [[columns_[*each].importance < columns_[*least].importance]] [[columns_[*each].importance > columns_[*least].importance]])

fault(table_counts_bytes_for_columns src/tool/text_layout.cpp
    [[(c & 0xC0) != 0x80]] [[(c & 0xC0) != 0xFF]])

fault(text_is_one_letter_too_wide src/tool/text_layout.cpp
    [[!is_first && at + 1 + columns > width]] [[!is_first && at + columns > width]])

fault(json_has_lines_without_end src/tool/json_text.cpp
    [[indent + line.size() <= longest_json_line]] [[!line.empty()]])

fault(suggestion_does_not_know_swapped_letters src/tool/nearest.hpp
    [[now[j] = std::min(now[j], before[j - 2] + 1);]] [[now[j] = std::min(now[j], before[j - 2] + 2);]])

fault(suggestion_is_anything src/tool/nearest.hpp
    [[std::max<std::size_t>(1, written.size() / 3) + 1]] [[written.size() + longest]])

fault(chart_is_as_high_whatever_its_legend src/tool/plot.cpp
    [[        tall = std::max(tall, each.needed_height());]] [[        tall = std::max(tall, plot::height);]])

fault(explanation_draws_for_one_policy_only src/tool/explain_command.cpp
    [[policies * asked.failures]] [[asked.failures]])

fault(svg_has_letters_that_are_written_too_long src/tool/xml_text.cpp
    [[code >= least[size] && is_of_xml(code)]] [[is_of_xml(code)]])

fault(svg_has_signs_that_xml_has_not src/tool/xml_text.cpp
    [[        return is_of_xml(first) ? 1 : 0;]] [[        return 1;]])

fault(title_is_cut_within_a_letter src/tool/text_layout.cpp
    [[most_bytes != 0 && !begins_letter(text[most_bytes])]] [[most_bytes > text.size()]])

fault(chart_has_the_mean_at_the_end src/tool/explanation_chart.cpp
    [[static_cast<std::size_t>(place(r.mean))]] [[static_cast<std::size_t>(place(r.greatest))]])

fault(chart_has_whole_columns_only src/tool/explanation_chart.cpp
    [[(sure - std::floor(sure)) * 8]] [[(sure - std::floor(sure)) * 0]])

fault(chart_has_a_scale_of_its_own src/tool/explanation_chart.cpp
    [[longest = std::max(longest, longest_of(what, &explained_failure::usual));]] [[longest = longest_of(what, &explained_failure::usual);]])

fault(chart_reaches_the_failure_after src/tool/explanation_chart.cpp
    [[std::pow(*failure_probability, static_cast<double>(f.failure))]] [[std::pow(*failure_probability, static_cast<double>(f.failure + 1))]])

fault(load_chart_has_its_mark_elsewhere src/tool/explanation_svg.cpp
    [[double const x = failure_probability * 100;]] [[double const x = failure_probability;]])

fault(policy_file_has_the_last_of_two src/tool/policy_list.cpp
    [[if (!names_.insert(name).second)]] [[if (!names_.insert(name).second && name.empty())]])

fault(policy_file_has_lines_from_0 src/tool/policy_list.cpp
    [[for (std::size_t number = 1; !text.empty(); ++number)]] [[for (std::size_t number = 0; !text.empty(); ++number)]])

fault(policy_has_what_is_in_parentheses_for_its_name src/tool/policy_list.cpp
    [[name.find_first_of("()<>\"' \t")]] [[name.find_first_of("<>\"' \t")]])

fault(contention_has_nobody_who_gives_up src/tool/occ_study.cpp
    [[            ++gave_up_;
]] [[]])

fault(contention_has_waits_beyond_all_time src/tool/occ_study.cpp
    [[action.delay >= latest_wait - now_.time_since_epoch()]] [[action.delay < duration::zero()]])

fault(completion_does_not_know_what_an_equals_sign_is src/tool/completion.cpp
    [[           "        before=${COMP_WORDS[COMP_CWORD-2]}\n"]] [[           "        :\n"]])

fault(manual_has_signs_of_roff src/tool/manual.cpp
    [[            result += "\\-";]] [[            result += "-";]])

fault(options_may_have_any_value src/tool/given_options.cpp
    [[    if (option.words.empty())
        return;]] [[    return;]])

fault(options_are_guessed src/tool/given_options.cpp
    [[did_you_mean(option, names)]] [[did_you_mean("", names)]])

fault(policy_name_is_any_bytes src/tool/policy_list.cpp
    [[if (is_control || is_none || no_utf8)]] [[if (is_control || is_none)]])

fault(policy_name_has_what_a_terminal_obeys src/tool/policy_list.cpp
    [[if (is_control || is_none || no_utf8)]] [[if (is_none || no_utf8)]])

fault(policy_file_has_a_key_twice src/tool/repeated_key.cpp
    [[        if (!inside.keys.insert(key_).second && repeated_.empty())]] [[        if (!inside.keys.insert(key_).second && open_.size() > 1)]])

fault(policy_operands_share_a_name src/tool/policy_list.cpp
    [[if (!names.insert(each.name).second)]] [[if (!names.insert(each.name).second && asked.operands.empty())]])

fault(policy_file_has_its_mark_in_a_name src/tool/policy_list.cpp
    [[        text.remove_prefix(byte_order_mark.size());]] [[        text.remove_prefix(0);]])

fault(completion_has_files_that_are_words src/tool/completion.cpp
    [[compopt -o filenames\n]] [[:\n]])

fault(completion_helps_with_no_study_in_zsh src/tool/completion.cpp
    [==[$command == help && $words[3] == simulate ]] && ]==] [==[$command == help ]] && ]==])

fault(policy_file_ends_where_it_cannot_be_read src/tool/policy_list.cpp
    [[if (file != "-" || !std::ferror(stdin))]] [[if (file != "-" || in)]])

fault(policy_may_be_blank src/tool/policy_list.cpp
    [[    if (trimmed(text).empty())]] [[    if (text.empty())]])

fault(policy_operand_is_not_named src/tool/policy_list.cpp
    [[        if (name.empty() && operands.size() == 1)]] [[        if (name.empty())]])

fault(policy_may_be_the_argument_of_any_name src/tool/policy_list.cpp
    [[            (void)parse_policy(meant);
]] [[]])

fault(help_says_nothing_of_a_dumb_terminal src/tool/command_table.cpp
    [[ or TERM is dumb), always]] [[), always]])

fault(version_takes_any_words src/tool/main.cpp
    [[        if (words.size() > 1)]] [[        if (words.empty())]])

fault(explanation_ends_in_time_though_all_begins_anew src/tool/explanation.cpp
    [[!settings.attempt_timeout || may_begin_anew ||]] [[!settings.attempt_timeout ||]])

fault(chart_of_successes_has_a_bound_for_a_figure src/tool/explanation_svg.cpp
    [[(is_least ? ": at least " : ": ")]] [[": "]])

fault(policy_name_may_have_controls_of_two_bytes src/tool/policy_list.cpp
    [[(is_of_two && static_cast<unsigned char>(name[i + 1]) < 0xA0)]] [[false]])

fault(explanation_ends_in_time_though_a_gate_may_refuse_for_ever src/tool/explanation.cpp
    [[ || may_begin_anew || settings.wait_when_refused)]] [[ || may_begin_anew)]])

fault(explanation_has_an_attempt_without_any_time src/tool/played_runs.cpp
    [[std::uint64_t attempts = operation.begins();]] [[std::uint64_t attempts = 1;]])

fault(explanation_has_failures_without_any_time src/tool/limits_of_time.cpp
    [[    if (interrupting_ == duration::zero()) { // no attempt begins]] [[    if (false) {]])
