#include <asio_retry/detail/ticker/ticker_state.hpp>

#include <asio_retry/detail/handler/operation_executors.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <cassert>
#include <new>
#include <utility>

namespace asio_retry::detail {

ticker_state::ticker_state(boost::asio::any_io_executor executor, retry_policy policy)
    : executor_((refuse_if_empty_executor("backoff_ticker.executor", executor), std::move(executor)))
    , scheduler_(scheduler(boost::asio::query(executor_, boost::asio::execution::context)))
    , policy_(std::move(policy)) {}

void ticker_state::stop() {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    if (ticker_wait* const wait = current_; wait && take_back(*wait)) {
        lock.unlock();
        queue(*wait);
    }
}

void ticker_state::start_over() {
    std::unique_lock lock(mutex_);
    if (stopped_)
        return;
    time_point const now = scheduler_.now();
    starts_over_from_ = now;
    if (ticker_wait* const wait = current_; wait && take_back(*wait)) {
        phase_ = phase::deciding;
        lock.unlock();
        bool is_due = true;
        try {
            is_due = decide(*wait, now);
        } catch (...) { // the wait cannot be scheduled, so it ends with the error
            wait->result_ = code_of(std::current_exception());
        }
        if (is_due)
            queue(*wait);
    }
}

void ticker_state::tick_now() {
    std::unique_lock lock(mutex_);
    tick_requested_ = phase_ == phase::deciding || (phase_ == phase::queued && starts_over_from_);
    if (ticker_wait* const wait = current_; wait && take_back(*wait)) {
        lock.unlock();
        queue(*wait);
    }
}

void ticker_state::cancel(ticker_wait& wait) {
    std::unique_lock lock(mutex_);
    if (current_ != &wait)
        return;
    wait.cancelled_ = true;
    if (take_back(wait)) {
        lock.unlock();
        queue(wait);
    }
}

bool ticker_state::begin(ticker_wait& wait) {
    std::unique_lock lock(mutex_);
    if (current_) {
        wait.result_ = boost::asio::error::already_started;
        lock.unlock();
        wait.post();
        return false;
    }
    current_ = &wait;
    phase_ = phase::deciding;
    tick_requested_ = false;
    lock.unlock();
    if (retry_scheduler::any_seeded())
        get_random(); // streams go to the tickers in the order of their first waits
    try {
        return decide(wait, scheduler_.now());
    } catch (...) {
        withdraw(wait);
        forget(wait);
        throw;
    }
}

void ticker_state::forget(ticker_wait& wait) noexcept {
    std::lock_guard const lock(mutex_);
    if (current_ != &wait)
        return;
    current_ = nullptr;
    phase_ = phase::idle;
}

/// Precondition: the mutex is held. Returns true if the scheduler had the wait; then the caller owns it.
bool ticker_state::take_back(ticker_wait& wait) noexcept {
    if (phase_ != phase::waiting || !scheduler_.cancel(wait))
        return false;
    phase_ = phase::queued;
    return true;
}

/// Precondition: the phase is `deciding`. Returns true if the caller, who still owns the wait, must queue it
/// now. Returns false if the wait has another owner. If this throws, the caller owns it.
bool ticker_state::decide(ticker_wait& wait, time_point now) {
    std::unique_lock lock(mutex_);
    assert(phase_ == phase::deciding);
    retry_action action;
    for (bool started_over = false; !started_over;) {
        auto const from = std::exchange(starts_over_from_, std::nullopt);
        lock.unlock();
        action = ask(wait, now, from);
        lock.lock();
        // A callable of the policy may ask to start over each time; it is obeyed once.
        started_over = from || !starts_over_from_ || stopped_;
    }
    starts_over_from_.reset();

    if (action.what == retry_action::kind::complete)
        wait.result_ = note_end(action);
    else if (action.what == retry_action::kind::wait)
        planned_ = saturating_add(now, action.delay);
    return begin_wait(wait, action.what != retry_action::kind::wait || action.delay == duration::zero(),
                      std::move(lock));
}

/// Preconditions: the phase is `deciding`, the mutex is held.
bool ticker_state::begin_wait(ticker_wait& wait, bool is_due, std::unique_lock<std::mutex> lock) {
    bool const is_requested = std::exchange(tick_requested_, false);
    if (is_due || is_requested || stopped_ || wait.cancelled_) {
        phase_ = phase::queued;
        return true;
    }
    phase_ = phase::waiting;
    bool const scheduled = scheduler_.schedule(wait, *planned_);
    lock.unlock();
    if (!scheduled)
        wait.on_shutdown();
    return false;
}

retry_action ticker_state::ask(ticker_wait& wait, time_point now, std::optional<time_point> starts_over_from) {
    if (starts_over_from) {
        machine_.reset();
        planned_.reset();
        ended_with_ = error_code();
    }
    wait.is_first_tick_ = false;
    if (ended_with_) {
        retry_action again;
        again.error = stopped_ ? aborted_error() : ended_with_;
        return again;
    }
    if (planned_) { // a wait that was cancelled has planned this tick
        retry_action same;
        same.what = retry_action::kind::wait;
        same.delay = elapsed_between(now, *planned_);
        return same;
    }
    if (!machine_) {
        machine_.emplace(policy_);
        machine_->watch(*this);
        machine_->expect_ticks();
        retry_action const first = machine_->start(starts_over_from.value_or(now));
        wait.is_first_tick_ = first.what == retry_action::kind::attempt && !starts_over_from;
        if (first.what != retry_action::kind::attempt || !starts_over_from)
            return first;
    }
    return machine_->on_failure(verdict::rejected(), now, get_random());
}

std::optional<error_code> ticker_state::conclude(ticker_wait& wait) {
    std::unique_lock lock(mutex_);
    if (current_ != &wait)
        return wait.result_;
    phase_ = phase::deciding;
    bool const cancelled = wait.cancelled_;
    bool const is_final = wait.result_ && !starts_over_from_;
    lock.unlock();
    std::optional<error_code> const result = is_final ? wait.result_ : conclude_due(wait, cancelled);
    if (result)
        forget(wait);
    return result;
}

std::optional<error_code> ticker_state::conclude_due(ticker_wait& wait, bool cancelled) {
    if (cancelled && !stopped_) {
        withdraw(wait);
        return aborted_error();
    }
    if (wait.is_first_tick_ && !stopped_)
        return error_code();
    if (wait.result_)
        return start_over_with(wait);
    planned_.reset();
    time_point const now = scheduler_.now();
    retry_action const action = wait.is_first_tick_
                                    ? machine_->on_failure(verdict::rejected(), now, get_random())
                                    : machine_->on_wait_over(now, get_random());
    if (action.what == retry_action::kind::attempt)
        return error_code();
    std::unique_lock lock(mutex_);
    if (starts_over_from_) {
        lock.unlock();
        return start_over_with(wait);
    }
    if (action.what == retry_action::kind::complete)
        return note_end(action);
    planned_ = saturating_add(now, action.delay);
    return wait_again(wait,
                      [&] { return begin_wait(wait, action.delay == duration::zero(), std::move(lock)); });
}

/// Starts over with a wait that was queued when `start_over` was called.
std::optional<error_code> ticker_state::start_over_with(ticker_wait& wait) {
    std::unique_lock lock(mutex_);
    wait.result_ = error_code();
    time_point const from = *starts_over_from_;
    lock.unlock();
    return wait_again(wait, [&] { return decide(wait, from); });
}

template <typename Begin>
std::optional<error_code> ticker_state::wait_again(ticker_wait& wait, Begin begin) {
    bool is_due = false;
    try {
        is_due = begin();
    } catch (...) { // the wait cannot be scheduled, so it ends with the error
        return code_of(std::current_exception());
    }
    if (is_due)
        queue(wait);
    return std::nullopt;
}

/// Undoes the start of the machine, so that the next wait gets the first tick.
void ticker_state::withdraw(ticker_wait const& wait) noexcept {
    if (wait.is_first_tick_)
        machine_.reset();
}

error_code ticker_state::note_end(retry_action const& action) {
    if (action.error && action.error != condition::refused) // a gate's refusal is not why the ticker ends
        ended_with_ = action.error;
    else if (action.reason == stop_reason::deadline)
        ended_with_ = timed_out_error();
    else
        ended_with_ = error::exhausted;
    return ended_with_;
}

random& ticker_state::get_random() {
    if (!random_)
        random_.emplace(scheduler_.next_random());
    return *random_;
}

/// Precondition: the phase is `queued`. Without memory to queue the turn, the scheduler retries until there is
/// memory.
void ticker_state::queue(ticker_wait& wait) {
    try {
        return wait.post();
    } catch (...) { // `post` threw: no turn is queued
    }
    std::unique_lock lock(mutex_);
    phase_ = phase::waiting;
    bool scheduled = false;
    try {
        scheduled = scheduler_.schedule(wait, scheduler_.now());
    } catch (...) { // it cannot be scheduled, either: the turn runs on this thread
        lock.unlock();
        return wait.end();
    }
    lock.unlock();
    if (!scheduled)
        wait.on_shutdown();
}

bool ticker_state::on_expiry(ticker_wait& wait) {
    {
        std::lock_guard const lock(mutex_);
        phase_ = phase::queued;
    }
    bool const ended = post_or_end([&] { wait.post(); }, [&] { wait.end(); });
    if (!ended) {
        std::lock_guard const lock(mutex_);
        phase_ = phase::waiting;
    }
    return ended;
}

void ticker_wait::on_cancelled(boost::asio::cancellation_type_t type) {
    if (type == boost::asio::cancellation_type::none)
        return;
    auto const state = state_; // outlives the wait
    state->cancel(*this);
}

bool ticker_wait::on_expiry() {
    return state_->on_expiry(*this);
}

void ticker_wait::on_shutdown() noexcept {
    state_->forget(*this);
    dissolve();
}

} // namespace asio_retry::detail
