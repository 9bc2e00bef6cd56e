# Mistakes in metrics and in what observers are told.

noticed_by(tests_of_observe)

fault(metrics_put_a_bound_above src/observe/buckets.hpp
    [[std::ranges::lower_bound(]] [[std::ranges::upper_bound(]])

fault(labels_escape_what_is_escaped src/observe/labels.cpp
    [[if (c == '\\' && (next == "\\" || next == "\"" || next == "n"))]] [[if (false)]])

fault(labels_may_be_beyond_unicode src/observe/labels.cpp
    [[first == 0xf4 ? 0x8f : 0xbf]] [[0xbf]])

fault(story_calls_what_is_abandoned_a_success src/policy/machine_story.cpp
    [[outcome == attempt_end::how::abandoned ? failure_kind::permanent : kind;]] [[kind;]])

fault(story_ends_in_an_attempt src/policy/machine_story.cpp
    [[    if (is_admitted_)
        tell_abandoned(now);
    give_lease_back();]] [[    if (is_admitted_ && policy_.settings().gate)
        tell_abandoned(now);
    give_lease_back();]])
