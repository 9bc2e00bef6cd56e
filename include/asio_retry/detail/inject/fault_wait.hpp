#pragma once

#include <asio_retry/detail/inject/injected_fault.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <memory>

namespace asio_retry::detail {

/// An attempt that waits for its injected error, delay or hang to end. The end of the wait queues its turn on
/// the handler's executor.
class ASIO_RETRY_DECL fault_wait : wait_node, held_attempt {
protected:
    fault_wait(std::shared_ptr<fault_plan> plan, injected_fault const& fault) noexcept;
    ~fault_wait();

    /// Begins the wait, which may be gone when this returns. If this throws, nothing happened.
    void begin(retry_scheduler& scheduler);

    /// The handler's slot has received a cancellation.
    void on_cancelled(boost::asio::cancellation_type_t type);

    /// In the turn: the injected error, or `operation_aborted`. If none, the attempt is to be made.
    error_code outcome() const noexcept;

private:
    /// Queues its turn on the executor of its handler. If this throws, nothing happened.
    virtual void post() = 0;

    /// Runs its turn at once, on this thread.
    virtual void end() = 0;

    /// Destroys it and its handler, uncalled.
    virtual void dissolve() noexcept = 0;

    bool on_expiry() final;
    void on_shutdown() noexcept final;
    void let_go() noexcept final;
    void queue();

    std::shared_ptr<fault_plan> plan_;
    injected_fault const fault_;
    retry_scheduler* scheduler_ = nullptr; // null for an error
    std::atomic<bool> cancelled_ = false;
};

} // namespace asio_retry::detail
