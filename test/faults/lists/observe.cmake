# Mistakes in metrics and in what observers are told.

noticed_by(tests_of_observe)

fault(metrics_put_a_bound_above src/observe/buckets.hpp
    [[std::ranges::lower_bound(]] [[std::ranges::upper_bound(]])

fault(labels_escape_what_is_escaped src/observe/labels.cpp
    [[if (c == '\\' && (next == "\\" || next == "\"" || next == "n"))]] [[if (false)]])

fault(labels_may_be_beyond_unicode src/observe/labels.cpp
    [[first == 0xf4 ? 0x8f : 0xbf]] [[0xbf]])

fault(story_calls_what_is_abandoned_a_success src/policy/machine_story.cpp
    [[event.failure = is_abandoned ? failure_kind::permanent : kind;]] [[event.failure = kind;]])

fault(story_ends_in_an_attempt src/policy/machine_story.cpp
    [[    if (is_admitted_)
        tell_abandoned(reason == stop_reason::cancelled]] [[    if (is_admitted_ && policy_.settings().gate)
        tell_abandoned(reason == stop_reason::cancelled]])

# --- labels and gauges

fault(gauges_of_a_name_are_scattered src/observe/retry_metrics.cpp
    [[last == gauges_.rend() ? gauges_.end() : last.base()]] [[gauges_.end()]])

fault(gauges_may_have_common_labels src/observe/metrics_text.cpp
    [[            detail::label_text labels = detail::gauge_labels(given);
            check(family, labels);]] [[            detail::label_text labels = detail::gauge_labels(given);]])

fault(gauges_are_added_one_by_one src/observe/retry_metrics.cpp
    [[    for (auto const& each : shared)
        check(*each);
    gauges_.reserve(gauges_.size() + shared.size());
    for (auto& each : shared) {]] [[    for (auto& each : shared) {
        check(*each);]])

# --- names of others

fault(metrics_take_hedges_for_retries src/observe/retry_metrics.cpp
    [[++(event.is_hedge ? hedges_ : retries_);]] [[++retries_;]])

fault(grpc_counts_calls_without_a_retry src/observe/foreign_counts.hpp
    [[if (event.attempt > 1)]] [[if (event.attempt > 0)]])

fault(bounds_are_no_labels_of_other_libraries src/observe/exposition.cpp
    [[1e-4 <= magnitude]] [[1e-3 <= magnitude]])
