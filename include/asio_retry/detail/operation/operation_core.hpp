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

/// What a queued turn of an operation is for.
enum class operation_turn : unsigned char {
    after_wait,
    delivery,           ///< of what ended in the initiating function
    continuation,       ///< of what the initiating function, or a cancellation, may not do itself
    continuation_aside, ///< the same while an attempt may run elsewhere; this and the next from any thread
    limit_notice,
    scope_notice,
};

/// Whether it may be queued from any thread, where the handler's allocator has no business.
constexpr bool comes_from_any_thread(operation_turn turn) noexcept {
    return turn >= operation_turn::continuation_aside;
}

/// A retrying operation, but for what depends on its types: it carries out what its retry_machine decides.
///
/// It is always in the hands of exactly one owner: the handler of the running attempt, the scheduler while it
/// waits, or a queued turn. Besides, two sources may notify it: a time limit of the attempt and its scope;
/// while such a notice is under way the operation stays, and is the notice's once the rest has ended. What
/// needs its executor and cannot be queued there, for want of memory, is done where it stands.
class ASIO_RETRY_DECL operation_core : private wait_node {
public:
    /// @name For the attempts
    /// @{
    asio::cancellation_slot attempt_slot() noexcept {
        return state_.is_interruptible() ? signal_.slot() : asio::cancellation_slot();
    }
    void on_attempt_dropped() noexcept { drop(); }

    /// The attempt failed before it began, unless its coroutine was destroyed with its context.
    void on_coroutine_lost() noexcept;

    retry_machine& machine() noexcept { return machine_; }
    /// @}

    /// @name For attempts that may be left behind
    /// @{
    /// Returns false if there are too many of them.
    bool count_left_attempt() noexcept;
    void uncount_left_attempt() noexcept { left_.fetch_sub(1, std::memory_order_relaxed); }

    /// The attempt has been told to stop, and ends later.
    virtual void on_attempt_left() = 0;

    /// And has. May be the end of *this.
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
    /// `judges_results`: a success may be a failure all the same, which `fail_if` says.
    operation_core(retry_policy&& given_policy, bool judges_results) noexcept
        : machine_(std::move(given_policy))
        , judges_results_(judges_results) {}
    operation_core(operation_core const&) = delete;
    operation_core& operator=(operation_core const&) = delete;
    ~operation_core() = default;

    /// From the initiating function. `can_be_cancelled`: the caller's slot is connected.
    void start(bool is_scoped, bool can_be_cancelled);

    /// Instead, with the exception that is being handled.
    void fail();

    /// The result of an attempt is in its place.
    void on_result_kept(bool has_failed);

    /// The caller cancels, on the executor.
    void on_cancelled(asio::cancellation_type_t type);

    void drop() noexcept;

    /// Whether the operation waits for no attempt that it has told to stop.
    bool leaves_attempts() const noexcept {
        return machine_.policy().settings().deliver_at_once && state_.is_interruptible();
    }

    /// Whether some have been left behind, and may need the memory of the operation.
    bool has_left_attempts() const noexcept { return left_.load(std::memory_order_acquire) != 0; }

    /// The handler has been called, or destroyed. Frees the memory, or leaves that to the last attempt that was
    /// left behind.
    void let_go() noexcept;

    /// Tells the attempt to stop, as a single Asio operation is told.
    void emit(asio::cancellation_type_t type) { signal_.emit(type); }

    // --- what depends on types

    /// Starts an attempt. Throws what the user's operation throws.
    virtual void start_attempt() = 0;
    virtual void signal_attempt(asio::cancellation_type_t type) { emit(type); }

    /// What an attempt left in its slot must not reach the next one.
    virtual void clear_slot() noexcept { signal_.slot().clear(); }

    /// No further attempt will be started: a coroutine that makes them may return.
    virtual void release_coroutine() noexcept {}

    /// Of the result in place. Throws what the predicate of `fail_if` throws.
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
    own_context() const noexcept = 0; ///< of an executor that may run functions where it is given them
    virtual operation_membership* membership() noexcept { return nullptr; }
    virtual void forget_caller() noexcept = 0;        ///< its slot
    virtual void forget_waiting_place() noexcept = 0; ///< its context is being destroyed

    /// Each destroys the operation, the second in a turn of its own or by way of an immediate executor.
    virtual void deliver() = 0;
    virtual void deliver_later();
    virtual void dissolve() noexcept = 0;
    virtual void free() noexcept = 0; ///< without its handler

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
    void conclude_attempt(); ///< called again by the notice of the limit if that is under way
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
    asio::cancellation_signal signal_; // of the running attempt
    ASIO_RETRY_NO_UNIQUE_ADDRESS retry_machine machine_;
    operation_state state_;
    bool is_success_ = false; // of the attempt that ended last, unless `fail_if` has to judge it
    bool const judges_results_;
    bool ends_wait_ = false; // the node's expiry; otherwise it is the time limit of the attempt

    static constexpr std::uint8_t has_gone = 0x80;
    static constexpr std::uint8_t most_left = 0x7e;
    std::atomic<std::uint8_t> left_ = 0; // how many attempts; with has_gone the last one frees the memory
};

} // namespace asio_retry::detail
