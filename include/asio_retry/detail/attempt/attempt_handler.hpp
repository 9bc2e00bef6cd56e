#pragma once

#include <asio_retry/detail/handler/asio.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <concepts>
#include <utility>

namespace asio_retry::detail {

/// The operation of an attempt. It gives its executor, memory and slot, and receives the completion.
template <typename Operation>
concept attempt_host = requires(Operation& operation, Operation const& itself) {
    { itself.get_operation_executor() } noexcept -> std::same_as<typename Operation::operation_executor>;
    { itself.get_handler_allocator() } noexcept -> std::same_as<typename Operation::handler_allocator>;
    { operation.attempt_slot() } noexcept -> std::same_as<asio::cancellation_slot>;
    { operation.on_attempt_dropped() } noexcept;
};

/// The type by which a handler refers to its operation: the operation's `handler_link`, or else a pointer.
template <typename Operation>
struct link_to {
    using type = Operation*;
};
template <typename Operation>
    requires requires { typename Operation::handler_link; }
struct link_to<Operation> {
    using type = typename Operation::handler_link;
};

/// The handler of an attempt. It owns the operation while the attempt runs, and drops it if destroyed uncalled.
template <attempt_host Operation>
class attempt_handler {
public:
    using link = typename link_to<Operation>::type;

    explicit attempt_handler(link given_operation) noexcept
        : operation_(given_operation)
        , allocator_(operation_->get_handler_allocator()) {}
    attempt_handler(attempt_handler&& other) noexcept
        : operation_(other.release())
        , allocator_(other.allocator_) {}
    attempt_handler& operator=(attempt_handler&&) = delete;
    ~attempt_handler() {
        if (operation_)
            operation_->on_attempt_dropped();
    }

    using executor_type = typename Operation::operation_executor;
    using allocator_type = typename Operation::handler_allocator;
    using cancellation_slot_type = asio::cancellation_slot;
    executor_type get_executor() const noexcept { return operation_->get_operation_executor(); }
    auto get_io_executor() const noexcept
        requires requires(link const& of) { of->get_io_executor(); }
    {
        return operation_->get_io_executor(); // where the operation waits
    }
    allocator_type get_allocator() const noexcept { return allocator_; }
    cancellation_slot_type get_cancellation_slot() const noexcept { return operation_->attempt_slot(); }
#if ASIO_RETRY_HAS_IMMEDIATE_EXECUTOR
    using immediate_executor_type = calling_executor;
    immediate_executor_type get_immediate_executor() const noexcept { return {}; }
#endif

    template <typename... Args>
    void operator()(Args&&... args) {
        if constexpr (requires { Operation::ignores_second_completion; })
            if (!operation_)
                return;
        release()->on_attempt_completed(std::forward<Args>(args)...);
    }

    link release() noexcept {
        link const released = operation_; // std::exchange would add two functions for each handler
        operation_ = link(nullptr);
        return released;
    }

private:
    link operation_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS allocator_type allocator_; // Asio asks for it after moving the handler
};

} // namespace asio_retry::detail
