# The operation of a coroutine that has lost its type.

noticed_by(tests_of_attempt)

fault(predicate_of_events_is_asked_about_rejected_values src/policy/retryable.cpp
    [[by_event && !failure.is_rejected()]] [[by_event]])

fault(step_hears_of_total_where_that_is_not_allowed include/asio_retry/detail/attempt/stepped_form.hpp
    [[    if (hears_all)
        co_await]] [[    if (!hears_all)
        co_await]])

fault(or_error_does_not_ask_for_marks include/asio_retry/fail_if.hpp
    [[        inner::prepare(operation.operation_, machine);
        machine.expect_errors();]] [[        machine.expect_errors();]])

fault(fail_if_takes_a_failure_of_no_kind_for_one include/asio_retry/fail_if.hpp
    [[    judged.failed = judged.failed && judged.what.kind != failure_kind::none;
]] [[]])

fault(erased_operation_is_never_destroyed include/asio_retry/detail/attempt/erased_operation.hpp
    [[        if (calls_ && calls_->destroy)]] [[        if (!calls_ && calls_->destroy)]])

fault(erased_operation_moves_as_bytes include/asio_retry/detail/attempt/erased_operation.hpp
    [[        if (calls_->relocate)]] [[        if (!calls_)]])

fault(erased_operation_is_destroyed_where_it_was include/asio_retry/detail/attempt/erased_operation.hpp
    [[        : calls_(std::exchange(other.calls_, nullptr)) {]] [[        : calls_(other.calls_) {]])

fault(erased_operation_outside_is_owned_twice include/asio_retry/detail/attempt/erased_operation.hpp
    [[            : place_(std::exchange(other.place_, nullptr)) {}]] [[            : place_(other.place_) {}]])

fault(erased_operation_outside_is_not_aligned include/asio_retry/detail/attempt/erased_operation.hpp
    [[ && alignof(Callable) <= alignof(std::max_align_t) &&]] [[ &&]])

fault(erased_operation_outside_forgets_what_it_destroys include/asio_retry/detail/attempt/erased_operation.hpp
    [[            std::destroy_at(place_);]] [[]])

fault(erased_operation_judges_nothing include/asio_retry/detail/attempt/erased_operation.hpp
    [[            return operation_form<Callable>::rejects(get<Callable>(memory), values...);]] [[            static_cast<void>(memory);
            (static_cast<void>(values), ...);
            return false;]])

# --- a step before each retry

fault(step_comes_before_the_first_attempt include/asio_retry/detail/attempt/stepped_form.hpp
    [[    if (which.number != 1) {
        error_code const failure = co_await]] [[    if (which.number != 0) {
        error_code const failure = co_await]])

fault(step_comes_before_the_first_plain_attempt include/asio_retry/detail/attempt/stepped_form.hpp
    [[            if (which.number != 1)
                if (error_code const failure = do_step]] [[            if (which.number != 0)
                if (error_code const failure = do_step]])

fault(step_may_fail include/asio_retry/detail/attempt/stepped_form.hpp
    [[        if (failure)
            co_return]] [[        if (!failure && failure)
            co_return]])

fault(step_may_throw_in_its_completion include/asio_retry/detail/attempt/stepped_form.hpp
    [[    if (thrown)
        std::rethrow_exception(thrown);]] [[    static_cast<void>(thrown);]])

fault(step_takes_the_health_of_the_operation include/asio_retry/before_retry.hpp
    [[        inner::prepare(operation.operation_, machine);]] [[        static_cast<void>(operation);
        machine.expect_marks();]])

# --- values that stay failures

fault(rejected_value_is_delivered_as_a_success src/policy/retry_machine.cpp
    [[    if (names_rejected_ && failure.is_rejected() && !replacement)]] [[    if (names_rejected_ && !failure.is_rejected() && !replacement)]])

fault(rejected_value_hides_why_the_operation_ended src/policy/retry_machine.cpp
    [[    if (names_rejected_ && failure.is_rejected() && !replacement)]] [[    if (names_rejected_ && failure.is_rejected())]])

fault(every_rejected_value_is_an_error src/policy/retry_machine.cpp
    [[    if (names_rejected_ && failure.is_rejected() && !replacement)]] [[    if (failure.is_rejected() && !replacement)]])

fault(exception_carries_a_value_that_there_was_not include/asio_retry/detail/attempt/completion.hpp
    [[!action.thrown && !is_failure(result)]] [[!action.thrown]])

fault(exception_loses_the_value include/asio_retry/detail/attempt/completion.hpp
    [[JudgesResults && sizeof...(Values) > 0]] [[JudgesResults && sizeof...(Values) > 9]])

fault(predicate_that_threw_has_no_time include/asio_retry/detail/attempt/decide.hpp
    [[std::current_exception(), source.now());]] [[std::current_exception(), source.time_for(machine));]])

# --- hooks of one operation

fault(hooks_are_not_heard include/asio_retry/with_hooks.hpp
    [[told(machine, operation.hooks_, true);]] [[told(machine, operation.hooks_);]])

fault(hooks_forget_the_operation_inside include/asio_retry/with_hooks.hpp
    [[        inner::prepare(operation.operation_, machine);]] [[]])

fault(hooks_are_not_told_the_reason include/asio_retry/detail/attempt/operation_hooks.hpp
    [[std::invoke(on_end_, event.reason);]] [[std::invoke(on_end_, stop_reason::attempts);]])

fault(hooks_forget_who_was_told_before include/asio_retry/retry_machine.hpp
    [[observer.next = std::exchange(observer_, &observer);]] [[observer_ = &observer;]])

fault(hooks_of_a_success_run_where_it_was_initiated include/asio_retry/retry_machine.hpp
    [[return is_told_ && (has_hooks_ || policy_.settings().on_success);]] [[return is_told_ && policy_.settings().on_success;]])

fault(hooks_of_the_operation_come_first src/policy/machine_events.cpp
    [[    if (own)
        call([&] { own(event); });
    for (auto* one = observers; one; one = one->next)
        call([&] { one->call_on_end(event); });]] [[    for (auto* one = observers; one; one = one->next)
        call([&] { one->call_on_end(event); });
    if (own)
        call([&] { own(event); });]])

fault(report_keeps_what_hooks_threw_last src/policy/report_recorder.cpp
    [[    if (report_->hook_exceptions++ == 0)]] [[    if (++report_->hook_exceptions > 0)]])

fault(report_counts_one_hook_that_threw src/policy/report_recorder.cpp
    [[    if (report_->hook_exceptions++ == 0)]] [[    if (report_->hook_exceptions == 0 && ++report_->hook_exceptions)]])

fault(hooks_count_the_time_from_the_reset src/policy/retry_machine.cpp
    [[if ((has_hooks_ || policy_.settings().tells_events()) && story())]] [[if (policy_.settings().tells_events() && story())]])

fault(hooks_are_told_of_the_first_alone src/policy/machine_events.cpp
    [[        for (auto* one = observer_; one; one = one->next)
            one->call_on_retry(event);]] [[        if (observer_)
            observer_->call_on_retry(event);]])
