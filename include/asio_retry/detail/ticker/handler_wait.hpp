#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/handler_memory.hpp>
#include <asio_retry/detail/handler/handler_operation.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/ticker/ticker_state.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// The wait of one handler, in memory from its allocator.
template <typename Handler>
class handler_wait final : handler_operation<ticker_wait, asio::any_io_executor, Handler> {
    using base = handler_operation<ticker_wait, asio::any_io_executor, Handler>;
    using block = operation_block<handler_wait, Handler>;
    friend block;

public:
    static void initiate(Handler&& handler, std::shared_ptr<ticker_state> const& state) {
        handler_wait* const wait = block::create(block::alone, std::move(handler), state);
        bool is_due = false;
        try {
            wait->connect_slot();
            is_due = state->begin(*wait);
        } catch (...) {
            wait->dissolve();
            throw;
        }
        if (is_due)
            state->queue(*wait);
    }

    struct turn {};
    template <typename>
    using turn_allocator = typename base::handler_allocator;
    turn_allocator<turn> get_turn_allocator(turn) const noexcept { return this->get_handler_allocator(); }
    void on_turn(turn) { end(); }
    void on_turn_dropped(turn) noexcept {
        this->state()->forget(*this);
        dissolve();
    }

private:
    handler_wait(Handler&& given_handler, std::shared_ptr<ticker_state> const& state)
        : base(std::move(given_handler), state->executor(), state) {}
    ~handler_wait() = default;

    void post() override {
        auto const executor = this->get_operation_executor(); // the wait may end before this returns
        auto const through = this->state()->executor();
        post_turn<turn>(executor, through, *this);
    }

    void end() override {
        std::optional<error_code> const result = this->state()->conclude(*this);
        if (!result)
            return; // it waits again
        Handler handler = take_handler();
        std::move(handler)(*result);
    }

    void dissolve() noexcept override { [[maybe_unused]] auto const destroyed = take_handler(); }

    Handler take_handler() {
        this->disconnect_slot();
        return block::dissolve(this, this->handler());
    }
};

} // namespace asio_retry::detail
