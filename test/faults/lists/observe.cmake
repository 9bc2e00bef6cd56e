# Mistakes in what is counted, and in its text.

noticed_by(tests_of_observe)

fault(observer_is_told_of_a_retry_without_its_error src/policy/machine_story.cpp
    [[    event.error = failure.error();
    event.failure = kind_;
    event.delay = delay;]] [[    event.failure = kind_;
    event.delay = delay;]])

fault(metrics_count_first_attempts_as_retries src/observe/retry_metrics.cpp
    [[        if (event.attempt > 1)
            ++retries_;]] [[        ++retries_;]])

fault(metrics_count_all_as_retried src/observe/retry_metrics.cpp
    [=[[event.attempt > 1];]=] [=[[event.attempt > 0];]=])

fault(metrics_put_a_bound_above src/observe/retry_metrics.cpp
    [[value > greatest_of(bucket)]] [[value >= greatest_of(bucket)]])

fault(metrics_do_not_cumulate src/observe/retry_metrics.cpp
    [[count += buckets_]] [[count = buckets_]])

fault(metrics_let_a_gauge_take_the_name_of_a_bucket src/observe/retry_metrics.cpp
    [[rest.empty() || rest == "_bucket" ||]] [[rest.empty() ||]])

fault(metrics_ask_a_copy_of_a_gauge src/observe/retry_metrics.cpp
    [[text.sample(name, (*value)());]] [[text.sample(name, std::function<double()>(*value)());]])

fault(metrics_have_gauges_of_one_name src/observe/retry_metrics.cpp
    [[is_own(name) || std::ranges::any_of(]] [[is_own(name) && std::ranges::any_of(]])

fault(labels_do_not_escape_quotes src/observe/labels.cpp
    [[else if (c == '\\' || c == '"')]] [[else if (c == '\\')]])

fault(labels_do_not_escape_backslashes src/observe/labels.cpp
    [[else if (c == '\\' || c == '"')]] [[else if (c == '"')]])

fault(labels_do_not_escape_line_feeds src/observe/labels.cpp
    [[result_ += c == '\n' ? "\\n" : rest_.substr(0, length);]] [[result_ += rest_.substr(0, length);]])

fault(labels_escape_what_is_escaped src/observe/labels.cpp
    [[if (c == '\\' && (next == "\\" || next == "\"" || next == "n"))]] [[if (false)]])

fault(labels_may_have_the_names_of_others src/observe/labels.cpp
    [[            if (name == own)]] [[            if (false)]])

fault(labels_may_be_there_twice src/observe/labels.cpp
    [[        names_.push_back(name);
]] [[]])

fault(labels_may_have_half_a_pair src/observe/labels.cpp
    [[first == 0xed ? 0x9f : 0xbf]] [[0xbf]])

fault(labels_may_be_beyond_unicode src/observe/labels.cpp
    [[first == 0xf4 ? 0x8f : 0xbf]] [[0xbf]])

fault(exposition_writes_infinity_as_c_does src/observe/exposition.cpp
    [[    if (std::isinf(value))
        return value > 0 ? "+Inf" : "-Inf";
]] [[]])

fault(exposition_has_no_comma_after_common_labels src/observe/exposition.cpp
    [[!common_.empty() && !labels.empty() ? "," : ""]] [[""]])

# --- what observers are told

fault(story_begins_twice src/policy/machine_story.cpp
    [[ || (story_ && story_->number != 0) || !story())]] [[ || !story())]])

fault(story_has_the_number_of_another src/policy/machine_story.cpp
    [[return last.fetch_add(1, std::memory_order_relaxed) + 1;]] [[return last.load(std::memory_order_relaxed) + 1;]])

fault(story_goes_on_though_its_observer_cancels src/policy/machine_story.cpp
    [[    return stopping_ == stopping::no;]] [[    return true;]])

fault(story_lets_a_cancellation_come_between src/policy/machine_story.cpp
    [[    return stopping_ == stopping::no;]] [[    return !cancelled();]])

fault(story_has_ends_of_what_did_not_begin src/policy/machine_story.cpp
    [[    if (!has_policy_observer() || !story_->is_announced)]] [[    if (!has_policy_observer())]])

fault(story_calls_what_is_abandoned_a_success src/policy/machine_story.cpp
    [[outcome == attempt_end::how::abandoned ? failure_kind::permanent : kind;]] [[kind;]])

fault(story_refuses_the_attempt_before src/policy/machine_story.cpp
    [[    event.what = observation::kind::refused;
    event.attempt = attempts_ + 1;]] [[    event.what = observation::kind::refused;
    event.attempt = attempts_;]])

fault(story_keeps_refused_leases_to_itself src/policy/machine_story.cpp
    [[    observe_refusal(error_code(), kind_, now);
]] [[]])

fault(story_goes_back_in_time src/policy/machine_story.cpp
    [[    event.now = story_->seen;]] [[    event.now = now;]])

fault(story_lasts_since_the_last_event src/policy/machine_story.cpp
    [[elapsed_between(story_->initiated, std::max(story_->seen, now));]] [[elapsed_between(story_->seen, std::max(story_->seen, now));]])

fault(story_ends_twice src/policy/machine_story.cpp
    [[    story_->number = 0;
]] [[]])

fault(story_ends_in_an_attempt src/policy/machine_story.cpp
    [[    if (is_admitted_)
        tell_abandoned(now);
    give_lease_back();]] [[    if (is_admitted_ && policy_.settings().gate)
        tell_abandoned(now);
    give_lease_back();]])

fault(labels_may_be_longer_than_they_need_in_three_bytes src/observe/labels.cpp
    [[first == 0xe0 ? 0xa0 : 0x80]] [[0x80]])

fault(labels_may_be_longer_than_they_need_in_four_bytes src/observe/labels.cpp
    [[first == 0xf0 ? 0x90 : 0x80]] [[0x80]])

fault(labels_may_be_without_their_last_of_four_bytes src/observe/labels.cpp
    [[&& is_tail(2) && is_tail(3)]] [[&& is_tail(2)]])

fault(labels_may_be_without_their_third_of_four_bytes src/observe/labels.cpp
    [[&& is_tail(2) && is_tail(3)]] [[&& is_tail(3)]])

fault(labels_may_be_without_their_last_of_three_bytes src/observe/labels.cpp
    [[0xbf) && is_tail(2) ? 3 : 0;]] [[0xbf) ? 3 : 0;]])

fault(labels_may_be_far_beyond_unicode src/observe/labels.cpp
    [[first <= 0xf4)]] [[first <= 0xf7)]])

fault(labels_may_begin_with_a_tail src/observe/labels.cpp
    [[if (first < 0x80)]] [[if (first <= 0x80)]])

fault(help_may_be_no_utf_8 src/observe/retry_metrics.cpp
    [[if (!detail::is_utf_8(help))]] [[if (help.empty() && !detail::is_utf_8(help))]])
