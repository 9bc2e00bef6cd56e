#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/hedge/hedge_event.hpp>
#include <asio_retry/detail/operation/occupancy.hpp>
#include <asio_retry/detail/operation/operation_membership.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/time/lazy_scheduler.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/traffic/hedge_machine.hpp>
#include <asio_retry/verdict.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <memory>
#include <span>

namespace asio_retry::detail {

class hedge_core;
#if ASIO_RETRY_LEAVES_INSTANTIATION
extern template class ASIO_RETRY_DECL_INSTANTIATION basic_membership<hedge_core>;
#endif

/// An attempt of a hedged operation, without what depends on its types.
struct hedge_slot {
    /// How it ended; only the thread that was told of the end may read it.
    enum class fate : unsigned char { none, completed, dropped, lost };

    unsigned char number = 0;
    fate outcome = fate::none;
    bool is_success = false;          // meaningless if `fail_if` has to judge it
    asio::cancellation_signal signal; // stops the attempt while it runs
};

/// A hedged operation, without what depends on its types: it carries out what its hedge_machine decides.
///
/// One thread at a time is in the operation; another thread leaves its events with that thread. The operation
/// ends when nothing can notify it any more. Then no attempt runs (or it delivers at once), no timer is armed,
/// and no notice of a scope is under way. Until then each of these keeps it alive.
class ASIO_RETRY_DECL hedge_core : private wait_node {
public:
    /// @name For the attempts
    /// @{
    void on_attempt_ended(hedge_slot& slot); // its result is in the slot
    void on_attempt_dropped(hedge_slot& slot) noexcept;
    void on_attempt_lost(hedge_slot& slot) noexcept; // its coroutine had no memory to begin
    /// @}

    hedge_machine& machine() noexcept { return machine_; }

    /// @name Its turns on the executor
    /// @{
    void on_turn(hedge_turn turn);
    void on_turn_dropped(hedge_turn turn) noexcept;
    template <typename>
    using turn_allocator = std::allocator<void>;
    std::allocator<void> get_turn_allocator(hedge_turn) const noexcept { return {}; }
    /// @}

    /// @name For its scope
    /// @{
    void post_scope_notice() { post(hedge_turn::scope_notice); }
    void on_scope_notice_failed();
    /// @}

protected:
    hedge_core(hedge_policy const& given_policy, std::span<hedged_attempt> attempts) noexcept
        : machine_(given_policy, attempts) {}
    hedge_core(hedge_core const&) = delete;
    hedge_core& operator=(hedge_core const&) = delete;
    ~hedge_core() = default;

    /// Called by the initiating function.
    void start(bool is_scoped);

    /// Called instead of `start`, with the current exception.
    void fail();

    /// The caller cancels; on the executor.
    void on_cancelled(asio::cancellation_type_t type);

    /// Lets other threads in; called before the handler runs while attempts still run.
    void leave();
    void on_handler_returned();

    // --- what depends on types

    virtual hedge_slot& slot(unsigned number) noexcept = 0;
    virtual void start_attempt(hedge_slot& slot) = 0; ///< throws what the user's operation throws
    virtual void signal_attempt(hedge_slot& slot, asio::cancellation_type_t type) = 0;
    virtual void on_attempt_over(hedge_slot& slot) noexcept = 0;

    /// Judges the result in the slot. Throws what the predicate of `fail_if` throws.
    virtual judgement judge_values(hedge_slot& slot) = 0;
    virtual bool has_failed(hedge_slot& slot) noexcept = 0;
    virtual verdict judge(hedge_slot& slot) = 0;
    virtual void put_failure(hedge_slot& slot, error_code const& code, std::exception_ptr const& thrown) = 0;
    virtual void drop_result(hedge_slot& slot) noexcept = 0;

    virtual void post(hedge_turn turn) = 0;
    virtual asio::execution_context& context() const = 0;
    virtual asio::io_context* own_context() const noexcept = 0;
    virtual basic_membership<hedge_core>* membership() noexcept = 0;
    virtual void forget_caller() noexcept = 0;        ///< forgets the caller's slot
    virtual void forget_waiting_place() noexcept = 0; ///< the context of the waits is being destroyed

    /// `deliver`, `deliver_later` and `dissolve` destroy the operation; `deliver_later` in a turn of its own or
    /// on an immediate executor. `deliver_and_stay` lets other threads in and calls the handler.
    virtual void deliver(hedge_action const& action) = 0;
    virtual void deliver_later();
    virtual void deliver_and_stay(hedge_action const& action) = 0;
    virtual void dissolve() noexcept = 0;

private:
    class telling_mark;

    /// Where the thread in the operation was called from.
    enum class place : unsigned char { initiation, cancellation, executor };

    time_point now() const { return scheduler_.get().now(); }

    bool enter(place where, hedge_event event) noexcept;
    void see_to(hedge_event events);
    void carry_on(std::exception_ptr& thrown);
    bool take_steps(std::exception_ptr& thrown);
    void initiate_attempt(unsigned number);
    void end_attempts(hedge_event events);
    void end_attempt(hedge_slot& slot);
    bool judge_attempt(hedge_slot& slot);
    void tell_all(asio::cancellation_type_t type, std::exception_ptr& thrown);
    void obey(timed_request const& request);

    bool arm(time_point expiry);
    bool disarm() noexcept;
    bool on_expiry() override;
    void on_shutdown() noexcept override;

    void finish();
    bool may_rest() noexcept;
    void rest() noexcept;

    hedge_machine machine_;
    lazy_scheduler scheduler_; // looked up at the start
    basic_occupancy<hedge_event> occupancy_;
    std::exception_ptr thrown_by_value_; // an attempt was dropped because its value threw this
    place place_ = place::initiation;
    bool is_armed_ = false;  // the node is scheduled, or its notice is under way
    bool is_linked_ = false; // its scope knows it
    bool has_result_ = false;
    bool is_delivered_ = false;
    bool is_called_ = false; // the handler has returned
    bool is_abandoned_ = false;
};

} // namespace asio_retry::detail
