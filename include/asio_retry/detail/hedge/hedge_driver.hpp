#pragma once

#include <asio_retry/detail/operation/driver.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/traffic/hedge_machine.hpp>
#include <asio_retry/verdict.hpp>

#include <exception>
#include <span>

namespace asio_retry::detail {

class hedge_driver;
#if ASIO_RETRY_LEAVES_INSTANTIATION
extern template class ASIO_RETRY_DECL_INSTANTIATION driver<hedge_driver, 16>;
extern template class ASIO_RETRY_DECL_INSTANTIATION basic_membership<hedge_driver>;
#endif

/// The part of a hedged operation that does not depend on its types: it carries out what its hedge_machine
/// decides.
///
/// The operation ends when nothing can notify it any more. Then no attempt runs (or it delivers at once), no
/// timer is armed, and no notice of a scope is under way. Until then each of these keeps it alive.
class ASIO_RETRY_DECL hedge_driver : public driver<hedge_driver, 16> {
    using base = driver<hedge_driver, 16>;
    friend base;

public:
    hedge_machine& machine() noexcept { return machine_; }

protected:
    hedge_driver(hedge_policy const& given_policy, std::span<hedged_attempt> attempts) noexcept
        : machine_(given_policy, attempts) {}
    ~hedge_driver() = default;

    /// Called by the initiating function.
    void start(bool is_scoped, bool can_be_cancelled);

    static constexpr bool keeps_memory() noexcept { return false; }
    void on_handler_gone() { on_handler_returned(); }

    // --- what depends on types

    virtual attempt_state& attempt(unsigned number) noexcept = 0;
    virtual void start_attempt(attempt_state& attempt) = 0; ///< throws what the user's operation throws
    virtual void signal_attempt(attempt_state& attempt, asio::cancellation_type_t type) = 0;
    virtual void on_attempt_over(attempt_state& attempt) noexcept = 0;

    /// Judges the kept result. Throws what the predicate of `fail_if` throws.
    virtual judgement judge_values(attempt_state& attempt) = 0;
    virtual bool has_failed(attempt_state& attempt) noexcept = 0;
    virtual verdict verdict_on_result(attempt_state& attempt) = 0;
    virtual void put_failure(attempt_state& attempt, error_code const& code,
                             std::exception_ptr const& thrown) = 0;
    virtual void drop_result(attempt_state& attempt) noexcept = 0;

    virtual void post(operation_turn turn) = 0;
    virtual asio::execution_context& context() const = 0;
    virtual asio::io_context* own_context() const noexcept = 0;
    virtual basic_membership<hedge_driver>* membership() noexcept = 0;
    virtual void forget_caller() noexcept = 0;        ///< forgets the caller's slot
    virtual void forget_waiting_place() noexcept = 0; ///< the context of the waits is being destroyed

    /// `deliver`, `deliver_later` and `dissolve` destroy the operation. `deliver_later` does so in a turn of
    /// its own, or on an immediate executor. `deliver_and_stay` lets other threads in and calls the handler.
    virtual void deliver() = 0;
    virtual void deliver_later() = 0;
    virtual void deliver_and_stay() = 0;
    virtual void dissolve() noexcept = 0;

private:
    // --- for the driver

    static constexpr bool arms_before_start = false;

    static bool succeeds_at_once(attempt_state const&) noexcept { return false; }
    static void end_attempts() noexcept {}
    static void leave_queue() noexcept {} // a hedge never waits in the queue of a gate
    static bool may_end_here(attempt_state const& attempt) noexcept {
        return attempt.outcome == attempt_state::fate::succeeded;
    }
    bool has_end() const noexcept { return machine_.has_end(); }
    /// Counts the attempt as dropped. The initiating function does not throw the attempt's exception.
    void go_without_result(std::exception_ptr&) noexcept { thrown_by_value_ = std::current_exception(); }
    void drop_attempt(attempt_state& attempt) noexcept;
    static void on_told_of_limit() noexcept {} // the machine itself has asked for the stop
    plan next(question why);
    plan judge(attempt_state& attempt, std::exception_ptr& thrown);
    void fail(error_code const& code, std::exception_ptr const& thrown) noexcept {
        machine_.fail(code, thrown);
    }
    interruption_wish cancel(asio::cancellation_type_t type);
    interruption_wish obey(timed_request const& request);

    static plan plan_for(hedge_machine::step const& step) noexcept;
    bool judge_completed(attempt_state& attempt);

    hedge_machine machine_;
    std::exception_ptr thrown_by_value_; // an attempt was dropped because its value threw this
};

} // namespace asio_retry::detail
