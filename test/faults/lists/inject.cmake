# Mistakes in what `inject` does to attempts.

noticed_by(tests_of_inject)

fault(injection_is_on_at_first 71 include/asio_retry/fault_plan.hpp
    [[enabled_ = false]] [[enabled_ = true]])

fault(injection_goes_on_behind_the_switch 71 src/inject/fault_plan.cpp
    [[leaving.append(held_);]] [[]])

fault(injection_loses_failures_too 71 include/asio_retry/detail/inject/effected_handler.hpp
    [[completion::is_failure(result)]] [[false]])

fault(injection_lists_attempts_whose_context_ends
    inject_forms.leave_nothing_behind_when_their_context_is_destroyed src/inject/fault_wait.cpp
    [[fault_access::forget(*plan_, *this); // before]] [[// before]])
