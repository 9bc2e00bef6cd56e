#pragma once

#include <asio_retry/detail/handler/asio.hpp>

#include <boost/asio/cancellation_type.hpp>

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

} // namespace asio_retry::detail
