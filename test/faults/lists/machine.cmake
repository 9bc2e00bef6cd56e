# fault(name file [[text]] [[replacement]]): a mistake in what a retry decides and reports; how it is cancelled has a
# list of its own.

noticed_by(tests_of_machine)

fault(timed_out_attempt_forgets_what_its_peer_said src/policy/verdict.cpp
    [[    v.said_ = own.said_;
]] [[]])

fault(machine_says_that_a_success_did_nothing src/policy/machine_events.cpp
    [[    event.took = known.took;
    event.sent = effect::possible;]] [[    event.took = known.took;]])

fault(machine_forgets_what_was_drawn_for_a_refusal src/policy/machine_times.cpp
    [[        delay = settings.jitter.draw(step, *source);
    course_.drew(delay);]] [[        delay = settings.jitter.draw(step, *source);]])

fault(machine_blames_the_backoff_for_the_jitter_after_a_refusal src/policy/machine_times.cpp
    [[    duration delay = settings.backoff.ceiling(counted);
    stage = error::jitter_threw;]] [[    duration delay = settings.backoff.ceiling(counted);
    static_cast<void>(stage);]])

fault(machine_tells_nobody_of_a_wait_when_refused src/policy/retry_machine.cpp
    [[        if (observer_)
            detail::tell_all(observer_, &detail::machine_observer::on_wait, delay, now);
        return wait_for(delay);]] [[        return wait_for(delay);]])

fault(machine_says_that_nothing_was_sent_where_nobody_can_say src/policy/retryable.cpp
    [[event.sent = effect::possible;]] [[event.sent = effect::none;]])

fault(machine_hides_what_a_classifier_throws_at_the_end src/policy/machine_events.cpp
    [[    } catch (...) { // the policy's own classifier
        report_exception(observer_);]] [[    } catch (...) { // the policy's own classifier]])

fault(machine_hides_what_a_hook_throws_at_the_end src/policy/machine_events.cpp
    [[        } catch (...) {
            report_exception(observers);]] [[        } catch (...) {
            static_cast<void>(observers);]])

fault(machine_hides_what_a_hook_throws_before_a_retry src/policy/machine_events.cpp
    [[    } catch (...) {
        report_exception(observer_);
        std::rethrow]] [[    } catch (...) {
        std::rethrow]])

fault(machine_forgets_what_a_hook_says src/policy/error.cpp
    [[return own ? own->what() : boost::system::system_error::what();]] [[return boost::system::system_error::what();]])

fault(machine_nests_no_failure_in_what_a_hook_throws src/policy/machine_events.cpp
    [[failure.exception() ? failure.exception() : detail::exception_of(failure.error())));]] [[detail::exception_of(error::operation_threw)));]])

fault(attempt_tells_its_server_of_the_operations_time src/policy/machine_times.cpp
    [[return std::min(deadline_, after(began_, policy_.settings().attempt_timeout));]] [[return deadline_;]])

fault(attempt_tells_its_server_of_its_own_time_alone src/policy/machine_times.cpp
    [[return std::min(deadline_, after(began_, policy_.settings().attempt_timeout));]] [[return after(began_, policy_.settings().attempt_timeout);]])

fault(kind_of_what_is_refused_is_permanent src/policy/retryable.cpp
    [[    if (!what && wish == retry_wish::refused)]] [[    if (wish == retry_wish::refused)]])

fault(kind_of_what_nobody_knows_is_transient src/policy/retryable.cpp
    [[    if (!what && wish == retry_wish::refused)
        return failure_kind::permanent;
]] [[]])

fault(kind_of_an_exception_is_known src/policy/failure_class.cpp
    [[        if (code == error::operation_threw)
            return std::nullopt;
]] [[]])

fault(kind_of_a_foreign_code_is_known src/policy/failure_class.cpp
    [[    return is_known ? std::optional(perhaps_done) : std::nullopt;]] [[    static_cast<void>(is_known);
    return perhaps_done;]])

fault(kind_of_eof_is_unknown src/policy/failure_class.cpp
    [[category == "system" || category.starts_with("asio.");]] [[category == "system";]])

fault(kind_of_a_marked_abort_is_permanent src/policy/retryable.cpp
    [[    if (failure.is_permanent() && !is_abort)]] [[    if (failure.is_permanent())]])

fault(kind_of_an_abort_is_permanent src/policy/retryable.cpp
    [[    if (is_abort && (failure.is_permanent() || !(is_wanted || wish == retry_wish::asked)))
        return std::nullopt;
]] [[]])

fault(kind_of_an_abort_that_is_retried_is_permanent src/policy/retryable.cpp
    [[is_none || (is_abort && is_wanted && what->kind == failure_kind::permanent) ?]] [[is_none ?]])

fault(kind_of_what_the_policy_knows_is_unknown src/policy/retryable.cpp
    [[        return is_known ? std::optional(what) : std::nullopt;]] [[        static_cast<void>(is_known);
        return std::nullopt;]])

fault(kind_depends_on_retry_sent src/policy/retry_machine.cpp
    [[    wish_ = is_wanted ? detail::retry_wish::wanted]] [[    wish_ = is_wanted && may_repeat ? detail::retry_wish::wanted]])

fault(kind_of_a_time_limit_is_the_attempts src/policy/retry_machine.cpp
    [[heard_kind(settings, failure, is_out_of_time(), wish_), now);]] [[heard_kind(settings, failure, false, wish_), now);]])

fault(kind_of_a_marked_abort_is_forgotten_after_a_limit src/policy/verdict.cpp
    [[    v.aborted_ = detail::is_abortion(own.error_);
]] [[]])

fault(hooks_are_told_of_an_abort_what_is_asked_about src/policy/machine_events.cpp
    [[    known.wish = wish_;
]] [[]])

fault(hooks_are_told_that_a_cancelled_attempt_failed src/policy/retryable.cpp
    [[    if (facts.stopped == interruption::cancellation || facts.wish]] [[    if (facts.wish]])

fault(hooks_are_told_what_classify_says_of_no_failure src/policy/retryable.cpp
    [[facts.stopped == interruption::cancellation || facts.wish == retry_wish::undecidable)]] [[facts.stopped == interruption::cancellation)]])

fault(hooks_are_told_that_the_limit_before_stopped_it src/policy/retry_machine.cpp
    [[    interrupted_by_ = interruption::none;
    wish_ = detail::retry_wish::undecidable;]] [[    wish_ = detail::retry_wish::undecidable;]])

fault(hooks_are_told_the_last_kind_at_the_end_of_a_wait src/policy/retry_machine.cpp
    [[    wish_ = detail::retry_wish::unasked;
    return give_up(]] [[    return give_up(]])

fault(retry_if_is_asked_about_what_is_not_decided src/policy/retry_machine.cpp
    [[        known.wish = detail::retry_wish::asked;
]] [[]])

# --- the start

fault(machine_has_a_total_timeout_for_a_deadline src/policy/machine_times.cpp
    [[deadline_ = std::min(deadline_, saturating_add(now, *settings.total_timeout));]]
    [[deadline_ = saturating_add(now, *settings.total_timeout);]])

fault(machine_takes_the_later_deadline src/policy/machine_times.cpp
    [[deadline_ = std::min(deadline_, *settings.deadline);]] [[deadline_ = *settings.deadline;]])

fault(machine_starts_at_its_deadline src/policy/machine_times.cpp
    [[deadline_ == time_point::max() || now < deadline_;]] [[deadline_ == time_point::max() || now <= deadline_;]])

fault(machine_refuses_for_another_reason src/policy/retry_machine.cpp
    [[return end_without_attempt(stop_reason::budget, code, now);]]
    [[return give_up(stop_reason::attempts, verdict::failure(code), code, now);]])

fault(machine_has_all_its_time_without_inheritance include/asio_retry/retry_machine.hpp
    [[            limits_attempts_ = measures_time_ = true;]] [[            measures_time_ = true;]])

# --- what an attempt came to

fault(machine_asks_for_total_after_the_failure src/policy/retry_machine.cpp
    [[bool const is_cancelled = cancelled(); // asked while this attempt may still be the first]]
    [[bool const is_cancelled = (++failures_, cancelled());
    --failures_;]])

fault(machine_does_not_forget_a_limit src/policy/retry_machine.cpp
    [[    attempt_expired_ = false;
]] [[]])

fault(machine_mixes_up_its_limits src/policy/retry_machine.cpp
    [[limited_by_deadline_ ? interruption::deadline : interruption::attempt_timeout;]]
    [[!limited_by_deadline_ ? interruption::deadline : interruption::attempt_timeout;]])

fault(machine_blames_the_lesser_limit src/policy/machine_times.cpp
    [[limited_by_deadline_ = deadline_ <= reached;]] [[limited_by_deadline_ = deadline_ < reached;]])

fault(machine_has_the_later_limit src/policy/machine_times.cpp
    [[            first = std::min(first, limit);]] [[            first = limit;]])

fault(machine_is_stable_a_little_later src/policy/retry_machine.cpp
    [[elapsed_between(healthy_since_, now) >= *stable_for)]] [[elapsed_between(healthy_since_, now) > *stable_for)]])

fault(machine_takes_what_hung_for_stable src/policy/retry_machine.cpp
    [[interrupted_by == interruption::attempt_timeout && !marks_health_;]] [[false && marks_health_ && interrupted_by == interruption::none;]])

fault(machine_takes_a_marked_attempt_for_hung src/policy/retry_machine.cpp
    [[interrupted_by == interruption::attempt_timeout && !marks_health_;]] [[interrupted_by == interruption::attempt_timeout;]])

fault(machine_does_not_start_its_time_over src/policy/retry_machine.cpp
    [[        started_ = now;
        at_edge_ = false;]] [[        at_edge_ = false;]])

fault(machine_stays_at_the_edge_after_a_reset src/policy/retry_machine.cpp
    [[        started_ = now;
        at_edge_ = false;]] [[        started_ = now;]])

fault(machine_counts_health_from_the_last_mark src/policy/machine_times.cpp
    [[if (marks_health_ && now < healthy_since_)]] [[if (marks_health_)]])

fault(machine_never_hears_an_attempt src/policy/machine_times.cpp
    [[return story_ && attempts_speak_ && settings.wants_a_sign() ?]] [[return story_ && !attempts_speak_ && settings.wants_a_sign() ?]])

fault(operation_ends_what_is_alive src/operation/operation_events.cpp
    [[return limit > reached && watch_limit(limit);]] [[return limit < reached && watch_limit(limit);]])

fault(operation_looks_once_at_what_is_alive src/operation/operation_events.cpp
    [[return limit > reached && watch_limit(limit);]] [[return limit > reached;]])

fault(awaiting_ends_what_is_alive include/asio_retry/detail/operation/awaited_core.hpp
    [[return limit > reached && watch_limit(limit);]] [[return limit < reached && watch_limit(limit);]])

fault(awaiting_looks_once_at_what_is_alive include/asio_retry/detail/operation/awaited_core.hpp
    [[return limit > reached && watch_limit(limit);]] [[return limit > reached;]])

fault(blocking_does_not_hear_an_attempt include/asio_retry/detail/blocking/blocking_retry.hpp
    [[time_point const last = machine_.renewed_limit(limit);]] [[time_point const last = limit;]])

fault(machine_takes_silence_for_health src/policy/machine_times.cpp
    [[if (!said->is_healthy.load(std::memory_order_relaxed))]] [[if (false)]])

fault(machine_sets_up_for_ever src/policy/machine_times.cpp
    [[said->is_healthy.store(true, std::memory_order_relaxed);]] [[said->is_healthy.store(false, std::memory_order_relaxed);]])

fault(machine_remembers_the_health_of_the_attempt_before src/policy/machine_times.cpp
    [[        pulse()->is_healthy.store(false, std::memory_order_relaxed);
]] [[]])

fault(machine_remembers_what_the_attempt_before_said src/policy/machine_times.cpp
    [[        pulse()->heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);
]] [[]])

fault(machine_takes_health_for_silence src/policy/machine_times.cpp
    [[    on_progress(now);
]] [[]])

fault(machine_lets_progress_go_unheard src/policy/machine_times.cpp
    [[        said->heard.store(now.time_since_epoch().count(), std::memory_order_relaxed);]] [[        said->heard.store(began_.time_since_epoch().count(), std::memory_order_relaxed);]])

fault(machine_is_healthy_without_a_mark include/asio_retry/retry_machine.hpp
    [[healthy_since_ = marks_health_ ? (time_point::max)() : now;]] [[healthy_since_ = now;]])

# --- the decision

fault(machine_retries_what_is_permanent_within_another src/policy/retry_machine.cpp
    [[failure.is_permanent() && !policy_.settings().is_nested;]] [[failure.is_permanent();]])

fault(machine_takes_the_mark_off_what_ends_it_within_another src/policy/retry_machine.cpp
    [[        detail::mark_permanent(action.error, action.thrown); // the]] [[        static_cast<void>(action); // the]])

fault(machine_makes_one_attempt_more src/policy/retry_machine.cpp
    [[failures_ >= *settings.max_attempts)]] [[failures_ > *settings.max_attempts)]])

fault(machine_counts_attempts_of_an_earlier_outage src/policy/retry_machine.cpp
    [[failures_ >= *settings.max_attempts)]] [[attempts_ >= *settings.max_attempts)]])

fault(machine_backs_off_by_all_attempts src/policy/retry_machine.cpp
    [[story_ ? counted_for_backoff() : failures_, &course_};]] [[attempts_, &course_};]])

fault(machine_forgets_the_delay_before src/policy/retry_machine.cpp
    [[    from.course->drew(delay);
]] [[]])

fault(machine_keeps_the_base_of_another_outage include/asio_retry/detail/policy/jitter_course.hpp
    [[if (failures == 1 ||]] [[if (failures == 0 ||]])

fault(machine_has_a_base_of_zero include/asio_retry/detail/policy/jitter_course.hpp
    [[        if (base_ == duration::zero()) {]] [[        if (failures == 1) {]])

fault(machine_has_a_base_above_the_cap include/asio_retry/detail/policy/jitter_course.hpp
    [[(cap <= base_ && ceiling < base_)]] [[false]])

fault(machine_stays_at_a_base_that_is_the_cap include/asio_retry/detail/policy/jitter_course.hpp
    [[(cap <= base_ && ceiling < base_)]] [[(cap < base_ && ceiling < base_)]])

fault(machine_does_not_wait_up_to_its_limit src/policy/machine_times.cpp
    [[    bool const is_last = delay > allowed;]] [[    bool const is_last = delay >= allowed;]])

fault(machine_has_many_last_attempts src/policy/machine_times.cpp
    [[        at_edge_ = is_last;]] [[        at_edge_ = false;]])

fault(machine_leaves_a_last_attempt_no_time src/policy/machine_times.cpp
    [[std::min({delay, allowed, wait_leaving_time(now)});]] [[std::min({delay, allowed});]])

fault(machine_leaves_a_last_attempt_all_the_time src/policy/machine_times.cpp
    [[    return left - std::clamp(longest, left / 10, left / 2);]] [[    return left - std::max(longest, left / 10);]])

fault(machine_leaves_a_quick_attempt_no_time src/policy/machine_times.cpp
    [[    return left - std::clamp(longest, left / 10, left / 2);]] [[    return left - std::min(longest, left / 2);]])

fault(machine_tells_of_another_delay src/policy/retry_machine.cpp
    [[        call_on_retry(failure, delay, now);]] [[        call_on_retry(failure, ceiling, now);]])

fault(machine_retries_when_a_hook_threw src/policy/retry_machine.cpp
    [[    stage = error::hook_threw;
]] [[]])

fault(machine_mixes_up_what_threw src/policy/retry_machine.cpp
    [[    stage = error::jitter_threw;
]] [[]])

fault(machine_asks_for_no_lease src/policy/retry_machine.cpp
    [[    if (is_told_ && !take_lease(now) && !settings.wait_when_refused)
        return stop_reason::budget;
]] [[]])

fault(machine_keeps_the_lease_when_it_ends include/asio_retry/retry_machine.hpp
    [[        if (is_told_)
            end_story();
]] [[]])

fault(machine_keeps_the_lease_when_it_gives_up src/policy/machine_story.cpp
    [[    give_lease_back();
    if (observer_)]] [[    if (observer_)]])

fault(machine_gives_back_what_is_spent src/policy/machine_story.cpp
    [[    has_lease_ = false;
    has_begun_ = true;]] [[    has_begun_ = true;]])

fault(machine_leaves_an_attempt_running src/policy/machine_story.cpp
    [[    if (is_admitted_)
        tell_abandoned(now);
    give_lease_back();]] [[    give_lease_back();]])

fault(machine_asks_twice_for_the_first_attempt src/policy/machine_story.cpp
    [[    if (is_refused_ || is_admitted_ || !makes_attempts_)]] [[    if (is_admitted_ || !makes_attempts_)]])

fault(machine_calls_a_cancelled_attempt_a_failure src/policy/retry_machine.cpp
    [[        if (interrupted_by == interruption::cancellation)
            tell_abandoned(now);
        else if]] [[        if]])

fault(machine_forgets_its_last_error src/policy/machine_story.cpp
    [[        story_->last = failure.error();]] [[]])

fault(machine_does_not_count_refusals src/policy/machine_times.cpp
    [[failures_ + story_->refusals;]] [[failures_;]])

fault(machine_comes_earlier_than_it_was_told src/policy/machine_times.cpp
    [[        if (allowed < least)]] [[        if (allowed < duration::zero())]])

fault(machine_comes_earlier_than_it_was_told_to_leave_time src/policy/machine_times.cpp
    [[        delay = std::max(least, shorter);]] [[        delay = shorter;]])

fault(machine_adds_its_own_delay_to_the_wish src/policy/machine_times.cpp
    [[    duration wish = least;]] [[    duration wish = sum(least, delay);]])

fault(machine_spreads_a_wish_beyond_its_limit src/policy/machine_times.cpp
    [[        spread = std::min(spread, allowed - least);]] [[        spread = std::max(spread, duration());]])

fault(machine_prefers_its_own_delay_to_a_wish_that_fits src/policy/machine_times.cpp
    [[    if (wish > delay || only_wish_fits)]] [[    if (wish > delay)]])

fault(machine_comes_at_once_where_its_own_delay_does_not_fit src/policy/machine_times.cpp
    [[ && wish <= allowed && wish > duration::zero();]] [[ && wish <= allowed;]])

fault(machine_waits_as_long_as_a_peer_likes src/policy/machine_times.cpp
    [[            return stop_reason::pushback;]] [[            break;]])

fault(machine_heeds_what_the_attempt_before_was_told src/policy/machine_story.cpp
    [[        story_->heeded = pushback();]] [[]])

fault(machine_keeps_never_to_itself src/policy/retry_machine.cpp
    [[        settings.outer->forbidden = true;]] [[        settings.outer->forbidden = false;]])

fault(machine_prefers_the_limit_of_waits src/policy/machine_times.cpp
    [[elapsed_between(started_, now);
        if (left < result.first)]] [[elapsed_between(started_, now);
        if (left <= result.first)]])

fault(machine_counts_elapsed_time_from_the_last_attempt src/policy/machine_times.cpp
    [[*max_elapsed - elapsed_between(started_, now);]] [[*max_elapsed - elapsed_between(healthy_since_, now);]])

fault(machine_has_time_left_behind_its_deadline src/policy/machine_times.cpp
    [[now > deadline_ ? -elapsed_between(deadline_, now) : elapsed]] [[now > deadline_ ? elapsed_between(deadline_, now) : elapsed]])

# --- the wait, and the end

fault(machine_makes_no_attempt_at_its_deadline src/policy/retry_machine.cpp
    [[    if (now > deadline_ && !at_edge_)]] [[    if (now >= deadline_ && !at_edge_)]])

fault(machine_makes_an_attempt_after_its_deadline src/policy/retry_machine.cpp
    [[    if (now > deadline_ && !at_edge_)]] [[    if (now > deadline_ && at_edge_ && !at_edge_)]])

fault(machine_is_at_the_edge_although_the_wait_was_cut_short src/policy/retry_machine.cpp
    [[    at_edge_ = at_edge_ && now >= healthy_since_; // the]] [[    at_edge_ = at_edge_ || now > healthy_since_; // the]])

fault(machine_retries_what_was_aborted src/policy/retryable.cpp
    [[!is_abortion(failure.error());]] [[failure.error() != boost::system::errc::timed_out;]])

fault(machine_retries_what_was_aborted_in_another_category src/policy/retryable.cpp
    [[!is_abortion(failure.error());]] [[failure.error() != aborted_error();]])

fault(machine_does_not_retry_any_failure src/policy/retryable.cpp
    [[std::holds_alternative<any_failure_t>(predicate) || !is_abortion]] [[!is_abortion]])

fault(machine_lets_the_predicate_judge_a_rejected_result src/policy/retryable.cpp
    [[    if (failure.is_rejected())
        return failure.rejected_as() != failure_kind::permanent;
]] [[]])

# --- what hooks and predicates are told, and what follows

fault(event_counts_from_the_last_outage src/policy/machine_events.cpp
    [[story_ ? std::min(story_->initiated, started_) : started_]] [[started_]])

fault(event_has_a_wait_that_took_something src/policy/retry_machine.cpp
    [[    began_ = now;
    if (cancelled())]] [[    if (cancelled())]])

fault(event_keeps_what_stopped_an_attempt_before src/policy/retry_machine.cpp
    [[    interrupted_by_ = interruption::none;
    wish_ = detail::retry_wish::unasked;]] [[    wish_ = detail::retry_wish::unasked;]])

fault(event_does_not_know_what_stopped_the_attempt src/policy/retry_machine.cpp
    [[    interrupted_by_ = interrupted_by;
]] [[]])

fault(attempts_have_sent_for_ever include/asio_retry/retry_machine.hpp
    [[        has_sent_ = false;
]] [[]])

fault(attempts_that_cannot_say_so_have_not_sent src/policy/machine_events.cpp
    [[(has_sent_ || !attempts_speak_)]] [[has_sent_]])

fault(sent_is_not_passed_on src/policy/retry_machine.cpp
    [[        policy_.settings().outer->sent = true;]] [[        policy_.settings().outer->sent = false;]])

fault(sent_is_kept_to_itself src/policy/machine_story.cpp
    [[    has_sent_ = true;
    if (auto const& outer = policy_.settings().outer)
        outer->sent = true;]] [[    has_sent_ = true;]])

fault(sent_is_not_said_by_those_that_cannot src/policy/machine_story.cpp
    [[outer && !attempts_speak_)]] [[outer && attempts_speak_ && !attempts_speak_)]])

fault(sent_is_retried src/policy/retryable.cpp
    [[return settings.retry_sent || effect_of]] [[return true || effect_of]])

fault(kind_of_a_failure_ignores_the_limit src/policy/retryable.cpp
    [[    return facts.stopped == interruption::attempt_timeout || facts.stopped]] [[    return facts.stopped]])

fault(kind_of_a_failure_ignores_the_judgement src/policy/retryable.cpp
    [[    if (failure.is_rejected())
        return failure.rejected_as();
    bool const is_wanted]] [[    bool const is_wanted]])

fault(kind_of_a_failure_ignores_the_policy src/policy/retryable.cpp
    [[told_kind(facts, heard_kind(settings, failure, is_out_of_time(facts), facts.wish));]] [[settings.classify && false ? failure_kind::none : told_kind(facts, heard_kind(failure, is_out_of_time(facts), facts.wish));]])

fault(kind_may_be_permanent src/policy/retryable.cpp
    [[        if (kind == failure_kind::permanent)
            refuse(field, "permanent", "is never retried");
]] [[]])

fault(kinds_are_the_last_one src/policy/retryable.cpp
    [[chosen.kinds |= static_cast]] [[chosen.kinds = static_cast]])

fault(kinds_are_asked_without_the_facts src/policy/retry_policy.cpp
    [[std::holds_alternative<retry_settings::kind_predicate>(s.retry_if)]] [[false]])

fault(sent_ignores_what_the_error_says src/policy/retryable.cpp
    [[    if (failure.is_rejected())
        return failure.rejected_effect();]] [[    if (!failure.succeeded())
        return effect::possible;]])

fault(predicate_of_a_type_is_asked_about_none src/policy/retryable.cpp
    [[            return *answer;]] [[            return *answer;
        else
            return false;]])

fault(waits_are_not_added_up src/policy/machine_times.cpp
    [[        story_->waited = sum(story_->waited, delay);]] [[        story_->waited = delay;]])

fault(waits_are_added_up_for_ever src/policy/retry_machine.cpp
    [[            story_->waited = duration::zero();
]] [[]])

fault(success_has_no_time src/policy/machine_story.cpp
    [[ || settings.observer || settings.on_success);]] [[ || settings.observer);]])

# --- rules of failures

fault(rules_count_all_failures src/policy/failure_rules.hpp
    [[        std::uint64_t const counted = own ? ++own->failures : failures;]] [[        if (own)
            ++own->failures;
        std::uint64_t const counted = failures;]])

fault(rules_share_a_course src/policy/failure_rules.hpp
    [[own ? &own->course : from.course]] [[from.course]])

fault(rules_of_the_last_count src/policy/failure_rules.hpp
    [[        if ((rule.backoff && is_found) || ]] [[        if (]])

fault(rules_allow_one_attempt_more src/policy/failure_rules.hpp
    [[} else if (counted >= rule.max_attempts) {]] [[} else if (counted > rule.max_attempts) {]])

fault(rules_have_one_limit src/policy/failure_rules.hpp
    [[            may_go_on = false;]] [[            may_go_on = is_found;]])

fault(rules_are_not_reset src/policy/retry_machine.cpp
    [[            std::fill_n(story_->rules(), policy_.settings().rules.size(), detail::rule_state());
]] [[]])

fault(rules_count_for_the_policys_backoff src/policy/machine_times.cpp
    [[            counted -= story_->rules()[i].failures;]] [[            counted -= 0;]])

fault(rules_of_limits_count_for_no_backoff src/policy/machine_times.cpp
    [[        if (rules[i].backoff)
            counted]] [[            counted]])

fault(rules_are_asked_about_ticks src/policy/retry_machine.cpp
    [[!settings.rules.empty() && makes_attempts_ &&]] [[!settings.rules.empty() &&]])

fault(rules_are_told_no_times src/policy/retry_policy.cpp
    [[takes_event(retry_if) ||
           std::ranges::any_of(rules, takes_event, &rule::matches);]] [[takes_event(retry_if);]])

fault(rules_of_a_type_match_others src/policy/retryable.cpp
    [[.value_or(false);]] [[.value_or(true);]])

fault(rules_allow_no_attempt src/policy/retry_policy.cpp
    [[    if (count < 1)
        detail::refuse("max_attempts_when", ]] [[    if (count < 0)
        detail::refuse("max_attempts_when", ]])

# --- the report

fault(report_forgets_when_it_began src/policy/report_recorder.cpp
    [[    started_ = now;
]] [[    started_ = std::min(started_, now);
]])

fault(report_goes_back_in_time src/policy/report_recorder.cpp
    [[std::max(report_->elapsed, elapsed_between(started_, now));]] [[elapsed_between(started_, now);]])

fault(report_has_the_error_of_what_was_told_to_stop src/policy/report_recorder.cpp
    [[    if (stopped == interruption::none || failure.error() != aborted_error()) {]] [[    if (stopped != interruption::cancellation || failure.error() == aborted_error()) {]])

fault(report_has_no_time_out_in_its_history src/policy/report_recorder.cpp
    [[    bool const timed_out = stopped == interruption::deadline || stopped == interruption::attempt_timeout;]]
    [[    bool const timed_out = stopped == interruption::deadline;]])

fault(machine_reports_what_an_attempt_made_of_its_time_limit src/policy/retry_machine.cpp
    [[interrupted_by == interruption::attempt_timeout ? *timed_out : v, interrupted_by,]] [[v, interrupted_by,]])

fault(machine_lets_an_attempt_decide_that_ran_out_of_time src/policy/retry_machine.cpp
    [[    return retry_or_end(*timed_out, now, source);]] [[    return retry_or_end(v, now, source);]])

fault(report_keeps_an_old_exception src/policy/report_recorder.cpp
    [[        report_->last_exception = failure.exception();]] [[        if (failure.exception())
            report_->last_exception = failure.exception();]])

fault(report_forgets_the_first_failure src/policy/report_recorder.cpp
    [[history.erase(history.begin() + 1);]] [[history.erase(history.begin());]])

fault(report_remembers_one_failure_less src/policy/report_recorder.cpp
    [[    if (report_->last_ != 0 && history.size() > report_->last_)]] [[    if (report_->last_ != 0 && history.size() >= report_->last_)]])

fault(report_has_the_delay_before_the_attempt src/policy/report_recorder.cpp
    [[history.back().number == report_->attempts &&]] [[history.back().number != report_->attempts &&]])

fault(report_counts_the_last_wait_only src/policy/report_recorder.cpp
    [[report_->waited += elapsed_between]] [[report_->waited = elapsed_between]])

fault(report_keeps_what_was_in_it src/policy/report_recorder.cpp
    [[    *report_ = retry_report(report_->last_);
]] [[]])

fault(report_is_never_over src/policy/report_recorder.cpp
    [[    report_->ended = true;
]] [[]])

fault(report_names_another_interruption src/policy/interruption.cpp
    [[    case interruption::deadline:
        return "deadline";]] [[    case interruption::deadline:
        return "attempt_timeout";]])

# --- a verdict

fault(verdict_of_a_time_out_is_never_permanent src/policy/verdict.cpp
    [[v.permanent_ = own.permanent_;]] [[v.permanent_ = false;]])

fault(verdict_of_a_time_out_is_permanent_unless_it_is_the_abort src/policy/verdict.cpp
    [[v.permanent_ = own.permanent_;]] [[v.permanent_ = own.permanent_ && own.error_ != aborted_error();]])

fault(verdict_of_a_time_out_forgets_the_exception src/policy/verdict.cpp
    [[        v.exception_ = detail::exception_of(v.error_, own.exception_);]] [[        v.exception_ = nullptr;]])

fault(machine_keeps_the_refusal_of_another_attempt src/policy/machine_story.cpp
    [[        story_->last = error::attempt_refused;
]] [[]])

fault(machine_ends_with_a_refusal_that_is_no_error src/policy/machine_story.cpp
    [[answer.refusal ? answer.refusal : detail::attempt_refused_error()]] [[answer.refusal]])

fault(machine_says_when_an_attempt_was_abandoned src/policy/machine_story.cpp
    [[outcome == attempt_end::how::abandoned ? began_ : now;]] [[now;]])

fault(machine_says_that_a_retry_began_which_did_not src/policy/machine_story.cpp
    [[has_begun_ ? kind_ : failure_kind::none;]] [[kind_;]])

fault(machine_counts_its_time_from_the_last_question src/policy/machine_times.cpp
    [[if (!is_admitted_ && !is_refused_) { // which]] [[if (!is_admitted_) { // which]])

fault(machine_is_stopped_by_what_it_ignores src/policy/machine_times.cpp
    [[            least = duration::zero();
            return]] [[            return]])

fault(machine_makes_a_last_attempt_without_time src/policy/machine_times.cpp
    [[allowed <= duration::zero()]] [[allowed < duration::zero()]])

fault(machine_prefers_the_sum_of_waits src/policy/machine_times.cpp
    [[: duration::zero());
        if (left < result.first)]] [[: duration::zero());
        if (left <= result.first)]])

fault(machine_waits_for_a_lease_as_for_the_gate src/policy/machine_times.cpp
    [[return is_refused_ && story_ ?]] [[return story_ ?]])

fault(machine_remembers_a_failure_before_the_last src/policy/machine_story.cpp
    [[        story_->has_failure = false;
]] [[]])

fault(machine_calls_what_took_too_long_by_its_own_name src/policy/retryable.cpp
    [[    if (timed_out)
        return failure_kind::timeout;
]] [[    static_cast<void>(timed_out);
]])

fault(machine_takes_a_cancellation_back src/policy/retry_machine.cpp
    [[    if (stopping_ == stopping::no)
        stopping_ = stopping::drained;]] [[    stopping_ = stopping::drained;]])
