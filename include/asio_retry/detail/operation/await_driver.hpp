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
#include <memory>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// Where a coroutine waits, with work on that context: on its own executor, on another, or in a scope.
class ASIO_RETRY_DECL waiting_place {
public:
    /// Its own executor.
    waiting_place() noexcept = default;

    /// `own` is the executor of the coroutine, which keeps its context working.
    template <typename Executor>
    waiting_place(Executor const& executor, asio::any_io_executor const& own)
        : context_(&asio::query(executor, asio::execution::context)) {
        if (!belongs_to(own))
            work_ = std::make_unique<work_of<tracked_executor<Executor>>>(
                asio::prefer(executor, asio::execution::outstanding_work.tracked));
    }
    waiting_place(scope_handle given_scope, asio::any_io_executor const& own);

    /// Null for the coroutine's own.
    asio::execution_context* context() const noexcept { return context_; }
    scope_handle const& scope() const noexcept { return scope_; }

    /// The context is being destroyed.
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
    std::unique_ptr<work> work_;
    scope_handle scope_;
};

/// Keeps an operation that a coroutine awaits counted in its scope, until the coroutine that receives the
/// result waits for something else.
class ASIO_RETRY_DECL awaited_presence {
public:
    awaited_presence(retry_driver& given_operation, scope_handle const& given_scope)
        : member_(given_operation, given_scope) {}
    awaited_presence(awaited_presence const&) = delete;
    awaited_presence& operator=(awaited_presence const&) = delete;
    ~awaited_presence();

    basic_membership<retry_driver>& member() noexcept { return member_; }

    /// The operation has ended, and its caller goes on there.
    void end_on(asio::any_io_executor const& executor) noexcept { ended_on_ = executor; }

private:
    basic_membership<retry_driver> member_; // the operation may be gone before
    asio::any_io_executor ended_on_;        // empty if the coroutine is being destroyed
};

/// Room for the presence of an operation that a scope counts.
struct presence_place {
    std::optional<awaited_presence> presence;

    presence_place() noexcept = default;
    presence_place(presence_place&&) noexcept {} // before it begins
    presence_place& operator=(presence_place&&) = delete;
    ~presence_place() = default;
};

/// Whether a retry runs inside the coroutine that awaits it, and where it may be interrupted.
class ASIO_RETRY_DECL awaited_course {
public:
    awaited_course(coroutine_stack const& stack, retry_policy const& given_policy, bool is_scoped)
        : is_elsewhere_(given_policy.settings().deliver_at_once) {
        if (is_scoped || given_policy.settings().limits_attempts())
            look_for_strand(stack);
    }

    /// The attempts need a coroutine of their own.
    bool is_elsewhere() const noexcept { return is_elsewhere_; }

    /// The coroutine moves to a strand until the retry ends.
    bool wants_strand() const noexcept { return wants_strand_; }

    /// The scheduler of the coroutine's own context, if it was looked up.
    retry_scheduler* scheduler() const noexcept { return scheduler_; }

private:
    void look_for_strand(coroutine_stack const& stack);

    retry_scheduler* scheduler_ = nullptr;
    bool wants_strand_ = false;
    bool is_elsewhere_;
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

    /// Gives the piece to this thread.
    void give_back() noexcept;

private:
    void* piece_ = nullptr;
};

/// A retry inside the coroutine that makes its attempts, without what depends on the operation. The driver
/// decides; the coroutine asks for the next step, and rests while there is none.
///
/// An attempt that a caller, a time limit or a scope may interrupt gets a cancellation state of its own in
/// place of the coroutine's. The attempt may reset it in order to clean up; the operation still knows that it
/// was cancelled.
class ASIO_RETRY_DECL await_driver : public cancellable_core<retry_driver> {
    using core = cancellable_core<retry_driver>;

public:
    enum class step : unsigned char {
        none, ///< the coroutine runs
        rest, ///< it is suspended
        begin,
        complete,
        destroy,
    };

    /// The first step, and each further one. The cancellation of the coroutine changes here, because the
    /// coroutine reads it whenever it awaits something.
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
    /// The referenced objects must outlive it. `room` is null outside a scope.
    await_driver(retry_policy&& given_policy, bool judges_results, coroutine_stack& stack,
                 awaited_course const& course, waiting_place&& waits_in, presence_place* room);
    ~await_driver() {
        if (timer_notice_.load(std::memory_order_relaxed) || scope_notice_.load(std::memory_order_relaxed))
            delete_notices();
    }

    /// The frame may be destroyed during an attempt, while notices are under way, and while the thread that has
    /// begun the attempt is still in the operation. Other threads call virtual functions until this returns, so
    /// that the destructor of the last class has to call it.
    void end_frame() noexcept {
        if (next_.load(std::memory_order_relaxed) != step::complete)
            end_unfinished();
    }

    /// Why the coroutine could not move: no memory, or the executor threw.
    std::exception_ptr const& failure() const noexcept { return failure_; }

    /// The attempt has ended. Returns whether the coroutine must move first: on another executor no callable of
    /// the policy may be called, and notices change the operation.
    bool has_to_move_back(bool calls_nothing) noexcept;

    /// The attempt failed before it began, or the coroutine cannot go on where it has to: the operation ends.
    void end_with(std::exception_ptr const& thrown);

    void keep_frame() noexcept { frame_.take(); }

private:
    enum class move : unsigned char {
        none,
        to_strand, ///< the coroutine enters the strand of its attempts
        back,      ///< it goes to its executor, because its attempt has ended on another
    };

    /// Tells the machine what the operation needs.
    virtual void prepare(retry_machine& machine) = 0;

    /// The attempt has ended, and the coroutine is on its executor.
    virtual void end_attempt() = 0;

    void start();
    step take_next();
    step begin_attempt();
    void give_back() noexcept;
    void rest();
    void begin_move();
    void go(step next);
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
    move move_ = move::none;
    bool has_moved_ = false;
    coroutine_stack& stack_;
    awaited_course const course_;
    waiting_place place_;
    asio::cancellation_slot caller_;
    bool const is_interruptible_;
    awaited_presence* presence_ = nullptr; // of an operation in a scope
    resumption resume_;
    kept_frame frame_; // for the next attempt
    std::exception_ptr failure_;
    std::atomic<notice*> timer_notice_ = nullptr;
    std::atomic<notice*> scope_notice_ = nullptr;
};

} // namespace asio_retry::detail
