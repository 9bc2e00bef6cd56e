# fault(name file [[text]] [[replacement]]): a mistake in the arithmetic of delays, in what is refused, and in errors.

noticed_by(tests_of_policy)

# --- the shapes of a backoff

fault(backoff_has_a_failure_zero src/policy/backoff.cpp
    [[uncapped_ceiling(shape_, std::max<std::uint64_t>(failures, 1)));]] [[uncapped_ceiling(shape_, failures));]])

fault(backoff_has_the_cap_of_the_chain_alone src/policy/backoff.cpp
    [[return chain ? std::min(cap_, chain->cap_after(]] [[return chain ? std::max(cap_, chain->cap_after(]])

fault(backoff_ignores_its_cap src/policy/backoff.cpp
    [[return std::min(cap_, uncapped_ceiling]] [[return std::max(duration::zero(), uncapped_ceiling]])

fault(backoff_may_be_capped_below_its_base src/policy/backoff.cpp
    [[greatest < uncapped_ceiling(shape_, 1))]] [[greatest < uncapped_ceiling(shape_, 1) / 2)]])

fault(backoff_may_not_be_capped_at_its_base src/policy/backoff.cpp
    [[greatest < uncapped_ceiling(shape_, 1))]] [[greatest <= uncapped_ceiling(shape_, 1))]])

fault(backoff_calls_the_user_to_be_capped src/policy/backoff.cpp
    [[(chain && calls_user(chain->first->shape()))]] [[(chain && calls_user(chain->then->shape()))]])

fault(backoff_takes_any_factor src/policy/backoff.cpp
    [[if (!std::isfinite(factor) || factor < 1)]] [[if (!std::isfinite(factor) || factor < 0)]])

fault(backoff_takes_an_infinite_factor src/policy/backoff.cpp
    [[if (!std::isfinite(factor) || factor < 1)]] [[if (!(factor >= 1))]])

fault(backoff_takes_an_empty_schedule src/policy/backoff.cpp
    [[    if (delays.empty())
        detail::refuse("schedule", "{}", "must have at least one delay");
]] [[]])

fault(backoff_takes_negative_delays_in_a_schedule src/policy/backoff.cpp
    [[    for (duration const d : delays)
        detail::non_negative("schedule", d);
]] [[]])

fault(backoff_takes_a_slot_of_nothing src/policy/backoff.cpp
    [[    if (slot <= duration::zero())]] [[    if (slot < duration::zero())]])

fault(check_lets_the_least_pass src/policy/backoff.cpp
    [[    if (value < least)]] [[    if (value + 1 < least)]])

fault(shape_is_linear_from_the_second_failure src/policy/backoff_shapes.cpp
    [[std::min(failures - 1, greatest_count);]] [[std::min(failures, greatest_count);]])

fault(shape_is_linear_without_an_end src/policy/backoff_shapes.cpp
    [[return from_count(std::min(count_of(initial) + grown, greatest_count));]] [[return from_count(count_of(initial) + grown);]])

fault(shape_grows_too_late src/policy/backoff_shapes.cpp
    [[: grown(base, factor, failures - 1);]] [[: grown(base, factor, failures - 2);]])

fault(shape_grows_beyond_its_greatest_step src/policy/backoff_shapes.cpp
    [[        if (count >= last_to_grow || count * factor >= 0x1p63)
            return greatest;]] [[        if (count * factor >= 0x1p63)
            return greatest;]])

fault(shape_has_another_exponent src/policy/backoff_shapes.cpp
    [[power(to_wide(failures), exponent)]] [[power(to_wide(failures), exponent + 1)]])

fault(shape_has_no_second_one_of_fibonacci src/policy/backoff_shapes.cpp
    [[    std::uint64_t last = 0;
    std::uint64_t current = 1;]] [[    std::uint64_t last = 1;
    std::uint64_t current = 1;]])

fault(shape_stops_halving_one_too_soon src/policy/backoff_shapes.cpp
    [[halvings > 62 ? duration::zero()]] [[halvings > 30 ? duration::zero()]])

fault(shape_has_a_slot_more src/policy/backoff_shapes.cpp
    [[(std::uint64_t(1) << doublings) - 1));]] [[(std::uint64_t(1) << doublings)));]])

fault(shape_doubles_for_ever src/policy/backoff_shapes.cpp
    [[std::min({failures, greatest_exponent, std::uint64_t(63)});]] [[std::min({failures, greatest_exponent});]])

fault(schedule_leaves_its_last_delay_out src/policy/backoff_shapes.cpp
    [[std::min<std::uint64_t>(failures, delays->size())) - 1];]]
    [[std::min<std::uint64_t>(failures, delays->size() - 1)) - 1];]])

fault(chain_begins_its_second_part_too_soon src/policy/backoff_shapes.cpp
    [[return count <= failures ? first->ceiling(count)]] [[return count < failures ? first->ceiling(count)]])

fault(chain_has_the_cap_of_its_first_part src/policy/backoff_shapes.cpp
    [[return count <= failures ? first->cap_after(count) : then->cap_after(count - failures);]] [[return first->cap_after(count);]])

fault(chain_goes_on_counting src/policy/backoff_shapes.cpp
    [[then->ceiling(count - failures);]] [[then->ceiling(count);]])

fault(shape_of_the_user_may_be_negative src/policy/backoff_shapes.cpp
    [[return std::max<duration>(function(failures), duration::zero());]] [[return function(failures);]])

# --- wide numbers

fault(number_saturates_one_too_late src/policy/wide_number.hpp
    [[if (a != 0 && b > greatest_count / a)]] [[if (a != 0 && b > greatest_count / a + 1)]])

fault(number_loses_its_middle src/policy/wide_number.hpp
    [[(middle1 >> 32) + (middle2 >> 32);]] [[(middle2 >> 32);]])

fault(number_is_not_normal src/policy/wide_number.hpp
    [[        high = (high << 1) | (rest >> 63);]] [[        high = (high << 1);]])

fault(number_keeps_the_bit_that_it_shifted src/policy/wide_number.hpp
    [[        rest <<= 1;
]] [[]])

fault(number_is_not_rounded src/policy/wide_number.hpp
    [[    high += rest >> 63;
]] [[]])

fault(number_overflows_when_it_is_rounded src/policy/wide_number.hpp
    [[    high |= carry << 63;
]] [[]])

fault(number_is_half_when_it_is_rounded src/policy/wide_number.hpp
    [[    exponent += static_cast<int>(carry);
]] [[]])

fault(number_grows_out_of_its_exponent src/policy/wide_number.hpp
    [[return {high, std::min(exponent, beyond_all_durations)};]] [[return {high, exponent};]])

fault(power_leaves_the_last_factor_out src/policy/wide_number.hpp
    [[        if ((exponent >>= 1) == 0)]] [[        if ((exponent >>= 1) <= 1)]])

fault(duration_is_cut_off src/policy/wide_number.hpp
    [[(twice >> 1) + (twice & 1)]] [[(twice >> 1)]])

fault(duration_is_too_long_for_its_type src/policy/wide_number.hpp
    [[    if (number.exponent >= 0)
        return duration::max();
]] [[    if (number.exponent > 0)
        return duration::max();
]])

fault(duration_is_more_than_the_greatest src/policy/wide_number.hpp
    [[return from_count(std::min((twice >> 1) + (twice & 1), greatest_count));]] [[return from_count((twice >> 1) + (twice & 1));]])

# --- jitter and randomness

fault(jitter_takes_a_unit_of_nothing src/policy/jitter.cpp
    [[    if (step <= duration::zero())]] [[    if (step < duration::zero())]])

fault(jitter_draws_beyond_the_cap src/policy/jitter.cpp
    [[return beyond_cap_ ? duration::max() : step.cap;]] [[return duration::max() - (step.cap - step.cap);]])

fault(jitter_is_below_its_range_in_units src/policy/jitter.cpp
    [[(range.least % unit_ > duration::zero() ? 1 : 0);]] [[0;]])

fault(jitter_has_no_range_in_large_units src/policy/jitter.cpp
    [[return {unit_ * std::min(least, greatest), unit_ * greatest};]] [[return {unit_ * least, unit_ * greatest};]])

fault(jitter_ignores_its_own_cap src/policy/jitter.cpp
    [[return std::min(cap_, unit_ * static_cast<duration::rep>(counts));]] [[return unit_ * static_cast<duration::rep>(counts);]])

fault(jitter_of_the_user_is_in_no_unit src/policy/jitter.cpp
    [[std::max(least_draw(step), drawn - drawn % unit_));]] [[std::max(least_draw(step), drawn));]])

fault(jitter_of_the_user_may_be_shorter src/policy/jitter.cpp
    [[std::max(least_draw(step), drawn - drawn % unit_));]] [[drawn - drawn % unit_);]])

fault(jitter_ends_below_its_least src/policy/jitter.cpp
    [[std::max(range.greatest, lowest)};]] [[range.greatest};]])

fault(jitter_has_a_least_of_half_a_unit src/policy/jitter.cpp
    [[(least_ % unit_ > duration::zero() ? 1 : 0);]] [[0;]])

fault(jitter_has_its_least_above_the_cap src/policy/jitter.cpp
    [[    return unit_ * std::min(least, greatest);]] [[    return unit_ * std::max(least, greatest - greatest);]])

fault(jitter_takes_a_cap_below_its_least src/policy/jitter.cpp
    [[    if (greatest < least_)]] [[    if (greatest < duration::zero())]])

fault(jitter_takes_any_fraction src/policy/jitter.cpp
    [[if (!(fraction >= 0 && fraction <= 1))]] [[if (!(fraction >= 0))]])

fault(jitter_takes_a_range_that_is_turned_round src/policy/jitter.cpp
    [[    if (!(greatest >= least) || !std::isfinite(greatest))]] [[    if (!std::isfinite(greatest))]])

fault(jitter_is_not_decorrelated src/policy/jitter_kinds.cpp
    [[saturating_triple(step.previous)]] [[saturating_triple(step.base)]])

fault(jitter_is_equal_in_no_half src/policy/jitter_kinds.cpp
    [[return {step.ceiling / 2, step.ceiling};]] [[return {step.ceiling / 3, step.ceiling};]])

fault(jitter_is_proportional_to_one_side src/policy/jitter_kinds.cpp
    [[saturating_sum(step.ceiling, spread)};]] [[step.ceiling};]])

fault(jitter_begins_below_its_least src/policy/jitter.cpp
    [[delay_range{std::max(range.least, lowest),]] [[delay_range{range.least,]])

fault(jitter_is_symmetric_to_one_side src/policy/jitter_kinds.cpp
    [[saturating_sum(step.ceiling, window)};]] [[step.ceiling};]])

fault(jitter_is_uniform_above_the_ceiling src/policy/jitter_kinds.cpp
    [[return {std::min(least, step.ceiling), step.ceiling};]] [[return {least, std::max(least, step.ceiling)};]])

fault(jitter_adds_beyond_all_durations src/policy/jitter_kinds.cpp
    [[a > duration::max() - b ? duration::max() : a + b;]] [[a + b;]])

fault(jitter_scales_by_less_than_it_should src/policy/jitter_kinds.cpp
    [[duration(std::llround(count))]] [[duration(static_cast<duration::rep>(count))]])

fault(jitter_scales_beyond_all_durations src/policy/jitter_kinds.cpp
    [[return count < limit ?]] [[return count < 2 * limit ?]])

fault(jitter_has_no_first_delay_of_polly src/policy/jitter_kinds.cpp
    [[step.failures == 1 ? 0 : polly_total]] [[step.failures == 0 ? 0 : polly_total]])

fault(random_streams_are_neighbours src/policy/random.cpp
    [[state_(mix(mix(seed + golden_gamma) ^ mix(~stream)))]] [[state_(mix(seed + golden_gamma) + stream * golden_gamma)]])

fault(random_leaves_the_greatest_out src/policy/random.cpp
    [[    while (drawn > span);]] [[    while (drawn >= span);]])

fault(random_is_biased src/policy/random.cpp
    [[    while (drawn > span);
    return least + drawn;]] [[    while (false);
    return least + drawn % (span + 1);]])

fault(random_takes_a_range_that_is_turned_round src/policy/random.cpp
    [[    if (least > greatest)
        refuse_range(detail::to_text(least)]] [[    if (least > greatest + duration(1))
        refuse_range(detail::to_text(least)]])

# --- the policy

fault(policy_has_another_base src/policy/retry_policy.cpp
    [[exponential(100ms).cap(20s)]] [[exponential(200ms).cap(20s)]])

fault(policy_allows_no_attempt src/policy/retry_policy.cpp
    [[    if (count < 1)
        detail::refuse("max_attempts", ]] [[    if (count < 0)
        detail::refuse("max_attempts", ]])

fault(policy_allows_no_time_for_an_attempt src/policy/retry_policy.cpp
    [[    if (greatest <= duration::zero())
        detail::refuse("attempt_timeout"]] [[    if (greatest < duration::zero())
        detail::refuse("attempt_timeout"]])

fault(policy_may_take_negative_time src/policy/retry_policy.cpp
    [[    detail::non_negative("total_timeout", greatest);
]] [[]])

fault(policy_has_the_later_deadline_when_nested src/policy/retry_policy.cpp
    [[s.deadline ? std::min(*s.deadline, outer.deadline) : outer.deadline;]] [[outer.deadline;]])

fault(policy_retries_when_nested src/policy/retry_policy.cpp
    [[        if (!s.retry_when_nested)
            s.max_attempts = 1;]] [[        if (!s.retry_when_nested && !s.max_attempts)
            s.max_attempts = 1;]])

fault(policy_forgets_that_it_is_nested src/policy/retry_policy.cpp
    [[        s.is_nested = true;
]] [[]])

# --- what is refused, errors, reasons, and permanent failures

fault(refuse_names_another_value src/policy/refuse.cpp
    [[refuse(field, to_text(value), rule);]] [[refuse(field, to_text(value / 1000), rule);]])

fault(durations_are_written_in_nanoseconds src/policy/duration_text.cpp
    [[std::begin(duration_units), std::end]] [[std::end(duration_units) - 1, std::end]])

fault(refuse_takes_zero_for_negative src/policy/refuse.cpp
    [[    if (value < duration::zero())]] [[    if (value <= duration::zero())]])

fault(error_is_of_a_callback src/policy/error.cpp
    [[    case error::operation_threw:
    case error::result_rejected:
    case error::exhausted:
        return 0;]] [[    case error::operation_threw:
    case error::result_rejected:
        return 0;
    case error::exhausted:
        return static_cast<int>(condition::callback_threw);]])

fault(error_of_any_category_is_of_a_callback src/policy/error.cpp
    [[return value != 0 && code.category() == asio_retry::error_category() &&]] [[return value != 0 &&]])

fault(error_of_no_group_is_in_one_of_none src/policy/error.cpp
    [[return value != 0 && code.category()]] [[return code.category()]])

fault(error_of_want_of_memory_is_unknown src/policy/error.cpp
    [[detail::thrown_as<std::bad_alloc>(e) ? no_memory_error()]] [[false ? no_memory_error()]])

fault(error_stays_wrapped src/policy/error.cpp
    [[failed(detail::unwrapped(failure->code()));]] [[failed(failure->code()); // as it is]])

fault(error_may_be_a_success_although_thrown src/policy/error.cpp
    [[code ? code : error::operation_threw;]] [[code ? code : code;]])

fault(error_of_the_system_becomes_generic src/policy/error.cpp
    [[        return error_code(standard.value(), boost::system::system_category());]]
    [[        return error_code(standard.value(), boost::system::generic_category());]])

fault(reason_has_another_name src/policy/stop_reason.cpp
    [[        return "elapsed";]] [[        return "deadline";]])

fault(permanent_has_a_category_for_each_code src/policy/permanent.cpp
    [[    if (auto const* const category = find(is_of_inner))
        return *category;
]] [[    static_cast<void>(is_of_inner);
]])

fault(permanent_forgets_the_categories_before src/policy/permanent.cpp
    [[new known_category{permanent_category(inner), known_categories};]] [[new known_category{permanent_category(inner), nullptr};]])

fault(permanent_has_another_message src/policy/permanent.cpp
    [[return inner_.message(value); }]] [[return inner_.message(0 * value); }]])

fault(permanent_wraps_what_is_permanent src/policy/permanent.cpp
    [[    if (auto const innermost = detail::find_permanent(exception_))
        *this = *innermost;
]] [[]])

fault(permanent_is_not_found_inside_another_exception src/policy/permanent.cpp
    [[                inner = outer->nested_ptr();]] [[                static_cast<void>(outer);]])

fault(permanent_is_delivered_with_its_mark src/policy/permanent.cpp
    [[error_code(code.value(), category->inner())]] [[code]])

fault(permanent_is_completed_without_its_mark src/policy/permanent.cpp
    [[    return permanent ? error_code(*permanent) : code_of(thrown);]] [[    return permanent ? permanent->code() : code_of(thrown);]])

# --- the published schemes

fault(profile_makes_one_attempt_less src/policy/profiles.cpp
    [[std::numeric_limits<std::int64_t>::max() - 1) + 1;]] [[std::numeric_limits<std::int64_t>::max() - 1);]])

fault(profile_takes_negative_retries src/policy/profiles.cpp
    [[    if (retries < 0)]] [[    if (retries < -1)]])

fault(profile_takes_what_overflows src/policy/profiles.cpp
    [[    if (value > std::chrono::duration_cast]] [[    if (value - value > std::chrono::duration_cast]])

fault(profile_has_a_base_above_its_maximum src/policy/profiles.cpp
    [[exponential(std::min(base, maximum), factor).cap(maximum);]] [[exponential(base, factor).cap(std::max(base, maximum));]])

fault(profile_has_its_window_on_top src/policy/profiles.cpp
    [[whole("memorystore_windowed.maximum", maximum, 2s) - 1s;]] [[whole("memorystore_windowed.maximum", maximum, 2s);]])

fault(profile_has_a_whole_range_on_top src/policy/profiles.cpp
    [[additive_jitter(to - from).unit(1ms)]] [[additive_jitter(to).unit(1ms)]])

fault(profile_draws_in_no_unit src/policy/profiles.cpp
    [[full_jitter().unit(slot)]] [[full_jitter()]])

# --- what failures mean, what peers say, and gates

fault(failure_of_the_system_alone_is_known src/policy/failure_class.cpp
    [[error_code const code = detail::unwrapped(ec);]] [[error_code const code = ec;]])

fault(failure_that_is_marked_is_not_permanent src/policy/failure_class.cpp
    [[    if (detail::find_permanent(ec))
        return hopeless;
]] [[]])

fault(failure_of_exhaustion_is_transient src/policy/failure_class.cpp
    [[code == condition::callback_threw || code == error::exhausted]] [[code == condition::callback_threw]])

fault(failure_is_known_by_its_number_alone src/policy/failure_class.cpp
    [[if (condition.category() == boost::system::generic_category())]] [[if (condition.value() != 0)]])

fault(failure_is_surely_not_done_although_permanent src/policy/failure_class.cpp
    [[what.kind != failure_kind::permanent && what.effect]] [[what.kind != failure_kind::none && what.effect]])

fault(failure_of_redis_goes_by_how_it_begins src/policy/failure_tables.cpp
    [[error_reply.substr(0, error_reply.find_first_of(" \t\r\n"));]] [[error_reply.substr(0, 4);]])

fault(failure_of_600_is_one_of_a_server src/policy/failure_tables.cpp
    [[status < 600 ?]] [[status <= 600 ?]])

fault(failure_of_every_class_08_is_in_doubt src/policy/failure_tables.cpp
    [[ || state == "08001" || state == "08004")]] [[)]])

fault(judgement_of_a_success_heeds_the_peer src/policy/failure_tables.cpp
    [[    if (result.failed)
        result.said]] [[    if (true)
        result.said]])

fault(pushback_wraps_round src/policy/field_text.hpp
    [[if (number > (greatest - digit) / 10)]] [[if (number > greatest / 5)]])

fault(pushback_takes_blanks_for_a_part src/policy/pushback.cpp
    [[    text = without_blanks(text);
]] [[]])

fault(pushback_knows_no_leap_years src/policy/pushback.cpp
    [[if (!date.ok() ||]] [[if (static_cast<unsigned>(date.day()) > 31 ||]])

fault(pushback_has_24_as_an_hour src/policy/pushback.cpp
    [[hour > 23 ||]] [[hour > 24 ||]])

fault(pushback_is_of_the_past_century src/policy/pushback.cpp
    [[int const past = this_year - 49;]] [[int const past = this_year - 99;]])

fault(pushback_loses_what_is_less_than_a_second src/policy/pushback.cpp
    [[return sum_held(before, after);]] [[return after;]])

fault(pushback_of_grpc_is_of_64_bits src/policy/pushback.cpp
    [[if (!count || *count > std::numeric_limits<std::int32_t>::max())]] [[if (!count)]])

fault(gates_keep_what_a_later_one_refuses src/policy/retry_gate.cpp
    [[                while (i > 0)
                    gates_[--i]->give_back(kind);
]] [[]])

fault(gates_let_begin_what_a_later_one_refuses src/policy/retry_gate.cpp
    [[                while (i > 0)
                    gates_[--i]->on_end(unbegun);
]] [[]])

fault(gates_measure_time_if_all_do src/policy/retry_gate.cpp
    [[std::ranges::any_of(gates_]] [[std::ranges::all_of(gates_]])

fault(gates_may_be_null src/policy/retry_gate.cpp
    [[    std::erase(gates, nullptr);
]] [[]])

fault(exhausted_errors_speak_of_attempts src/policy/error.cpp
    [[        return "retrying has ended without success";]] [[        return "the policy allows no further attempt";]])

fault(refusal_names_the_refused_value_as_the_other src/policy/refuse.cpp
    [[refuse(field, value, naming(rule, to_text(other)));]] [[refuse(field, value, naming(rule, to_text(value)));]])

fault(profile_has_a_formula_without_its_cap src/policy/profile_table.cpp
    [["min(64 s, 2^n s), n from 0; 7 attempts"]] [["2^n s, n from 0; 7 attempts"]])

fault(date_has_a_leap_second_in_each_hour src/policy/pushback.cpp
    [[hour == 23 && minute == 59 ? 60 : 59;]] [[minute == 59 ? 60 : 59;]])

fault(date_has_a_leap_second_in_each_minute src/policy/pushback.cpp
    [[hour == 23 && minute == 59 ? 60 : 59;]] [[hour == 23 ? 60 : 59;]])

fault(date_begins_the_year_too_early_before_1970 src/policy/pushback.cpp
    [[std::chrono::floor<std::chrono::days>(now)]] [[std::chrono::time_point_cast<std::chrono::days>(now)]])

fault(duration_wraps_round_at_the_greatest include/asio_retry/duration.hpp
    [[if (std::cmp_greater(counted, greatest / per::num))]] [[if (std::cmp_greater(counted, greatest))]])

fault(duration_wraps_round_at_the_least include/asio_retry/duration.hpp
    [[if (std::cmp_less(counted, least / per::num))]] [[if (std::cmp_less(counted, least))]])

fault(duration_is_no_number include/asio_retry/duration.hpp
    [[        if (counted != counted)
            refuse_no_number();
]] [[]])

fault(duration_of_a_fraction_is_cut include/asio_retry/duration.hpp
    [[counted < 0 ? counted - real(0.5) : counted + real(0.5)]] [[counted]])

fault(duration_of_a_fraction_wraps_round include/asio_retry/duration.hpp
    [[        if (counted >= -static_cast<real>(least)) // exactly one more than `greatest`, which `real` may lack
            return (Held::max)();
]] [[]])

fault(schedule_wraps_round include/asio_retry/backoff.hpp
    [[for (saturating_duration const d : delays)]] [[for (duration const d : delays)]])

fault(backoff_of_a_callable_wraps_round include/asio_retry/detail/policy/backoff_shapes.hpp
    [[shared_function<saturating_duration(std::uint64_t)> function;]] [[shared_function<duration(std::uint64_t)> function;]])

fault(certificates_are_retried src/policy/retryable.cpp
    [[    if (!std::holds_alternative<any_failure_t>(predicate) && is_protocol_failure(failure.error()))
        return false;
]] [[]])

fault(certificates_are_never_retried src/policy/retryable.cpp
    [[    if (!std::holds_alternative<any_failure_t>(predicate) && is_protocol_failure]] [[    if (is_protocol_failure]])

fault(lost_tls_of_version_3_is_permanent src/policy/protocol_codes.cpp
    [[    if (bits >> 23 == 20)
        return bits & 0x7fffff;
]] [[]])

fault(lost_tls_of_version_1_is_permanent src/policy/protocol_codes.cpp
    [[bits >> 24 == 20 ? bits & 0xfff : 0;]] [[0;]])

fault(every_library_of_openssl_is_that_of_tls src/policy/protocol_codes.cpp
    [[bits >> 24 == 20 ? bits & 0xfff : 0;]] [[bits & 0xfff;]])

fault(damaged_record_is_permanent src/policy/protocol_codes.cpp
    [[    case 1020: // SSL_R_SSLV3_ALERT_BAD_RECORD_MAC
]] [[]])

fault(timeout_of_beast_is_a_lost_connection src/policy/protocol_codes.cpp
    [[return failure_class{failure_kind::timeout, effect::possible};]] [[return lost;]])

fault(lost_http_connection_is_permanent src/policy/protocol_codes.cpp
    [[    case 2:  // partial_message
]] [[]])

fault(closed_websocket_is_permanent src/policy/protocol_codes.cpp
    [[return code.value() == 1 ? lost : hopeless;]] [[return hopeless;]])

fault(reset_of_a_date_counts_from_now src/policy/pushback.cpp
    [[number->whole < first_date ?]] [[true ?]])

fault(reset_forgets_the_fraction_of_now src/policy/pushback.cpp
    [[    duration const passed = std::chrono::duration_cast<duration>(now - second);]] [[    duration const passed{};]])

fault(fraction_is_rounded_down src/policy/pushback.cpp
    [[    return duration(found + (is_more ? 1 : 0));]] [[    return duration(found);]])

fault(fraction_may_be_empty src/policy/pushback.cpp
    [[    if (fraction.empty() || !std::ranges]] [[    if (!std::ranges]])

fault(event_says_what_a_limit_left_of_an_exception src/policy/retry_event.cpp
    [[    if (std::string text = limit_message(*this); !text.empty())
        return text;
]] [[]])

fault(event_says_how_long_the_attempt_took src/policy/retry_event.cpp
    [[return after("attempt timed out", event.allowed);]] [[return after("attempt timed out", event.took);]])

fault(event_hides_what_the_server_said src/policy/retry_event.cpp
    [[event.said ? text + ", retry after "]] [[false ? text + ", retry after "]])

fault(event_writes_thousandths_without_zeros src/policy/retry_event.cpp
    [[std::to_string(1000 + thousandths).substr(1);]] [[std::to_string(thousandths);]])

fault(event_forgets_what_the_attempt_heeded src/policy/retryable.cpp
    [[    event.said = failure.said() ? failure.said() : facts.heeded;]] [[    event.said = failure.said();]])

fault(event_has_the_librarys_kind src/policy/retryable.cpp
    [[        event.kind = told_kind(settings, failure, facts);]] [[        settings.classify(failure.error());]])

fault(event_blames_the_attempt_timeout_for_silence src/policy/machine_times.cpp
    [[            first = {time_limit::idle_timeout, *settings.idle_timeout};
]] [[]])

fault(event_blames_the_total_timeout_for_every_deadline src/policy/machine_times.cpp
    [[            settings.total_timeout && deadline_ == saturating_add(initiated, *settings.total_timeout);]]
    [[            settings.total_timeout.has_value();]])
