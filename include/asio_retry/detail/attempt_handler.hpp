#pragma once

#include <asio_retry/detail/asio.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <utility>

namespace asio_retry::detail {

/// Completion handler of an attempt. It owns the operation while the attempt runs; destroyed uncalled, because
/// its context is, it drops the operation.
template <typename Operation>
class attempt_handler {
public:
    explicit attempt_handler(Operation* operation) noexcept
        : operation_(operation) {}
    attempt_handler(attempt_handler&& other) noexcept
        : operation_(other.release()) {}
    attempt_handler& operator=(attempt_handler&&) = delete;
    ~attempt_handler() {
        if (operation_)
            operation_->on_attempt_dropped();
    }

    using executor_type = typename Operation::operation_executor;
    using allocator_type = typename Operation::handler_allocator;
    using cancellation_slot_type = asio::cancellation_slot;
    executor_type get_executor() const noexcept { return operation_->get_operation_executor(); }
    allocator_type get_allocator() const noexcept { return operation_->get_handler_allocator(); }
    cancellation_slot_type get_cancellation_slot() const noexcept { return operation_->attempt_slot(); }
#if ASIO_RETRY_HAS_IMMEDIATE_EXECUTOR
    using immediate_executor_type = calling_executor;
    immediate_executor_type get_immediate_executor() const noexcept { return {}; }
#endif

    template <typename... Args>
    void operator()(Args&&... args) {
        release()->on_attempt_completed(std::forward<Args>(args)...);
    }

    Operation* release() noexcept { return std::exchange(operation_, nullptr); }

private:
    Operation* operation_;
};

} // namespace asio_retry::detail
