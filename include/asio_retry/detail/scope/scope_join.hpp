#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/handler_memory.hpp>
#include <asio_retry/detail/handler/handler_operation.hpp>
#include <asio_retry/detail/handler/late_completion.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace asio_retry {
class retry_scheduler;
}

namespace asio_retry::detail {

class scope_tree;

/// A wait until a scope is empty. Who takes it from the scheduler, or finds it due, queues its turn.
class ASIO_RETRY_DECL scope_join : public wait_node, public list_hook<scope_join> {
protected:
    explicit scope_join(scope_handle scope);
    ~scope_join();

    /// The handler's slot has received a cancellation, which ends the join with `operation_aborted`.
    /// Precondition: its turn has not come.
    void on_cancelled(boost::asio::cancellation_type_t type) noexcept;

    error_code const& error() const noexcept { return error_; }

    /// How many operations had to be cancelled while an attempt ran.
    std::size_t cancelled() const noexcept { return cancelled_; }

    boost::asio::any_io_executor const& scope_executor() const noexcept;
    void release_scope() noexcept;

private:
    friend class scope_node;

    /// Releases the parts of the scope that the turn does not need. Returns true if it needs no context either.
    virtual bool let_go() noexcept = 0;

    /// Lets go of the scope, and queues its turn on its handler's executor. If this throws, no turn is queued.
    virtual void post() = 0;

    virtual void end() = 0; // runs its turn at once, on this thread

    virtual void dissolve() noexcept = 0; // destroys the join, and its handler uncalled

    bool on_expiry() final;
    void on_shutdown() noexcept final;

    void finish() noexcept;

    scope_handle scope_;                     // until its turn is queued
    retry_scheduler& scheduler_;             // of the scope
    std::shared_ptr<scope_tree> const tree_; // of the scope

    // Guarded by its mutex.
    bool has_ended_ = false;
    std::size_t times_empty_ = 0; // the scope's `times_empty_` when the join began
    error_code error_;
    maybe<std::size_t> stopped_before_; // the scope's `stopped_attempts_` when the drain began to cancel
    std::size_t cancelled_ = 0;
};

/// The join of one handler, in memory from its allocator. Before its turn is queued, the join lets go of the
/// scope and its context. They may be gone when the turn comes, on the executor of the handler.
template <typename Handler, bool Drains>
class handler_join final : handler_operation<scope_join, asio::any_io_executor, Handler> {
    using base = handler_operation<scope_join, asio::any_io_executor, Handler>;
    using block = operation_block<handler_join, Handler>;
    friend block;

public:
    /// A drain cancels the scope after `timeout`.
    static void initiate(Handler&& handler, scope_handle const& scope, duration timeout) {
        if constexpr (Drains)
            scope->request(scope_request::drain); // the request stands, even without memory for the join
        handler_join* const join = block::create(block::alone, std::move(handler), scope);
        try {
            join->connect_slot();
            scope->begin_join(*join, timeout);
        } catch (...) {
            join->dissolve();
            throw;
        }
    }

    struct turn {};
    template <typename>
    using turn_allocator = typename base::handler_allocator;
    turn_allocator<turn> get_turn_allocator(turn) const noexcept { return this->get_handler_allocator(); }
    void on_turn(turn) { end(); }
    void on_turn_dropped(turn) noexcept { dissolve(); }

private:
    handler_join(Handler&& given_handler, scope_handle const& given_scope)
        : base(std::move(given_handler), given_scope->executor(), given_scope) {}
    ~handler_join() = default;

    static constexpr bool goes_by_way_of_scope =
        !asio::can_require<typename base::operation_executor, asio::execution::blocking_t::never_t>::value;

    bool let_go() noexcept override {
        if constexpr (!goes_by_way_of_scope) {
            this->release_io_work();
            this->release_scope();
        }
        return !goes_by_way_of_scope && base::executors::waits_elsewhere;
    }

    void post() override {
        auto const executor = this->get_operation_executor(); // the join may end before this returns
        let_go();
        if constexpr (goes_by_way_of_scope) {
            this->release_io_work();
            post_turn<turn>(executor, asio::any_io_executor(this->scope_executor()), *this);
        } else {
            post_turn<turn>(executor, executor, *this);
        }
    }

    void end() override {
        error_code const error = this->error();
        [[maybe_unused]] std::size_t const cancelled = this->cancelled();
        Handler handler = take_handler();
        if constexpr (Drains)
            std::move(handler)(error, cancelled);
        else
            std::move(handler)(error);
    }

    void dissolve() noexcept override { [[maybe_unused]] auto const destroyed = take_handler(); }

    Handler take_handler() {
        this->disconnect_slot();
        return block::dissolve(this, this->handler());
    }
};

} // namespace asio_retry::detail
