#pragma once

#include <asio_retry/detail/handler/coroutine_entry.hpp>
#include <asio_retry/detail/handler/handler_operation.hpp>
#include <asio_retry/detail/operation/driver.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/deferred.hpp>

#include <atomic>
#include <exception>
#include <utility>

namespace asio_retry::detail {

/// The executor on which a coroutine waits: its own, another one, or a scope's. Keeps another context running.
class ASIO_RETRY_DECL waiting_place {
public:
    waiting_place() noexcept = default; // on the coroutine's own executor

    /// `own` is the executor of the coroutine. The coroutine keeps the context of `own` running.
    template <typename Executor>
    waiting_place(Executor const& executor, asio::any_io_executor const& own)
        : context_(&asio::query(executor, asio::execution::context)) {
        if (!belongs_to(own))
            work_.reset(new work_of<tracked_executor<Executor>>(
                asio::prefer(executor, asio::execution::outstanding_work.tracked)));
    }
    waiting_place(scope_handle given_scope, asio::any_io_executor const& own);

    asio::execution_context* context() const noexcept { return context_; } // null for its own
    scope_handle const& scope() const noexcept { return scope_; }

    /// Call this when the context is being destroyed.
    void forget() noexcept {
        work_.reset();
        scope_.reset();
    }

private:
    struct work {
        virtual ~work() = default;
    };
    template <typename Executor>
    struct work_of final : work {
        explicit work_of(Executor&& given_executor) noexcept
            : executor(std::move(given_executor)) {}
        Executor executor;
    };

    bool belongs_to(asio::any_io_executor const& own) const;

    asio::execution_context* context_ = nullptr;
    owned<work> work_;
    scope_handle scope_;
};

/// Keeps an awaited operation counted in its scope, until its result has been used: until the coroutine that
/// receives the result waits for something else.
class ASIO_RETRY_DECL awaited_presence {
public:
    awaited_presence() noexcept = default;
    awaited_presence(awaited_presence&&) noexcept {} // precondition: `begin` was not called
    awaited_presence& operator=(awaited_presence&&) = delete;
    ~awaited_presence() {
        if (counted_)
            end();
    }

    void begin(retry_driver& retry, scope_handle const& in) { counted_.emplace(retry, in); }
    basic_membership<retry_driver>& member() noexcept { return counted_->member; }

    /// The operation has ended, and its caller goes on there.
    void end_on(asio::any_io_executor const& executor) noexcept { counted_->ended_on = executor; }

private:
    struct counted {
        counted(retry_driver& retry, scope_handle const& in)
            : member(retry, in) {}
        basic_membership<retry_driver> member; // the operation may be destroyed earlier
        asio::any_io_executor ended_on;        // empty if the coroutine is being destroyed
    };

    void end() noexcept;

    maybe<counted> counted_;
};

/// How a coroutine awaits its retry: inside itself, and there perhaps on a strand, or elsewhere.
struct ASIO_RETRY_DECL awaited_course {
    awaited_course(coroutine_stack const& stack, retry_policy const& given_policy, bool is_scoped)
        : is_elsewhere(given_policy.settings().deliver_at_once) {
        if (is_scoped || given_policy.settings().limits_attempts())
            look_for_strand(stack);
    }

    retry_scheduler* scheduler = nullptr; ///< of the coroutine's own context, if it was looked up
    bool wants_strand = false;            ///< the coroutine moves to a strand until the retry ends
    bool is_elsewhere;                    ///< the attempts need a coroutine of their own

private:
    void look_for_strand(coroutine_stack const& stack);
};

template <typename Of, typename Turn>
class coroutine_notice;

/// Memory for a coroutine's frame, kept during a wait.
class ASIO_RETRY_DECL kept_frame {
public:
    kept_frame() noexcept = default;
    kept_frame(kept_frame const&) = delete;
    kept_frame& operator=(kept_frame const&) = delete;
    ~kept_frame() { give_back(); }

    /// Takes a piece from this thread, if the thread runs a context. Precondition: holds none.
    void take() noexcept;

    void give_back() noexcept { piece_ ? free_piece() : void(); }

private:
    void free_piece() noexcept;
    void* piece_ = nullptr;
};

/// A retry inside the coroutine that makes its attempts; the part that is common to all operations. The driver
/// decides; the coroutine asks for the next step, and rests while there is none.
///
/// `next_` is a handshake. The driver calls `go`, which stores the next step. The coroutine suspends in
/// `async_rest`, which stores `rest`. Whichever is second resumes the coroutine.
///
/// If a caller, a time limit or a scope may interrupt the attempt, a cancellation state of its own replaces the
/// coroutine's. Even if the attempt resets its state in order to clean up, the operation stays cancelled.
class ASIO_RETRY_DECL await_driver : public cancellable_core<retry_driver> {
    using core = cancellable_core<retry_driver>;

public:
    enum class step : unsigned char {
        none,     ///< the coroutine runs, and the driver has no step yet
        rest,     ///< the coroutine is suspended, or is to suspend
        begin,    ///< make an attempt
        complete, ///< return the result
        destroy,  ///< destroy the coroutine: the operation is abandoned
    };

    /// Return the first step, and each later step. They also replace the cancellation of the coroutine, because
    /// the coroutine reads it whenever it awaits something.
    step begin();
    step take_step();

    /// Suspends the coroutine until there is a next step, or until it has moved.
    auto async_rest() {
        return asio::async_initiate<asio::deferred_t const, void()>(
            [this](auto given_handler) {
                resume_.hold(std::move(given_handler));
                rest();
            },
            asio::deferred);
    }

    struct move_turn {};
    using core::get_turn_allocator;
    std::allocator<void> get_turn_allocator(move_turn) const noexcept { return {}; }
    using core::on_turn;
    void on_turn(move_turn) { go_on_moved(); }
    using core::on_turn_dropped;
    void on_turn_dropped(move_turn) noexcept { go(step::destroy); }

protected:
    /// The referenced objects must outlive it. `presence` is null outside a scope.
    await_driver(retry_policy&& given_policy, bool judges_results, coroutine_stack& stack,
                 awaited_course const& course, waiting_place&& waits_in, awaited_presence* presence);
    ~await_driver() {
        if (timer_notice_.load(std::memory_order_relaxed) || scope_notice_.load(std::memory_order_relaxed))
            delete_notices();
    }

    /// Call this in the destructor of the most derived class: other threads may call virtual functions until it
    /// returns. The frame may be destroyed during an attempt, while notices are queued, and while the thread
    /// that has begun the attempt is still in the operation.
    void end_frame() noexcept {
        if (next_.load(std::memory_order_relaxed) != step::complete)
            end_unfinished();
    }

    /// Ends the attempt here, or first moves the coroutine back to its executor. On another executor no
    /// callable of the policy may be called, and an operation with notices must not change: they may change it
    /// at the same time. `calls_nothing`: the end of this attempt calls no callable.
    void end_attempt_here(bool calls_nothing);

    void keep_frame() noexcept { frame_.take(); }

    std::exception_ptr thrown_; // by a value's constructor; null if there is a result

private:
    enum class move : unsigned char {
        none,
        to_strand, ///< the coroutine enters the strand of its attempts
        back,      ///< it goes to its executor, because its attempt has ended on another
    };

    virtual void prepare(retry_machine& machine) = 0;

    step begin_on_strand();
    void take_over_cancellation();

    /// `failure`: the exception that prevented the move; null if there was none.
    void start(std::exception_ptr const* failure = nullptr);
    void go_on_moved(std::exception_ptr const* failure = nullptr);

    void end_attempt();
    void end_with(std::exception_ptr const& thrown);
    step begin_attempt();
    void give_back() noexcept;
    void rest();
    void begin_move();
    void go(step next);
    void resume(step next);
    bool is_here() const noexcept;
    void end_unfinished() noexcept;
    void delete_notices() noexcept;

    // --- for the driver

    void start_attempt() final;
    void clear_slot() noexcept final {}
    void deliver() final;
    void deliver_later() final { deliver(); }
    void deliver_and_stay() final {}
    void dissolve() noexcept final;
    void free() noexcept final {}
    void on_attempt_left() final {}
    void post(operation_turn turn) final;
    void post_expired(operation_turn turn) final;
    template <typename Turn>
    void post_own(Turn turn);
    template <typename Turn>
    void enter(Turn turn);
    asio::execution_context& context() const final;
    asio::io_context* own_context() const noexcept final;
    basic_membership<retry_driver>* membership() noexcept final;
    void forget_caller() noexcept final;
    void forget_waiting_place() noexcept final { place_.forget(); }

    using notice = coroutine_notice<await_driver, operation_turn>;

    std::atomic<step> next_ = step::none;
    move move_ = move::none; // what the coroutine does when it next rests
    coroutine_stack& stack_;
    awaited_course const course_;
    waiting_place place_;
    asio::cancellation_slot caller_;
    bool const is_interruptible_;          // by the caller, a time limit or a scope
    awaited_presence* presence_ = nullptr; // of an operation in a scope
    resumption resume_;
    kept_frame frame_; // for the next attempt
    std::atomic<notice*> timer_notice_ = nullptr;
    std::atomic<notice*> scope_notice_ = nullptr;
};

} // namespace asio_retry::detail
