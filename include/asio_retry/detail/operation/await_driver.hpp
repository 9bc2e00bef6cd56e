#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/coroutine_entry.hpp>
#include <asio_retry/detail/handler/handler_operation.hpp>
#include <asio_retry/detail/handler/kept_frame.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/handler/resumption.hpp>
#include <asio_retry/detail/handler/runs_here.hpp>
#include <asio_retry/detail/handler/stack_mark.hpp>
#include <asio_retry/detail/operation/awaited_place.hpp>
#include <asio_retry/detail/operation/awaited_presence.hpp>
#include <asio_retry/detail/operation/coroutine_notice.hpp>
#include <asio_retry/detail/operation/driver.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <thread>
#include <utility>

namespace asio_retry::detail {

/// A retry inside the coroutine that makes its attempts, without what depends on the operation. The driver
/// decides; the coroutine asks for the next step, and rests while there is none.
///
/// An attempt that a caller, a time limit or a scope may interrupt gets a cancellation state of its own in
/// place of the coroutine's. The attempt may reset it in order to clean up; the operation still knows that it
/// was cancelled.
template <typename Executor, typename WaitsOn>
class await_driver : public cancellable_core<retry_driver> {
    using core = cancellable_core<retry_driver>;
    using presence_type = awaited_presence<Executor, WaitsOn>;

public:
    enum class step : unsigned char {
        none, ///< the coroutine runs
        rest, ///< it is suspended
        begin,
        complete,
        destroy,
    };

    Executor const& executor() const noexcept { return entry_.executor(); }

    /// Suspends the coroutine until there is a next step, or until it has moved.
    auto async_rest() {
        return asio::async_initiate<asio::deferred_t const, void()>(
            [this](auto given_handler) {
                resume_.hold(std::move(given_handler));
                rest();
            },
            asio::deferred);
    }

    // --- its turns

    struct own_turn {
        operation_turn what;
    };
    struct move_turn {};
    template <typename>
    using turn_allocator = std::allocator<void>;
    template <typename Turn>
    std::allocator<void> get_turn_allocator(Turn) const noexcept {
        return {};
    }
    using core::on_turn;
    using core::on_turn_dropped;
    void on_turn(own_turn turn) { core::on_turn(turn.what); }
    void on_turn_dropped(own_turn turn) noexcept { core::on_turn_dropped(turn.what); }
    void on_turn(move_turn);
    void on_turn_dropped(move_turn) noexcept;

protected:
    /// The referenced objects must outlive it.
    await_driver(retry_policy&& given_policy, bool judges_results, coroutine_entry<Executor>& entry,
                 coroutine_home const& home, WaitsOn&& waits_on, presence_type& presence);

    ~await_driver() = default;

    /// The frame may be destroyed during an attempt, while notices are under way, and while the thread that has
    /// begun the attempt is still in the operation. Other threads call virtual functions until this returns, so
    /// that the destructor of the last class has to call it.
    void end_frame() noexcept {
        if (next_.load(std::memory_order_relaxed) != step::complete)
            end_unfinished();
    }

    enum class move : unsigned char {
        none,
        to_strand, ///< the coroutine enters the strand of its attempts
        back,      ///< it goes to its executor, because its attempt has ended on another
    };

    /// Replaces the cancellation of the coroutine. Returns whether it must move before the start.
    bool take_over();

    /// The move that has ended.
    move take_move() noexcept {
        return has_moved_ ? (has_moved_ = false, std::exchange(move_, move::none)) : move::none;
    }

    /// The next step, or `rest`. The cancellation of the coroutine changes here, because the coroutine reads it
    /// whenever it awaits something.
    step take_next();

    /// If the coroutine could not move, that ends the operation.
    void start();

    /// Why the coroutine could not move: no memory, or the executor threw.
    std::exception_ptr const& failure() const noexcept { return failure_; }

    /// The attempt has ended. Returns whether the coroutine must move first: on another executor no callable of
    /// the policy may be called, and notices change the operation.
    bool has_to_move_back(bool calls_nothing) noexcept;

    /// The attempt failed before it began, or the coroutine cannot go on where it has to: the operation ends.
    void end_with(std::exception_ptr const& thrown);

    void keep_frame() noexcept { frame_.take(); }

private:
    void end_unfinished() noexcept;

    void leave_scope() noexcept;

    void rest();

    /// If it cannot move, it goes on where it stands, and ends.
    void begin_move();

    step begin_attempt();

    /// The coroutine is as it was before.
    void give_back() noexcept;

    /// Tells the coroutine of the next step, and resumes it if it is suspended; may destroy *this.
    void go(step next);

    /// Tells the machine what the operation needs.
    virtual void prepare(retry_machine& machine) = 0;

    // --- for the driver

    void start_attempt() final;
    void clear_slot() noexcept final {}

    /// On the stack of the call that entered its strand the coroutine must come back in a turn. Otherwise many
    /// operations could begin and end without leaving the stack.
    void deliver() final;
    void deliver_later() final { deliver(); }
    void deliver_and_stay() final {}
    void dissolve() noexcept final;
    void free() noexcept final {}
    void on_attempt_left() final {}

    void post(operation_turn turn) final;
    void post_expired(operation_turn turn) final;

    /// Goes on in a turn of the executor. If this throws, nothing happened.
    template <typename Turn>
    void post_own(Turn turn);

    /// The same, or at once if that is a strand that may be entered here.
    template <typename Turn>
    void enter(Turn turn);

    asio::execution_context& context() const final;
    asio::io_context* own_context() const noexcept final;
    basic_membership<retry_driver>* membership() noexcept final;
    void forget_caller() noexcept final;
    void forget_waiting_place() noexcept final;

    using notice = coroutine_notice<await_driver, operation_turn>;

    std::atomic<step> next_ = step::none;
    move move_ = move::none;
    bool has_moved_ = false;
    coroutine_entry<Executor>& entry_;
    awaited_place<Executor, WaitsOn> place_;
    presence_type& presence_;
    asio::cancellation_slot caller_;
    bool const is_interruptible_;
    resumption resume_;
    kept_frame frame_; // for the next attempt
    std::exception_ptr failure_;
    notice timer_notice_;
    notice scope_notice_;
};

// --- its functions, which the library has for awaitables of an any_io_executor

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::on_turn(move_turn) {
    has_moved_ = true;
    go(step::none);
}
template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::on_turn_dropped(move_turn) noexcept {
    go(step::destroy);
}

template <typename Executor, typename WaitsOn>
await_driver<Executor, WaitsOn>::await_driver(retry_policy&& given_policy, bool judges_results,
                                              coroutine_entry<Executor>& entry, coroutine_home const& home,
                                              WaitsOn&& waits_on, presence_type& presence)
    : core(std::move(given_policy), judges_results)
    , entry_(entry)
    , place_(entry.executor(), home, std::move(waits_on))
    , presence_(presence)
    , caller_(entry.state().slot())
    , is_interruptible_(presence_type::is_scoped || caller_.is_connected() || machine().limits_attempts()) {
    if constexpr (presence_type::is_scoped)
        presence_.begin(*this, place_.context().scope());
    life_.go_to_executor();
}

template <typename Executor, typename WaitsOn>
bool await_driver<Executor, WaitsOn>::take_over() {
    if (caller_.is_connected())
        cancel(entry_.state().cancelled());
    if (is_interruptible_)
        entry_.take_over(stop_slot());
    if (entry_.has_moved())
        move_ = move::to_strand;
    return entry_.has_moved();
}

template <typename Executor, typename WaitsOn>
auto await_driver<Executor, WaitsOn>::take_next() -> step {
    step const next = next_.load(std::memory_order_acquire);
    if (next == step::begin)
        return begin_attempt();
    if (next == step::complete)
        give_back();
    return next == step::complete ? next : step::rest;
}

template <typename Executor, typename WaitsOn>
bool await_driver<Executor, WaitsOn>::has_to_move_back(bool calls_nothing) noexcept {
    if (is_interruptible_)
        entry_.let_nothing_throw();
    else if (calls_nothing)
        return false;
    if (is_marked_here() || place_.is_here(executor()))
        return false;
    move_ = move::back;
    return true;
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::end_with(std::exception_ptr const& thrown) {
    this->put_failure(code_of(thrown), thrown);
    this->amend_result(this->conclude_failed());
    this->on_last_result_kept();
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::end_unfinished() noexcept {
    if (next_.load(std::memory_order_relaxed) != step::destroy && !is_marked_here())
        while (!life_.occupancy.enter())
            std::this_thread::yield();
    forget_caller();
    while (life_.armed_for() == life::timer::limit && !cancel_timer() && !timer_notice_.abandon() &&
           !life_.occupancy.has(life_event::timer_due | life_event::timer_lost))
        std::this_thread::yield(); // another thread is about to queue the notice, or fails to
    if constexpr (presence_type::is_scoped)
        leave_scope();
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::leave_scope() noexcept {
    while (life_.is_linked() && !membership()->unlink()) {
        if (scope_notice_.abandon() || life_.occupancy.take(life_event::scope_noticed))
            membership()->take_request(); // after it there may be another
        else
            std::this_thread::yield();
    }
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::rest() {
    if (move_ != move::none)
        return begin_move();
    step running = step::none;
    if (next_.compare_exchange_strong(running, step::rest, std::memory_order_acq_rel))
        return;
    if (running == step::destroy)
        resume_.drop();
    else
        resume_();
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::begin_move() {
    next_.store(step::rest, std::memory_order_relaxed);
    try {
        move_ == move::to_strand ? enter(move_turn()) : post_own(move_turn());
    } catch (...) {
        failure_ = std::current_exception();
        on_turn(move_turn());
    }
}

template <typename Executor, typename WaitsOn>
auto await_driver<Executor, WaitsOn>::begin_attempt() -> step {
    next_.store(step::none, std::memory_order_relaxed);
    frame_.give_back();
    try {
        if (is_interruptible_)
            entry_.renew();
        return step::begin;
    } catch (...) {
        end_with(std::current_exception());
    }
    return take_next();
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::give_back() noexcept {
    entry_.give_back();
    if constexpr (presence_type::is_scoped)
        presence_.end_on(executor(), entry_.move_back());
    else if (entry_.has_moved())
        entry_.move_back();
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::go(step next) {
    if (next_.exchange(next, std::memory_order_acq_rel) != step::rest)
        return;
    if (next == step::destroy)
        resume_.drop();
    else
        resume_();
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::start_attempt() {
    go(step::begin);
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::deliver() {
    if (entry_.has_moved() && stack_mark::find(&entry_)) {
        try {
            return post_own(own_turn{operation_turn::delivery});
        } catch (...) { // there is no other place to go on
        }
    }
    go(step::complete);
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::dissolve() noexcept {
    go(step::destroy);
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::post(operation_turn turn) {
    switch (turn) {
    case operation_turn::timer_notice:
        return timer_notice_.post(*this, executor(), turn);
    case operation_turn::scope_notice:
        return scope_notice_.post(*this, executor(), turn);
    case operation_turn::continuation_aside: // while its attempt runs it takes only notices
        if (!life_.occupancy.has(attempt_ended(1)))
            throw std::bad_alloc();
        return post_own(own_turn{turn});
    default:
        return post_own(own_turn{turn});
    }
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::post_expired(operation_turn turn) {
    turn == operation_turn::after_wait ? enter(own_turn{turn}) : post(turn);
}

template <typename Executor, typename WaitsOn>
asio::execution_context& await_driver<Executor, WaitsOn>::context() const {
    return place_.context_of_waits(executor());
}

template <typename Executor, typename WaitsOn>
asio::io_context* await_driver<Executor, WaitsOn>::own_context() const noexcept {
    return detail::own_context(executor());
}

template <typename Executor, typename WaitsOn>
basic_membership<retry_driver>* await_driver<Executor, WaitsOn>::membership() noexcept {
    return presence_.member();
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::forget_caller() noexcept {
    if (is_connected())
        caller_.clear();
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::forget_waiting_place() noexcept {
    place_.forget();
}

template <typename Executor, typename WaitsOn>
void await_driver<Executor, WaitsOn>::start() {
    try {
        prepare(machine());
        if (failure_)
            std::rethrow_exception(failure_);
        connect(caller_);
        if (is_interruptible_ && place_.knows_scheduler(executor()))
            this->take_scheduler(place_.home().scheduler(), &place_.home().context());
    } catch (...) {
        return go_on_after_failure();
    }
    core::start(presence_type::is_scoped, caller_.is_connected());
}

template <typename Executor, typename WaitsOn>
template <typename Turn>
void await_driver<Executor, WaitsOn>::post_own(Turn turn) {
    post_turn(executor(), executor(), *this, turn);
}
template <typename Executor, typename WaitsOn>
template <typename Turn>
void await_driver<Executor, WaitsOn>::enter(Turn turn) {
    stack_mark const here(&entry_);
    if (enters_here(executor()))
        enter_turn(executor(), *this, turn);
    else
        post_own(turn);
}

#if ASIO_RETRY_LEAVES_INSTANTIATION && !defined(ASIO_RETRY_SPAWN_ATTEMPTS)
extern template class ASIO_RETRY_DECL_INSTANTIATION await_driver<asio::any_io_executor, own_executor>;
extern template class ASIO_RETRY_DECL_INSTANTIATION await_driver<asio::any_io_executor, asio::any_io_executor>;
extern template class ASIO_RETRY_DECL_INSTANTIATION await_driver<asio::any_io_executor, scope_handle>;
#endif

} // namespace asio_retry::detail
