# Mistakes in backoffs, jitters, profiles, errors and what servers say.

noticed_by(tests_of_policy)

# --- backoff and durations

fault(backoff_ignores_its_cap 1 src/policy/backoff.cpp
    [[std::min(cap_, shape_.ceiling]] [[std::max(duration::zero(), shape_.ceiling]])

fault(shape_grows_too_late D3 src/policy/backoff_shapes.cpp
    [[shape.factor, failures - 1)]] [[shape.factor, failures - 2)]])

fault(factor_may_be_no_number 4 src/policy/backoff.cpp
    [[!std::isfinite(factor) || ]] [[]])

fault(shape_of_a_callable_hides_a_negative_result 4 src/policy/backoff_shapes.cpp
    [[non_negative("backoff", function(failures))]] [[std::max<duration>(function(failures), duration::zero())]])

fault(chains_have_any_depth 42 src/policy/backoff.cpp
    [[depth > detail::greatest_depth]] [[false]])

fault(duration_wraps_round_at_the_greatest 56 include/asio_retry/duration.hpp
    [[counted, greatest / per::num]] [[counted, greatest]])

# --- jitter

fault(jitter_draws_beyond_the_cap 2 src/policy/jitter_kinds.cpp
    [[step.ceiling))), bound}]] [[step.ceiling))), greatest}]])

fault(jitter_that_adds_piles_up_at_the_cap 83 src/policy/jitter_kinds.cpp
    [[bound - std::min(bound, added_width(*this, step.ceiling))]] [[bound]])

fault(jitter_ignores_its_own_cap E1 src/policy/jitter.cpp
    [[std::min(cap_, unit_ * static_cast<duration::rep>(counts))]] [[unit_ * static_cast<duration::rep>(counts)]])

fault(jitter_is_not_decorrelated B4 src/policy/jitter_kinds.cpp
    [[saturating_triple(step.previous)]] [[saturating_triple(step.base)]])

fault(random_is_biased 3 src/policy/random.cpp
    [[while (drawn > span);
    return least + drawn;]] [[while (false);
    return least + drawn % (span + 1);]])

# --- policies and gates

fault(policy_has_the_later_deadline_when_nested 51 src/policy/retry_policy.cpp
    [[outer.deadline < s.deadline.value_or(time_point::max())]] [[outer.deadline != time_point::max()]])

fault(policy_retries_when_nested 32 src/policy/retry_policy.cpp
    [[!s.retry_when_nested]] [[!s.retry_when_nested && !s.max_attempts]])

fault(gate_does_not_go_back_to_the_attempt_around_it 75 src/policy/handed_gate.cpp
    [[left, left | bits_]] [[left, left]])

fault(gates_let_begin_what_a_later_one_refuses
    all_gates.an_attempt_that_a_later_one_refuses_was_abandoned_in_the_earlier_ones src/policy/retry_gate.cpp
    [[end_first(i, number, now);]] [[]])

# --- errors

fault(permanent_is_not_found_inside_another_exception F5 src/policy/permanent.cpp
    [[inner = outer->nested_ptr()]] [[static_cast<void>(outer)]])

fault(failure_is_known_by_its_number_alone
    failure_class.of_the_same_code_in_another_category src/policy/failure_class.cpp
    [[condition.category() == boost::system::generic_category()]] [[condition.value() != 0]])

fault(certificates_are_retried 54 src/policy/retryable.cpp
    [[!predicate.any && is_protocol_failure]] [[false && is_protocol_failure]])

# --- what servers say

fault(pushback_wraps_round 29 src/policy/field_text.hpp
    [[(greatest - digit) / 10]] [[greatest / 5]])

fault(timeout_is_rounded_up 65 src/policy/deadline_fields.cpp
    [[(left / unit->one)]] [[((left + unit->one - duration(1)) / unit->one)]])

fault(timeout_of_no_deadline_is_written 65 src/policy/deadline_fields.cpp
    [[to_timeout_ms.margin", margin);
    if (deadline == time_point::max())]] [[to_timeout_ms.margin", margin);
    if (false)]])

fault(event_forgets_what_the_attempt_heeded 49 src/policy/retryable.cpp
    [[failure.said() ? failure.said() : facts.heeded]] [[failure.said()]])

fault(kind_of_a_failure_ignores_the_judgement 50 src/policy/retryable.cpp
    [[if (failure.own_kind() != failure_kind::none)
        return failure.own_kind();]] [[]])
