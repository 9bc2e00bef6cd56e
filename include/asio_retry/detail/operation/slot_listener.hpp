#pragma once

#include <asio_retry/detail/handler/asio.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>

namespace asio_retry::detail {

/// Passes emissions of the coroutine's slot to `Retry`, in `on_cancelled(type)`.
template <typename Retry>
class slot_listener {
public:
    slot_listener(Retry& retry, asio::cancellation_slot slot) noexcept
        : retry_(retry)
        , slot_(slot) {}
    ~slot_listener() {
        if (listens_)
            slot_.clear();
    }
    slot_listener(slot_listener const&) = delete;
    slot_listener& operator=(slot_listener const&) = delete;

    /// False if the caller cannot cancel.
    bool is_connected() const noexcept { return slot_.is_connected(); }

    void listen() {
        if (is_connected())
            slot_.template emplace<emitted>(this);
    }

private:
    /// Lives in the slot.
    struct emitted {
        slot_listener* to;
        explicit emitted(slot_listener* listener) noexcept
            : to(listener) {
            to->listens_ = true;
        }
        emitted(emitted const&) = delete;
        emitted& operator=(emitted const&) = delete;
        ~emitted() { to->listens_ = false; }
        void operator()(asio::cancellation_type_t type) { to->retry_.on_cancelled(type); }
    };

    Retry& retry_;
    asio::cancellation_slot slot_;
    bool listens_ = false;
};

} // namespace asio_retry::detail
