# Mistakes in metrics, traces and what observers are told.

noticed_by(tests_of_observe)

fault(gate_that_cancels_does_not_keep_the_attempt_from_beginning 60 src/policy/retry_machine.cpp
    [[ && !cancelled(); // by the gate]] [[; // by the gate]])

fault(story_calls_what_is_abandoned_a_success 82 src/policy/narrator_events.cpp
    [[is_abandoned ? failure_kind::permanent : end.kind]] [[end.kind]])

fault(story_forgets_the_gate_at_the_end
    observation_facts.name_the_gate_that_refused_the_retry src/policy/narrator_events.cpp
    [[event.gate = story_->refuser;]] [[event.gate = {};]])

fault(log_line_may_have_a_line_break log_observer.escapes_control_characters src/observe/log_observer.cpp
    [[as_one_line(event.message())]] [[event.message()]])

fault(metrics_put_a_bound_above metrics.delays_and_lengths_are_histograms src/observe/buckets.hpp
    [[std::ranges::lower_bound(]] [[std::ranges::upper_bound(]])

fault(labels_escape_what_is_escaped metrics.values_of_labels_are_escaped src/observe/labels.cpp
    [[c == '\\' && (next == "\\" || next == "\"" || next == "n")]] [[false]])

fault(gauges_may_have_common_labels
    labelled_gauges.refuse_common_labels_of_the_same_name src/observe/metrics_text.cpp
    [[check(family, labels);]] [[]])

fault(grpc_counts_calls_without_a_retry
    foreign_names.of_grpc_count_retries_and_hedges_of_a_call src/observe/foreign_counts.hpp
    [[event.attempt <= 1]] [[event.attempt < 1]])

fault(traces_count_an_operation_for_each_observer 68 src/observe/retry_traces.cpp
    [[if (known)]] [[if (false)]])
