#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/operation_block.hpp>
#include <asio_retry/detail/operation_executors.hpp>
#include <asio_retry/detail/queued_turn.hpp>
#include <asio_retry/detail/scope_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <cstddef>
#include <utility>

namespace asio_retry::detail {

/// The join of one handler, in memory from its allocator.
///
/// Before its turn is queued it lets go of the scope and its context: they may be gone when the turn comes, on
/// the executor of the handler.
template <typename Handler, bool Drains>
class handler_join final : scope_join {
    using block = operation_block<handler_join, Handler>;
    friend block;

public:
    /// A drain cancels the scope after `timeout`.
    static void initiate(Handler&& handler, scope_handle const& scope, duration timeout) {
        if constexpr (Drains)
            scope->request(scope_request::drain); // which stands, even if there is no memory for the join
        handler_join* const join = block::create(std::move(handler), scope);
        try {
            auto slot = asio::get_associated_cancellation_slot(join->handler_);
            if (slot.is_connected())
                slot.template emplace<slot_handler>(join);
            scope->begin_join(*join, timeout);
        } catch (...) {
            join->dissolve();
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
    void on_turn_dropped(turn) noexcept { dissolve(); }

private:
    /// Lives in the slot of the handler, until the join or the signal ends.
    struct slot_handler {
        handler_join* self;

        explicit slot_handler(handler_join* s) noexcept
            : self(s) {
            self->slot_connected_ = true;
        }
        slot_handler(slot_handler const&) = delete;
        slot_handler& operator=(slot_handler const&) = delete;
        ~slot_handler() { self->slot_connected_ = false; }
        void operator()(asio::cancellation_type_t type) const {
            if (type != asio::cancellation_type::none)
                self->abandon();
        }
    };

    handler_join(Handler&& handler, scope_handle const& scope)
        : scope_join(scope)
        , handler_(std::move(handler))
        , executors_(handler_, scope->executor()) {}

    ~handler_join() = default;

    void post() override {
        auto const executor = executors_.get(); // the join may end before this returns
        executors_.release_io_work();
        if constexpr (asio::can_require<decltype(executor), asio::execution::blocking_t::never_t>::value) {
            release_scope();
            post_turn<turn>(executor, executor, *this);
        } else { // the turn goes by way of the scope's executor
            post_turn<turn>(executor, asio::any_io_executor(scope_executor()), *this);
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

    /// Destroys the join.
    Handler take_handler() {
        if (slot_connected_)
            asio::get_associated_cancellation_slot(handler_).clear();
        return block::dissolve(this, handler_);
    }

    Handler handler_;
    operation_executors<asio::any_io_executor, Handler, false> executors_;
    bool slot_connected_ = false;
};

} // namespace asio_retry::detail
