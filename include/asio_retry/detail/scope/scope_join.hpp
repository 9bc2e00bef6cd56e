#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/detail/scope/counted_handle.hpp>
#include <asio_retry/detail/scope/scope_tree.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace asio_retry {
class retry_scheduler;
}

namespace asio_retry::detail {

class scope_state;

using scope_handle = counted_handle<scope_state>;

/// A wait for an empty scope. Whoever takes it from the scheduler, or finds it due, queues its turn.
class ASIO_RETRY_DECL scope_join : public wait_node, public list_hook<scope_join> {
protected:
    explicit scope_join(scope_handle scope);
    ~scope_join();

    /// The handler's slot. Ends it with `operation_aborted`, if it has not ended. Precondition: its turn has
    /// not come.
    void on_cancelled(boost::asio::cancellation_type_t type) noexcept;

    error_code const& error() const noexcept { return error_; }

    /// How many operations had to be cancelled, in an attempt.
    std::size_t cancelled() const noexcept { return cancelled_; }

    boost::asio::any_io_executor const& scope_executor() const noexcept;
    void release_scope() noexcept;

private:
    friend class scope_state;

    /// Lets go of the scope, as far as its turn does without. Returns whether that does without the context
    /// too.
    virtual bool let_go() noexcept = 0;

    /// Lets go of the scope and queues its turn on the executor of its handler. If this throws, no turn is
    /// queued.
    virtual void post() = 0;

    /// Its turn, where it stands.
    virtual void end() = 0;

    /// Destroys it and its handler, uncalled.
    virtual void dissolve() noexcept = 0;

    bool on_expiry() final;
    void on_shutdown() noexcept final;

    void finish() noexcept;

    scope_handle scope_;                     // until its turn is about to be queued
    retry_scheduler& scheduler_;             // of the scope
    std::shared_ptr<scope_tree> const tree_; // of the scope

    // Guarded by its mutex.
    bool has_ended_ = false;
    std::size_t times_empty_ = 0; // the scope, before
    error_code error_;
    std::optional<std::size_t> stopped_before_; // how many attempts had been, when a drain began to cancel
    std::size_t cancelled_ = 0;
};

} // namespace asio_retry::detail
