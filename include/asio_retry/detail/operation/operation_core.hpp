#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/operation/operation_state.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/time/lazy_scheduler.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/verdict.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

namespace asio_retry::detail {

template <typename Operation>
class basic_membership;
class operation_core;
using operation_membership = basic_membership<operation_core>;

/// The purpose of a queued turn of an operation.
enum class operation_turn : unsigned char {
    after_wait,
    delivery,           ///< delivers a result that was there before the initiating function returned
    continuation,       ///< goes on with what the initiating function or a cancellation may not do itself
    continuation_aside, ///< the same while an attempt may run elsewhere; this and the next ones from any thread
    limit_notice,
    scope_notice,
};

/// Whether any thread may queue it, so that the handler's allocator must not be used.
constexpr bool comes_from_any_thread(operation_turn turn) noexcept {
    return turn >= operation_turn::continuation_aside;
}

/// A retrying operation, without what depends on its types: it carries out what its retry_machine decides.
///
/// It has exactly one owner at any time: the handler of the running attempt, the scheduler while it waits, or a
/// queued turn. A time limit of the attempt and a scope may notify it as well. While such a notice is under way
/// the operation stays, and belongs to the notice once the rest has ended. If there is no memory to queue a
/// step on its executor, the step is done on the present thread.
class ASIO_RETRY_DECL operation_core : private wait_node {
public:
    /// @name For the attempts
    /// @{
    asio::cancellation_slot attempt_slot() noexcept {
        return state_.is_interruptible() ? signal_.slot() : asio::cancellation_slot();
    }
    void on_attempt_dropped() noexcept { drop(); }

    /// The attempt failed before it began, unless its context destroyed its coroutine.
    void on_coroutine_lost() noexcept;

    retry_machine& machine() noexcept { return machine_; }
    /// @}

    /// @name For attempts that may be left behind
    /// @{
    /// Returns false if too many attempts are left behind.
    bool count_left_attempt() noexcept;
    void uncount_left_attempt() noexcept { left_.fetch_sub(1, std::memory_order_relaxed); }

    /// The attempt has been cancelled, and ends later.
    virtual void on_attempt_left() = 0;

    /// An attempt that was left behind has ended. May destroy *this.
    void on_left_attempt_ended() noexcept;
    /// @}

    /// @name Time and randomness
    /// @{
    time_point now() { return scheduler().now(); }
    time_point time_for(retry_machine const& machine) { return machine.measures_time() ? now() : time_point(); }
    random& get_random() {
        scheduler();
        return scheduler_.get_random();
    }
    /// @}

    /// @name Its turns on the executor
    /// @{
    void on_turn(operation_turn turn);
    void on_turn_dropped(operation_turn turn) noexcept;
    template <typename>
    using turn_allocator = std::allocator<void>;
    std::allocator<void> get_turn_allocator(operation_turn) const noexcept { return {}; }
    /// @}

    /// @name For its scope
    /// @{
    void post_scope_notice() { post(operation_turn::scope_notice); }
    void on_scope_notice_failed();
    /// @}

protected:
    /// `judges_results`: `fail_if` may judge a success a failure.
    operation_core(retry_policy&& given_policy, bool judges_results) noexcept
        : machine_(std::move(given_policy))
        , judges_results_(judges_results) {}
    operation_core(operation_core const&) = delete;
    operation_core& operator=(operation_core const&) = delete;
    ~operation_core() = default;

    /// Called by the initiating function. `can_be_cancelled`: the caller's slot is connected.
    void start(bool is_scoped, bool can_be_cancelled);

    /// Called instead of `start`, with the current exception.
    void fail();

    /// An attempt's result has been stored.
    void on_result_kept(bool has_failed);

    /// The caller cancels; on the executor.
    void on_cancelled(asio::cancellation_type_t type);

    void drop() noexcept;

    /// Whether the operation leaves behind an attempt that it has cancelled.
    bool leaves_attempts() const noexcept {
        return machine_.policy().settings().deliver_at_once && state_.is_interruptible();
    }

    /// Whether attempts have been left behind that may need the operation's memory.
    bool has_left_attempts() const noexcept { return left_.load(std::memory_order_acquire) != 0; }

    /// The handler has been called or destroyed. Frees the memory, or leaves that to the last attempt that was
    /// left behind.
    void let_go() noexcept;

    /// Emits to the attempt, as to a single Asio operation.
    void emit(asio::cancellation_type_t type) { signal_.emit(type); }

    // --- what depends on types

    /// Throws what the user's operation throws.
    virtual void start_attempt() = 0;
    virtual void signal_attempt(asio::cancellation_type_t type) { emit(type); }

    /// A handler that an attempt left in its slot must not reach the next attempt.
    virtual void clear_slot() noexcept { signal_.slot().clear(); }

    /// No further attempt follows: a coroutine that makes attempts may return.
    virtual void release_coroutine() noexcept {}

    /// Judges the stored result. Throws what the predicate of `fail_if` throws.
    virtual judgement judge_values() { return {}; }
    virtual bool has_failed() noexcept = 0;
    virtual verdict judge() = 0;
    virtual retry_action conclude_failed() = 0;
    virtual void put_failure(error_code const& code, std::exception_ptr const& thrown) = 0;
    virtual void amend_result(retry_action const& action) = 0;
    virtual void drop_result() noexcept = 0;

    virtual void post(operation_turn turn) = 0;
    virtual asio::execution_context& context() const = 0;
    virtual asio::io_context*
    own_context() const noexcept = 0; ///< the context of an executor that may run functions at once, or null
    virtual operation_membership* membership() noexcept { return nullptr; }
    virtual void forget_caller() noexcept = 0;        ///< forgets the caller's slot
    virtual void forget_waiting_place() noexcept = 0; ///< the context of the waits is being destroyed

    /// Each destroys the operation; `deliver_later` in a turn of its own or on an immediate executor.
    virtual void deliver() = 0;
    virtual void deliver_later();
    virtual void dissolve() noexcept = 0;
    virtual void free() noexcept = 0; ///< frees the memory; the handler has gone

private:
    class telling_mark;

    retry_scheduler& scheduler() {
        if (!scheduler_.is_found())
            scheduler_.find_in(context(), own_context());
        return scheduler_.get();
    }

    void fail_with(error_code const& code, std::exception_ptr const& thrown);
    void start_watched(bool is_scoped, bool can_be_cancelled);
    void refuse_start();
    void resume();
    void carry_out(retry_action&& action, time_point now);
    void make_attempt(time_point now);
    bool initiate_attempt();
    void end_attempt();
    void clear_attempt() noexcept;
    void conclude_attempt(); ///< if a notice of the limit is under way, the notice calls it again
    void succeed();
    void succeed_unwatched();
    void begin_wait(time_point now, duration delay);
    void cut_wait_short();
    void end_wait_within(duration spread);

    void leave();
    void see_to(operation_event events);
    void take_step(operation_step step);
    void pass_on(asio::cancellation_type_t type);
    void stop_attempt(asio::cancellation_type_t type);
    void on_limit_reached();
    void time_out_attempt(time_point reached);

    bool runs_here() const noexcept;
    bool arm_limit(time_point now);
    bool arm_limit_at(time_point limit);
    bool renew_limit(time_point reached) noexcept;
    bool watch_limit(time_point limit) noexcept;
    bool disarm_limit() noexcept;
    bool on_expiry() override;
    void on_shutdown() noexcept override;

    void complete(retry_action const& action);
    void complete_failed() { complete(conclude_failed()); }
    void abandon() noexcept;
    void finish();

    lazy_scheduler scheduler_;
    asio::cancellation_signal signal_; // stops the running attempt
    ASIO_RETRY_NO_UNIQUE_ADDRESS retry_machine machine_;
    operation_state state_;
    bool is_success_ = false; // whether the last attempt succeeded; meaningless if `fail_if` has to judge it
    bool const judges_results_;
    bool ends_wait_ = false; // the node's expiry ends the wait; otherwise it is the time limit of the attempt

    static constexpr std::uint8_t has_gone = 0x80;
    static constexpr std::uint8_t most_left = 0x7e;
    std::atomic<std::uint8_t> left_ =
        0; // how many attempts are left behind; with has_gone the last of them frees the memory
};

} // namespace asio_retry::detail
