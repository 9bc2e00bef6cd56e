#include <asio_retry/detail/operation/await_driver.hpp>

#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>

#include "handler/serial_executor.hpp"
#include "life/attempt_life.hpp"
#include "operation/coroutine_notice.hpp"

#include <boost/asio/post.hpp>

#include <new>
#include <thread>

namespace asio_retry::detail {

[[gnu::hot]] waiting_place::waiting_place(scope_handle given_scope, asio::any_io_executor const& own)
    : waiting_place(given_scope->executor(), own) {
    scope_ = std::move(given_scope);
}

bool waiting_place::belongs_to(asio::any_io_executor const& own) const {
    return context_ == &asio::query(own, asio::execution::context);
}

/// If a join waits for the scope, the presence ends in a later turn, after whatever the coroutine does now.
[[gnu::hot]] void awaited_presence::end() noexcept {
    if (!counted_->ended_on || member().end_unjoined())
        return;
    try {
        asio::post(counted_->ended_on, [presence = member().take_presence()] {});
    } catch (...) { // no memory: the presence ends now
    }
}

/// Emissions must not reach an attempt while it runs. One thread or a strand sees to that already.
[[gnu::hot]] void awaited_course::look_for_strand(coroutine_stack const& stack) {
    asio::io_context* const context = detail::own_context(stack.executor());
    retry_scheduler* const found = context ? &asio_retry::scheduler(*context) : nullptr;
    if (found && found->has_one_thread())
        scheduler = found;
    else
        wants_strand = context || !executor_home(stack.executor()).is_strand();
    is_elsewhere = is_elsewhere || (wants_strand && !stack.may_move());
}

[[gnu::hot]] await_driver::await_driver(retry_policy&& given_policy, bool judges_results,
                                        coroutine_stack& stack, awaited_course const& course,
                                        waiting_place&& waits_in, awaited_presence* presence)
    : core(std::move(given_policy), judges_results)
    , stack_(stack)
    , course_(course)
    , place_(std::move(waits_in))
    , caller_(stack.state().slot())
    , is_interruptible_(presence || caller_.is_connected() || machine().limits_attempts())
    , presence_(presence) {
    if (presence)
        presence->begin(*this, place_.scope());
    life_.go_to_executor();
}

void await_driver::delete_notices() noexcept {
    delete timer_notice_.load(std::memory_order_relaxed);
    delete scope_notice_.load(std::memory_order_relaxed);
}

// --- its steps

[[gnu::hot]] auto await_driver::begin() -> step {
    if (course_.wants_strand)
        return begin_on_strand();
    take_over_cancellation();
    start();
    return take_step();
}

/// The step is `rest`: when the coroutine rests, `begin_move` takes it to the strand, and `go_on_moved` starts
/// the operation there.
auto await_driver::begin_on_strand() -> step {
    std::exception_ptr failure;
    try {
        stack_.move_to(strand_of<asio::any_io_executor>::make(stack_.executor()));
        move_ = move::to_strand;
    } catch (...) { // the operation has begun, so it has to end
        failure = std::current_exception();
    }
    take_over_cancellation();
    if (failure)
        start(&failure);
    return take_step();
}

[[gnu::hot]] void await_driver::take_over_cancellation() {
    if (caller_.is_connected())
        cancel(stack_.state().cancelled());
    if (is_interruptible_)
        stack_.take_over(stop_slot());
}

[[gnu::hot]] void await_driver::start(std::exception_ptr const* failure) {
    try {
        prepare(machine());
        if (failure)
            std::rethrow_exception(*failure);
        connect(caller_);
        retry_scheduler* const found = course_.scheduler;
        if (is_interruptible_ && found && &context() == &found->context())
            take_scheduler(*found, static_cast<asio::io_context*>(&found->context()));
    } catch (...) {
        return go_on_after_failure();
    }
    if (is_interruptible_ || !start_alone())
        return start_watched(presence_ != nullptr, caller_.is_connected());
    next_.store(step::begin, std::memory_order_relaxed);
}

[[gnu::hot]] auto await_driver::take_step() -> step {
    step const next = next_.load(std::memory_order_acquire);
    if (next == step::begin)
        return begin_attempt();
    if (next == step::complete)
        give_back();
    return next == step::complete ? next : step::rest;
}

[[gnu::hot]] auto await_driver::begin_attempt() -> step {
    next_.store(step::none, std::memory_order_relaxed);
    frame_.give_back();
    try {
        if (is_interruptible_)
            stack_.renew();
        return step::begin;
    } catch (...) {
        end_with(std::current_exception()); // it leaves the step `complete`, or a turn that does
    }
    return take_step();
}

/// Restores the executor and the cancellation state of the coroutine.
[[gnu::hot]] void await_driver::give_back() noexcept {
    stack_.give_back();
    if (presence_)
        presence_->end_on(stack_.executor()); // in the strand, if there is one
    if (stack_.has_moved())
        stack_.move_back();
}

[[gnu::hot]] void await_driver::end_attempt_here(bool calls_nothing) {
    if (is_interruptible_)
        stack_.let_nothing_throw();
    bool const may_end_anywhere = calls_nothing && !is_interruptible_;
    if (may_end_anywhere && ends_alone())
        return next_.store(step::complete, std::memory_order_relaxed);
    if (may_end_anywhere || is_marked_here() || is_here()) // a marked thread is the occupant
        end_attempt();
    else
        move_ = move::back;
}

/// Returns false also if the executor cannot tell.
[[gnu::hot]] bool await_driver::is_here() const noexcept {
    if (retry_scheduler* const found = course_.scheduler)
        return static_cast<asio::io_context&>(found->context()).get_executor().running_in_this_thread();
    return executor_home(stack_.executor()).is_here();
}

/// Without a result nothing can be retried: the attempt is the last one.
[[gnu::hot]] void await_driver::end_attempt() {
    thrown_ ? on_last_result_kept() : on_result_kept(has_failed());
}

/// Ends the operation: the attempt failed before it began, or the coroutine could not move.
void await_driver::end_with(std::exception_ptr const& thrown) {
    put_failure(code_of(thrown), thrown);
    amend_result(conclude_failed());
    on_last_result_kept();
}

// --- rest, and going on

/// The coroutine is suspended already. If the driver has stored a step meanwhile, resumes the coroutine.
void await_driver::rest() {
    if (move_ != move::none)
        return begin_move();
    step next = step::none;
    if (!next_.compare_exchange_strong(next, step::rest, std::memory_order_acq_rel))
        resume(next);
}

/// Moves the coroutine to its strand, or back to its executor. If that fails, the operation ends on this
/// thread.
void await_driver::begin_move() {
    next_.store(step::rest, std::memory_order_relaxed); // before another thread goes on with the coroutine
    try {
        move_ == move::to_strand ? enter(move_turn()) : post_own(move_turn());
    } catch (...) {
        std::exception_ptr const failure = std::current_exception();
        go_on_moved(&failure);
    }
}

/// Continues after the move: starts the operation, or ends its attempt. The coroutine rests until the driver
/// stores its next step.
void await_driver::go_on_moved(std::exception_ptr const* failure) {
    if (std::exchange(move_, move::none) == move::to_strand)
        start(failure);
    else if (failure && !thrown_)
        end_with(*failure);
    else
        end_attempt();
}

/// Tells the coroutine of the next step, and resumes it if it is suspended; may destroy *this.
void await_driver::go(step next) {
    if (next_.exchange(next, std::memory_order_acq_rel) == step::rest)
        resume(next);
}

void await_driver::resume(step next) {
    next == step::destroy ? resume_.drop() : resume_();
}

// --- the end of an unfinished frame

/// Asio destroys the frame, or the driver does. Keeps other threads out, and then makes sure that neither the
/// timer nor the scope nor a queued notice knows the operation any longer.
void await_driver::end_unfinished() noexcept {
    bool const is_occupant = next_.load(std::memory_order_relaxed) == step::destroy || is_marked_here();
    if (!is_occupant)
        while (!life_.occupancy.enter())
            std::this_thread::yield();
    forget_caller();
    while (life_.armed_for() == life::timer::limit && !cancel_timer() && !notice::abandon(timer_notice_) &&
           !life_.occupancy.has(life_event::timer_due | life_event::timer_lost))
        std::this_thread::yield(); // another thread is about to queue the notice, or fails to
    while (presence_ && life_.is_linked() && !membership()->unlink()) {
        if (notice::abandon(scope_notice_) || life_.occupancy.take(life_event::scope_noticed))
            membership()->take_request(); // after it there may be another
        else
            std::this_thread::yield();
    }
}

// --- for the driver

[[gnu::hot]] void await_driver::start_attempt() {
    go(step::begin);
}

/// If this stack has entered the strand, posts the delivery: otherwise many operations could begin and end on
/// one stack.
[[gnu::hot]] void await_driver::deliver() {
    if (stack_.has_moved() && stack_mark::find(&stack_)) {
        try {
            return post_own(operation_turn::delivery);
        } catch (...) { // no memory: resume the coroutine on this stack
        }
    }
    go(step::complete);
}

void await_driver::dissolve() noexcept {
    go(step::destroy);
}

void await_driver::post(operation_turn turn) {
    if (turn == operation_turn::timer_notice)
        return notice::post(timer_notice_, *this, stack_.executor(), turn);
    if (turn == operation_turn::scope_notice)
        return notice::post(scope_notice_, *this, stack_.executor(), turn);
    if (turn == operation_turn::continuation_during_attempt && !life_.occupancy.has(attempt_ended(1)))
        throw std::bad_alloc(); // during an attempt only notices may be queued: the driver now goes on here
    post_own(turn);
}

/// The end of a wait may enter the strand at once. A notice of a limit is always queued.
void await_driver::post_expired(operation_turn turn) {
    turn == operation_turn::after_wait ? enter(turn) : post(turn);
}

/// Queues a turn on the coroutine's executor. If this throws, no turn is queued.
template <typename Turn>
void await_driver::post_own(Turn turn) {
    post_turn(stack_.executor(), stack_.executor(), *this, turn);
}

/// Enters a strand at once where that is possible here.
template <typename Turn>
void await_driver::enter(Turn turn) {
    stack_mark const here(&stack_);
    if (enters_here(stack_.executor()))
        enter_turn(stack_.executor(), *this, turn);
    else
        post_own(turn);
}

[[gnu::hot]] asio::execution_context& await_driver::context() const {
    if (auto* const elsewhere = place_.context())
        return *elsewhere;
    retry_scheduler* const found = course_.scheduler;
    return found ? found->context() : asio::query(stack_.executor(), asio::execution::context);
}

[[gnu::hot]] asio::io_context* await_driver::own_context() const noexcept {
    return detail::own_context(stack_.executor());
}

[[gnu::hot]] basic_membership<retry_driver>* await_driver::membership() noexcept {
    return presence_ ? &presence_->member() : nullptr;
}

[[gnu::hot]] void await_driver::forget_caller() noexcept {
    if (is_connected())
        caller_.clear();
}

} // namespace asio_retry::detail
