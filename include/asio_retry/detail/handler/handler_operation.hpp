#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/handler_memory.hpp>
#include <asio_retry/detail/handler/operation_executors.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Connects an operation to its handler's slot; the operation gets emissions in `on_cancelled`.
template <typename Core>
class cancellable_core : public Core {
protected:
    using Core::Core;
    ~cancellable_core() = default;

    /// Returns false if the slot is not connected, so that no cancellation can come.
    template <typename Slot>
    bool connect(Slot slot) {
        if (slot.is_connected())
            slot.template emplace<slot_handler>(this);
        return slot.is_connected();
    }
    bool is_connected() const noexcept { return connected_; }

private:
    /// Lives in the slot, until the operation or the caller's signal ends.
    struct slot_handler {
        cancellable_core* self;
        explicit slot_handler(cancellable_core* given_core) noexcept
            : self(given_core) {
            self->connected_ = true;
        }
        slot_handler(slot_handler const&) = delete;
        slot_handler& operator=(slot_handler const&) = delete;
        ~slot_handler() { self->connected_ = false; }
        void operator()(asio::cancellation_type_t type) const { self->on_cancelled(type); }
    };

    bool connected_ = false;
};

/// An operation together with its handler, the executors it runs and waits on, and its slot. A derived class
/// puts it into one block of memory.
template <typename Core, typename WaitsOn, typename Handler, bool WantsStrand = false>
class handler_operation : public cancellable_core<Core> {
public:
    using handler_type = Handler;
    using executors = executors_for<WaitsOn, Handler, WantsStrand>;
    using operation_executor = typename executors::executor_type;
    using handler_allocator = typename handler_memory<Handler>::handler_allocator;

    static constexpr bool has_memory_of_its_own =
        !std::is_same_v<handler_allocator, asio::recycling_allocator<void>> &&
        !std::is_same_v<handler_allocator, std::allocator<void>>;

    operation_executor get_operation_executor() const noexcept { return executors_.get(); }
    auto get_io_executor() const noexcept { return executors_.waits_on(); }
    handler_allocator get_handler_allocator() const noexcept {
        return handler_memory<Handler>::handler_allocator_of(handler_);
    }

protected:
    template <typename... Args>
    handler_operation(Handler&& given_handler, WaitsOn const& waits_on, Args&&... args)
        : cancellable_core<Core>(std::forward<Args>(args)...)
        , executors_(executors::runs_on(given_handler, waits_on), waits_on)
        , handler_(std::move(given_handler)) {}
    ~handler_operation() = default;

    bool connect_slot() { return this->connect(asio::get_associated_cancellation_slot(handler_)); }
    void disconnect_slot() noexcept {
        if (this->is_connected())
            asio::get_associated_cancellation_slot(handler_).clear();
    }

    Handler& handler() noexcept { return handler_; }
    executors const& get_executors() const noexcept { return executors_; }
    void release_io_work() noexcept { executors_.release_io_work(); }

private:
    executors executors_; // first, so that the handler is not moved if there is no memory for a strand
    Handler handler_;
};

} // namespace asio_retry::detail
