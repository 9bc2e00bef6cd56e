# Mistakes in backoffs, jitters, profiles, errors and what servers say.

noticed_by(tests_of_policy)

# --- backoff

fault(backoff_ignores_its_cap src/policy/backoff.cpp
    [[return std::min(cap_, shape_.ceiling]] [[return std::max(duration::zero(), shape_.ceiling]])

fault(shape_grows_too_late src/policy/backoff_shapes.cpp
    [[: grown(shape.base, shape.factor, failures - 1);]] [[: grown(shape.base, shape.factor, failures - 2);]])

fault(shape_of_a_callable_hides_a_negative_result src/policy/backoff_shapes.cpp
    [[return non_negative("backoff", function(failures));]] [[return std::max<duration>(function(failures), duration::zero());]])

fault(chain_begins_its_second_part_too_soon src/policy/backoff_shapes.cpp
    [[return failures <= count ? first->ceiling(failures)]] [[return failures < count ? first->ceiling(failures)]])

# --- numbers and durations

fault(duration_is_cut_off src/policy/wide_number.hpp
    [[(twice >> 1) + (twice & 1)]] [[(twice >> 1)]])

fault(duration_wraps_round_at_the_greatest include/asio_retry/duration.hpp
    [[if (std::cmp_greater(counted, greatest / per::num))]] [[if (std::cmp_greater(counted, greatest))]])

# --- jitter

fault(jitter_ignores_its_own_cap src/policy/jitter.cpp
    [[return std::min(cap_, unit_ * static_cast<duration::rep>(counts));]] [[return unit_ * static_cast<duration::rep>(counts);]])

fault(jitter_ends_below_its_least src/policy/jitter.cpp
    [[std::max(range.greatest, lowest)};]] [[range.greatest};]])

fault(jitter_is_not_decorrelated src/policy/jitter_kinds.cpp
    [[saturating_triple(step.previous)]] [[saturating_triple(step.base)]])

fault(jitter_scales_by_less_than_it_should src/policy/jitter_kinds.cpp
    [[duration(std::llround(count))]] [[duration(static_cast<duration::rep>(count))]])

fault(random_streams_are_neighbours src/policy/random.cpp
    [[state_(mix(mix(seed + golden_gamma) ^ mix(~stream)))]] [[state_(mix(seed + golden_gamma) + stream * golden_gamma)]])

fault(random_is_biased src/policy/random.cpp
    [[    while (drawn > span);
    return least + drawn;]] [[    while (false);
    return least + drawn % (span + 1);]])

# --- policies and profiles

fault(policy_has_the_later_deadline_when_nested src/policy/retry_policy.cpp
    [[if (outer.deadline < s.deadline.value_or(time_point::max())) {]] [[if (outer.deadline != time_point::max()) {]])

fault(policy_retries_when_nested src/policy/retry_policy.cpp
    [[        if (!s.retry_when_nested)
            s.max_attempts = 1;]] [[        if (!s.retry_when_nested && !s.max_attempts)
            s.max_attempts = 1;]])

fault(gate_does_not_go_back_to_the_attempt_around_it src/policy/handed_gate.cpp
    [[left, left | bits_))]] [[left, left))]])

fault(gates_keep_what_a_later_one_refuses src/policy/retry_gate.cpp
    [[                while (i > 0)
                    gates_[--i]->give_back(kind);
]] [[]])

fault(gates_let_begin_what_a_later_one_refuses src/policy/retry_gate.cpp
    [[            end_first(i, number, now);
]] [[]])

# --- errors

fault(error_stays_wrapped src/policy/error.cpp
    [[failed(detail::unwrapped(failure->code()));]] [[failed(failure->code()); // as it is]])

fault(error_of_want_of_memory_is_unknown src/policy/error.cpp
    [[detail::thrown_as<std::bad_alloc>(e) ? no_memory_error()]] [[false ? no_memory_error()]])

fault(permanent_is_not_found_inside_another_exception src/policy/permanent.cpp
    [[                inner = outer->nested_ptr();]] [[                static_cast<void>(outer);]])

fault(failure_is_known_by_its_number_alone src/policy/failure_class.cpp
    [[if (condition.category() == boost::system::generic_category())]] [[if (condition.value() != 0)]])

fault(lost_http_connection_is_permanent src/policy/protocol_codes.cpp
    [[    case 2:  // partial_message
]] [[]])

fault(every_library_of_openssl_is_that_of_tls src/policy/protocol_codes.cpp
    [[bits >> 24 == 20 ? bits & 0xfff : 0;]] [[bits & 0xfff;]])

fault(certificates_are_retried src/policy/retryable.cpp
    [[    if (!predicate.any && is_protocol_failure(failure.error()))
        return false;
]] [[]])

# --- what servers say

fault(pushback_wraps_round src/policy/field_text.hpp
    [[if (number > (greatest - digit) / 10)]] [[if (number > greatest / 5)]])

fault(timeout_is_rounded_up src/policy/deadline_fields.cpp
    [[    return std::to_string(left / unit->one) + unit->letter;]]
    [[    return std::to_string((left + unit->one - duration(1)) / unit->one) + unit->letter;]])

fault(timeout_is_read_with_blanks src/policy/deadline_fields.cpp
    [[whole_number<std::int64_t>(text);
    if (!count)]] [[whole_number<std::int64_t>(detail::without_blanks(text));
    if (!count)]])

fault(timeout_forgets_its_margin src/policy/deadline_fields.cpp
    [[elapsed_between(now, deadline) - margin);]] [[elapsed_between(now, deadline));]])

fault(timeout_of_no_deadline_is_written src/policy/deadline_fields.cpp
    [[    detail::non_negative("to_timeout_ms.margin", margin);
    if (deadline == time_point::max())
        return {};
]] [[    detail::non_negative("to_timeout_ms.margin", margin);
]])

fault(event_forgets_what_the_attempt_heeded src/policy/retryable.cpp
    [[    event.said = failure.said() ? failure.said() : facts.heeded;]] [[    event.said = failure.said();]])
