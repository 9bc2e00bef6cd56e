# Mistakes in metrics and in what observers are told.

noticed_by(tests_of_observe)

fault(metrics_put_a_bound_above src/observe/buckets.hpp
    [[std::ranges::lower_bound(]] [[std::ranges::upper_bound(]])

fault(labels_escape_what_is_escaped src/observe/labels.cpp
    [[if (c == '\\' && (next == "\\" || next == "\"" || next == "n"))]] [[if (false)]])

fault(labels_may_be_beyond_unicode src/text/utf_8.cpp
    [[first == 0xf4 ? 0x8f : 0xbf]] [[0xbf]])

fault(story_calls_what_is_abandoned_a_success src/policy/machine_story.cpp
    [[event.failure = is_abandoned ? failure_kind::permanent : kind;
    event.took = took;]] [[event.failure = kind;
    event.took = took;]])

fault(story_ends_in_an_attempt src/policy/machine_story.cpp
    [[    if (is_admitted_)
        tell_abandoned(reason ==]] [[    if (is_admitted_ && policy_.settings().gate)
        tell_abandoned(reason ==]])

fault(story_forgets_the_gate_at_the_end src/policy/machine_story.cpp
    [[        event.gate = story_->last_refuser();]] [[        event.gate = {};]])

# --- what is told of hedges

fault(hedge_story_has_the_failure_of_a_loser src/hedge/hedge_machine.cpp
    [[    take(number);
    has_marked_ =]] [[    take(number);
    if (story_)
        story_->last = failure;
    has_marked_ =]])

fault(hedge_story_forgets_when_a_loser_ends src/hedge/hedge_machine.cpp
    [[        end_attempt(number, attempt_end::how::failed, failure_kind::timeout, one.heeded, now);
    else
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), now);]]
    [[        end_attempt(number, attempt_end::how::failed, failure_kind::timeout, one.heeded, now);
    else
        end_attempt(number, attempt_end::how::abandoned, failure_kind::none, pushback(), {});]])

fault(hedge_story_blames_a_deadline_that_was_not_reached src/hedge/hedge_observation.cpp
    [[event.error == timed_out_error() && end >= deadline_)]] [[true)]])

# --- lines of a log

fault(log_line_may_have_a_line_break src/observe/log_observer.cpp
    [[    line.message = is_slow ? "no result yet" : as_one_line(event.message());]]
    [[    line.message = is_slow ? "no result yet" : event.message();]])

fault(log_calls_a_cancellation_an_error src/observe/log_observer.cpp
    [[event.reason == stop_reason::cancelled ? log_level::info : log_level::error;]] [[log_level::error;]])

# --- labels and gauges

fault(gauges_of_a_name_are_scattered src/observe/retry_metrics.cpp
    [[last == gauges_.rend() ? gauges_.end() : last.base()]] [[gauges_.end()]])

fault(gauges_may_have_common_labels src/observe/metrics_text.cpp
    [[            detail::label_text labels = detail::gauge_labels(given);
            check(family, labels);]] [[            detail::label_text labels = detail::gauge_labels(given);]])

# --- names of others

fault(metrics_take_hedges_for_retries src/observe/retry_metrics.cpp
    [[++(event.is_hedge ? hedges_ : retries_);]] [[++retries_;]])

fault(grpc_counts_calls_without_a_retry src/observe/foreign_counts.hpp
    [[if (event.attempt <= 1)]] [[if (event.attempt < 1)]])

fault(bounds_are_no_labels_of_other_libraries src/observe/exposition.cpp
    [[1e-4 <= magnitude]] [[1e-3 <= magnitude]])

# --- traces

fault(traces_count_an_operation_for_each_observer src/observe/retry_traces.cpp
    [[        if (known)
            return;
]] [[]])

fault(traces_give_the_operation_the_id_of_an_attempt src/observe/retry_traces.cpp
    [[random(seed_ + 1 + attempt, ordinal)]] [[random(seed_ + attempt, ordinal)]])
