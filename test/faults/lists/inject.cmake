# Mistakes in what `inject` does to attempts.

noticed_by(tests_of_inject)

fault(injection_is_on_at_first include/asio_retry/fault_plan.hpp
    [[enabled_ = false;]] [[enabled_ = true;]])

fault(injection_goes_on_behind_the_switch src/inject/fault_plan.cpp
    [[        leaving.append(held_);
]] [[]])

fault(injection_lets_all_attempts_go_at_once src/inject/fault_plan.cpp
    [[i != most && !leaving.empty()]] [[!leaving.empty()]])

fault(injection_lists_attempts_whose_context_ends src/inject/fault_wait.cpp
    [[    fault_access::forget(*plan_, *this); // before any part of it is gone: another thread may disable the plan
]] [[]])

fault(injection_draws_one_and_the_same src/inject/fault_plan.cpp
    [[random source(seed_, next_++);]] [[random source(seed_, 0);]])

fault(injection_hears_of_no_cancellation src/inject/fault_wait.cpp
    [[if (scheduler_ && scheduler_->cancel(*this))]] [[if (false)]])

fault(injection_loses_failures_too include/asio_retry/detail/inject/effected_handler.hpp
    [[if (completion::is_failure(result))]] [[if (false)]])

fault(injection_keeps_what_a_handler_throws include/asio_retry/detail/inject/injecting_form.hpp
    [[            if (beginning_->of_handler() == beginning::fate::called)
                throw;
]] [[]])
