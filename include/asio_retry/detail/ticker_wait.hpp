#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/operation_block.hpp>
#include <asio_retry/detail/operation_executors.hpp>
#include <asio_retry/detail/queued_turn.hpp>
#include <asio_retry/detail/ticker_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <memory>
#include <utility>

namespace asio_retry::detail {

/// The wait of one handler, in memory from its allocator.
template <typename Handler>
class handler_wait final : ticker_wait {
    using block = operation_block<handler_wait, Handler>;
    friend block;

public:
    static void initiate(Handler&& handler, std::shared_ptr<ticker_state> const& state) {
        handler_wait* const wait = block::create(std::move(handler), state);
        try {
            if (wait->slot_.is_connected())
                wait->slot_.template emplace<slot_handler>(wait);
            state->begin(*wait);
        } catch (...) {
            wait->dissolve();
            throw;
        }
    }

    struct turn {};
    template <typename>
    using turn_allocator = typename block::handler_allocator;
    turn_allocator<turn> get_turn_allocator(turn) const noexcept {
        return block::handler_allocator_of(handler_);
    }
    void on_turn(turn) { end(); }
    void on_turn_dropped(turn) noexcept {
        state()->forget(*this);
        dissolve();
    }

private:
    /// Lives in the slot of the handler, until the wait or the caller's signal ends.
    struct slot_handler {
        handler_wait* self;
        explicit slot_handler(handler_wait* wait) noexcept
            : self(wait) {
            self->slot_connected_ = true;
        }
        slot_handler(slot_handler const&) = delete;
        slot_handler& operator=(slot_handler const&) = delete;
        ~slot_handler() { self->slot_connected_ = false; }
        void operator()(asio::cancellation_type_t type) const {
            if (type == asio::cancellation_type::none)
                return;
            auto const state = self->state(); // outlives the wait
            state->cancel(*self);
        }
    };

    handler_wait(Handler&& handler, std::shared_ptr<ticker_state> const& state)
        : ticker_wait(state)
        , handler_(std::move(handler))
        , slot_(asio::get_associated_cancellation_slot(handler_))
        , executors_(handler_, state->executor()) {}

    ~handler_wait() = default;

    void post() override {
        auto const executor = executors_.get(); // the wait may end before this returns
        auto const through = state()->executor();
        post_turn<turn>(executor, through, *this);
    }

    void end() override {
        error_code const result = state()->conclude(*this);
        Handler handler = take_handler();
        std::move(handler)(result);
    }

    void dissolve() noexcept override { [[maybe_unused]] auto const destroyed = take_handler(); }

    Handler take_handler() {
        if (slot_connected_)
            slot_.clear();
        return block::dissolve(this, handler_);
    }

    Handler handler_;
    asio::associated_cancellation_slot_t<Handler> slot_;
    operation_executors<asio::any_io_executor, Handler, false> executors_;
    bool slot_connected_ = false;
};

} // namespace asio_retry::detail
