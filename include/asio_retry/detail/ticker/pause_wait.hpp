#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/handler_memory.hpp>
#include <asio_retry/detail/handler/handler_operation.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/error.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace asio_retry::detail {

/// A wait of a given length. Its end, by time or by a cancellation, queues its turn on the handler's executor.
class ASIO_RETRY_DECL pause_wait : wait_node {
protected:
    explicit pause_wait(retry_scheduler& given_scheduler) noexcept
        : scheduler_(given_scheduler) {}
    ~pause_wait() = default;

    /// Begins the wait, which may be gone when this returns. If this throws, nothing happened.
    void begin(duration length);

    /// The handler's slot has received a cancellation.
    void on_cancelled(boost::asio::cancellation_type_t type);

    /// In the turn.
    error_code outcome() const noexcept { return cancelled_ ? aborted_error() : error_code(); }

private:
    /// Queues its turn on the executor of its handler. If this throws, nothing happened.
    virtual void post() = 0;

    /// Runs its turn at once, on this thread.
    virtual void end() = 0;

    /// Destroys it and its handler, uncalled.
    virtual void dissolve() noexcept = 0;

    bool on_expiry() final;
    void on_shutdown() noexcept final { dissolve(); }
    void queue();

    retry_scheduler& scheduler_;
    std::atomic<bool> cancelled_ = false;
};

/// The wait of one handler, in memory from its allocator.
template <typename WaitsOn, typename Handler>
class pause_operation final : handler_operation<pause_wait, WaitsOn, Handler> {
    using base = handler_operation<pause_wait, WaitsOn, Handler>;
    using block = operation_block<pause_operation, Handler>;
    friend block;

public:
    static void initiate(Handler&& handler, WaitsOn const& waits_on, duration length) {
        pause_operation* const wait = block::create(block::alone, std::move(handler), waits_on);
        try {
            wait->connect_slot();
            wait->begin(length);
        } catch (...) {
            wait->dissolve();
            throw;
        }
    }

    // The turn comes from any thread of the context, so the handler's allocator is not used for it.
    struct turn {};
    template <typename>
    using turn_allocator = std::allocator<void>;
    std::allocator<void> get_turn_allocator(turn) const noexcept { return {}; }
    void on_turn(turn) { end(); }
    void on_turn_dropped(turn) noexcept { dissolve(); }

private:
    pause_operation(Handler&& given_handler, WaitsOn const& waits_on)
        : base(std::move(given_handler), waits_on, scheduler(asio::query(waits_on, asio::execution::context))) {
    }
    ~pause_operation() = default;

    void post() override {
        auto const executor = this->get_operation_executor(); // the turn may have run before this returns
        auto const through = this->get_io_executor();
        post_turn<turn>(executor, through, *this);
    }

    void end() override {
        error_code const result = this->outcome();
        Handler handler = take_handler();
        std::move(handler)(result);
    }

    void dissolve() noexcept override { [[maybe_unused]] auto const destroyed = take_handler(); }

    Handler take_handler() {
        this->disconnect_slot();
        return block::dissolve(this, this->handler());
    }
};

} // namespace asio_retry::detail
