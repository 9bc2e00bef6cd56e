#pragma once

#include <asio_retry/detail/asio.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <utility>

namespace asio_retry::detail {

/// Owns an operation for as long as an attempt or a queued step will carry it on. Destroyed uncalled, because
/// its context is, it drops the operation.
template <typename Operation>
class operation_owner {
public:
    explicit operation_owner(Operation* operation) noexcept
        : operation_(operation) {}
    operation_owner(operation_owner&& other) noexcept
        : operation_(other.release()) {}
    operation_owner& operator=(operation_owner&&) = delete;
    ~operation_owner() {
        if (operation_)
            operation_->on_owner_dropped();
    }

    using executor_type = typename Operation::operation_executor;
    using allocator_type = typename Operation::handler_allocator;
    executor_type get_executor() const noexcept { return operation_->get_operation_executor(); }
    allocator_type get_allocator() const noexcept { return operation_->get_handler_allocator(); }

    Operation* release() noexcept { return std::exchange(operation_, nullptr); }

protected:
    Operation* operation_;
};

/// Completion handler of an attempt.
template <typename Operation>
class attempt_handler : public operation_owner<Operation> {
public:
    using operation_owner<Operation>::operation_owner;

    using cancellation_slot_type = asio::cancellation_slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return this->operation_->attempt_slot(); }
#if ASIO_RETRY_HAS_IMMEDIATE_EXECUTOR
    using immediate_executor_type = calling_executor;
    immediate_executor_type get_immediate_executor() const noexcept { return {}; }
#endif

    template <typename... Args>
    void operator()(Args&&... args) {
        Operation::on_attempt_completed(this->release(), std::forward<Args>(args)...);
    }
};

/// A step of the operation, taken once nobody else is inside.
template <typename Operation, typename Step>
class queued_step : public operation_owner<Operation> {
public:
    queued_step(Operation* operation, Step&& step)
        : operation_owner<Operation>(operation)
        , step_(std::move(step)) {}
    queued_step(queued_step&&) noexcept = default;

    void operator()() {
        Step step(std::move(step_));
        Operation* const operation = this->release();
        if (operation->try_enter())
            step();
        else
            operation->post_step(std::move(step));
    }

private:
    Step step_;
};

/// Tells a running operation something, once nobody else is inside. It does not own the operation, which cannot
/// end before it has been told.
template <typename Operation, void (Operation::*Notice)()>
class queued_notice {
public:
    explicit queued_notice(Operation* operation) noexcept
        : operation_(operation) {}
    queued_notice(queued_notice&& other) noexcept
        : operation_(std::exchange(other.operation_, nullptr)) {}
    queued_notice& operator=(queued_notice&&) = delete;
    ~queued_notice() {
        if (operation_)
            operation_->template on_notice_dropped<Notice>();
    }

    using executor_type = typename Operation::operation_executor;
    executor_type get_executor() const noexcept { return operation_->get_operation_executor(); }

    void operator()() {
        Operation* const operation = std::exchange(operation_, nullptr);
        if (operation->try_enter())
            (operation->*Notice)();
        else
            operation->template post_notice<Notice>();
    }

private:
    Operation* operation_;
};

} // namespace asio_retry::detail
