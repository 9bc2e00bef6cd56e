#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/handler_memory.hpp>
#include <asio_retry/detail/handler/handler_operation.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/inject/effected_handler.hpp>
#include <asio_retry/detail/inject/fault_wait.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/query.hpp>

#include <memory>
#include <utility>

namespace asio_retry::detail {

template <typename Handler>
using waiting_executor_of = decltype(executor_to_wait_on(std::declval<Handler const&>()));

/// The wait of an attempt before it begins or fails, in memory from its handler's allocator. Afterwards
/// `go_on(handler, error)` runs on the handler's executor.
template <typename Handler, typename GoOn>
class delayed_attempt final : handler_operation<fault_wait, waiting_executor_of<Handler>, Handler> {
    using base = handler_operation<fault_wait, waiting_executor_of<Handler>, Handler>;
    using block = operation_block<delayed_attempt, Handler>;
    friend block;

public:
    static void initiate(Handler&& handler, std::shared_ptr<fault_plan> const& plan,
                         injected_fault const& fault, GoOn&& go_on) {
        auto const executor = executor_to_wait_on(handler);
        retry_scheduler& waits = scheduler(asio::query(executor, asio::execution::context));
        delayed_attempt* const attempt =
            block::create(block::alone, std::move(handler), executor, plan, fault, std::move(go_on));
        try {
            attempt->connect_slot();
            attempt->begin(waits);
        } catch (...) {
            attempt->dissolve();
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
    delayed_attempt(Handler&& given_handler, waiting_executor_of<Handler> const& executor,
                    std::shared_ptr<fault_plan> const& plan, injected_fault const& fault, GoOn&& go_on)
        : base(std::move(given_handler), executor, plan, fault)
        , go_on_(std::move(go_on)) {}
    ~delayed_attempt() = default;

    void post() override {
        auto const executor = this->get_operation_executor(); // the turn may have run before this returns
        auto const through = this->get_io_executor();
        post_turn<turn>(executor, through, *this);
    }

    void end() override {
        error_code const failure = this->outcome();
        GoOn go_on = std::move(go_on_);
        Handler handler = take_handler();
        go_on(std::move(handler), failure);
    }

    void dissolve() noexcept override { [[maybe_unused]] auto const destroyed = take_handler(); }

    Handler take_handler() {
        this->disconnect_slot();
        return block::dissolve(this, this->handler());
    }

    GoOn go_on_;
};

} // namespace asio_retry::detail
