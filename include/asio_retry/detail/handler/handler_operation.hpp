#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/operation_block.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// An operation and its handler: the handler itself, the executors that it runs and waits on, and its slot.
/// `Core` is what the operation does, whatever its handler is, and sees to a cancellation in `on_cancelled`. An
/// operation of handlers derives from this and gives it one block of memory.
template <typename Core, typename WaitsOn, typename Handler, bool WantsStrand = false>
class handler_operation : public Core {
public:
    using handler_type = Handler;
    using executors = operation_executors<WaitsOn, Handler, WantsStrand>;
    using operation_executor = typename executors::executor_type;
    using handler_allocator = typename operation_block<handler_operation, Handler>::handler_allocator;

    /// Whether the handler says where memory is to come from.
    static constexpr bool has_memory_of_its_own =
        !std::is_same_v<handler_allocator, asio::recycling_allocator<void>> &&
        !std::is_same_v<handler_allocator, std::allocator<void>>;

    operation_executor get_operation_executor() const noexcept { return executors_.get(); }
    handler_allocator get_handler_allocator() const noexcept {
        return operation_block<handler_operation, Handler>::handler_allocator_of(handler_);
    }

protected:
    template <typename... Args>
    handler_operation(Handler&& given_handler, WaitsOn const& waits_on, Args&&... args)
        : Core(std::forward<Args>(args)...)
        , handler_(std::move(given_handler))
        , executors_(handler_, waits_on) {}
    ~handler_operation() = default;

    /// Returns false if nobody can cancel by the slot.
    bool connect_slot() {
        auto slot = asio::get_associated_cancellation_slot(handler_);
        if (slot.is_connected())
            slot.template emplace<slot_handler>(this);
        return slot.is_connected();
    }
    void disconnect_slot() noexcept {
        if (slot_connected_)
            asio::get_associated_cancellation_slot(handler_).clear();
    }

    Handler& handler() noexcept { return handler_; }
    executors const& get_executors() const noexcept { return executors_; }
    void release_io_work() noexcept { executors_.release_io_work(); }

private:
    /// Lives in the slot, until the operation or the caller's signal ends.
    struct slot_handler {
        handler_operation* self;
        explicit slot_handler(handler_operation* given_operation) noexcept
            : self(given_operation) {
            self->slot_connected_ = true;
        }
        slot_handler(slot_handler const&) = delete;
        slot_handler& operator=(slot_handler const&) = delete;
        ~slot_handler() { self->slot_connected_ = false; }
        void operator()(asio::cancellation_type_t type) const { self->on_cancelled(type); }
    };

    bool slot_connected_ = false;
    Handler handler_;
    executors executors_;
};

} // namespace asio_retry::detail
