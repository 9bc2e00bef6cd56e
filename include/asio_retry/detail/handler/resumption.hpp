#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// Holds in place the handler that resumes a coroutine; Asio makes it of a few pointers.
class resumption {
public:
    resumption() noexcept = default;
    resumption(resumption const&) = delete;
    resumption& operator=(resumption const&) = delete;
    ~resumption() { drop(); }

    /// Precondition: holds nothing.
    template <typename Handler>
    void hold(Handler&& handler) noexcept {
        using held = std::decay_t<Handler>;
        static_assert(sizeof(held) <= sizeof memory_ && alignof(held) <= alignof(void*));
        assert(!take_);
        ::new (static_cast<void*>(memory_)) held(std::forward<Handler>(handler));
        take_ = [](resumption& held_by, bool resumes) {
            held* const place = std::launder(reinterpret_cast<held*>(held_by.memory_));
            held taken(std::move(*place));
            std::destroy_at(place);
            held_by.take_ = nullptr; // the call may hold another handler, or destroy this object
            if (resumes)
                std::move(taken)();
        };
    }

    /// Precondition: holds a handler.
    void operator()() {
        assert(take_);
        take_(*this, true);
    }

    /// Destroys the handler, and the coroutine with it.
    void drop() noexcept {
        if (take_)
            take_(*this, false);
    }

private:
    alignas(void*) std::byte memory_[4 * sizeof(void*)];
    void (*take_)(resumption&, bool resumes) = nullptr;
};

} // namespace asio_retry::detail
