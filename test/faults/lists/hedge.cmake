# Mistakes in attempts beside one another.

noticed_by(tests_of_hedge)

fault(hedge_begins_too_many 30 src/hedge/hedge_machine.cpp
    [[begun_ < policy_.settings().max_attempts()]] [[begun_ <= policy_.settings().max_attempts()]])

fault(hedge_delivers_before_losers_have_ended 30 src/hedge/hedge_machine.cpp
    [[(phase_ == phase::over || !policy_.settings().deliver_at_once)]] [[phase_ == phase::over]])

fault(hedge_heeds_the_last_server_alone 29 src/hedge/hedge_machine.cpp
    [[std::max(not_before_, saturating_add(now, said.delay()))]] [[saturating_add(now, said.delay())]])

fault(hedge_beats_those_that_began_later
    hedge_observer.is_told_which_attempts_were_beaten src/hedge/hedge_machine.cpp
    [[began < attempts_[result_ - 1].began]] [[began >= attempts_[result_ - 1].began]])

fault(hedge_keeps_the_results_of_losers 20 src/hedge/hedge_driver.cpp
    [[if (!keeps)]] [[if (false)]])

fault(hedge_of_silent_attempts_has_surely_not_sent 87 include/asio_retry/detail/hedge/hedge_operation.hpp
    [[this->machine().on_sent(one.number());]] [[static_cast<void>(one);]])
