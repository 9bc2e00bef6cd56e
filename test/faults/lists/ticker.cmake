# Mistakes in tickers.

noticed_by(tests_of_ticker)

fault(ticker_ignores_a_hurry_while_it_decides src/ticker/ticker_state.cpp
    [[    hurries_ = phase_ == phase::deciding || (]] [[    hurries_ = (]])

fault(ticker_ignores_a_cancellation_of_what_is_queued src/ticker/ticker_state.cpp
    [[    wait.cancelled_ = true;
    if (take_back(wait)) {]] [[    wait.cancelled_ = phase_ != phase::queued;
    if (take_back(wait)) {]])

fault(ticker_keeps_an_end_that_is_due_when_it_starts_over src/ticker/ticker_state.cpp
    [[wait.result_ && !starts_over_from_;]] [[bool(wait.result_);]])

fault(ticker_loses_its_first_tick src/ticker/ticker_state.cpp
    [[    if (wait.is_first_tick_)
        machine_.reset();]] [[    if (!wait.is_first_tick_)
        machine_.reset();]])

fault(ticker_forgets_its_wait_for_another src/ticker/ticker_state.cpp
    [[    if (current_ != &wait)
        return;
    current_ = nullptr;]] [[    static_cast<void>(wait);
    current_ = nullptr;]])

noticed_by(exhaustion_tests)

fault(ticker_keeps_a_wait_that_it_could_not_begin src/ticker/ticker_state.cpp
    [[        withdraw(wait);
        forget(wait);
        throw;]] [[        withdraw(wait);
        throw;]])

fault(ticker_loses_a_wait_that_there_is_no_memory_for src/ticker/ticker_state.cpp
    [[        lock.unlock();
        return wait.end();]] [[        lock.unlock();
        return;]])
