# Mistakes in the forms of an operation.

noticed_by(tests_of_attempt)

fault(fail_if_takes_a_failure_of_no_kind_for_one include/asio_retry/fail_if.hpp
    [[    judged.failed = judged.failed && judged.what.kind != failure_kind::none;
]] [[]])

fault(erased_operation_is_destroyed_where_it_was include/asio_retry/detail/attempt/erased_operation.hpp
    [[        : calls_(std::exchange(other.calls_, nullptr)) {]] [[        : calls_(other.calls_) {]])

fault(disposition_of_the_last_failure_is_lost_in_a_wait include/asio_retry/detail/attempt/completion.hpp
    [[        if (kept_ && disposition_access<failure_type>::says(*kept_, code))
            return Completion::with(std::move(*kept_));
]] [[]])

fault(rejected_value_hides_why_the_operation_ended src/policy/retry_machine.cpp
    [[    if (names_rejected_ && failure.is_rejected() && !replacement)]] [[    if (names_rejected_ && failure.is_rejected())]])

fault(exception_carries_a_value_that_there_was_not include/asio_retry/detail/attempt/completion.hpp
    [[!action.thrown && !is_failure(result)]] [[!action.thrown]])

fault(hooks_of_the_operation_come_first src/policy/machine_story.cpp
    [[    if (own)
        call([&] { own(event); });
    for (auto* one = observers; one; one = one->next)
        call([&] { one->call_on_end(event); });]] [[    for (auto* one = observers; one; one = one->next)
        call([&] { one->call_on_end(event); });
    if (own)
        call([&] { own(event); });]])

fault(wrapper_forgets_that_its_lambda_had_no_name include/asio_retry/detail/attempt/operation_form.hpp
    [[conditional_t<(is_temporary<Given> || ...)]] [[conditional_t<(is_temporary<Given> && ...)]])
