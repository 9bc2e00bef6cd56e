#pragma once

#include <asio_retry/detail/handler/asio.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <memory>
#include <type_traits>

namespace asio_retry::detail {

/// The memory for a handler's operation: from the handler's allocator, or else from Asio's recycling allocator.
template <typename Handler>
struct handler_memory {
    /// The allocator for everything that the handler's operation allocates.
    using handler_allocator = asio::associated_allocator_t<Handler, asio::recycling_allocator<void>>;

    static handler_allocator handler_allocator_of(Handler const& handler) noexcept {
        return asio::get_associated_allocator(handler, asio::recycling_allocator<void>());
    }

    // An explicit std::allocator bypasses Asio's per-thread cache.
    static constexpr bool is_recycled = std::is_same_v<handler_allocator, std::allocator<void>>;

    template <typename T>
    using allocator =
        typename std::allocator_traits<std::conditional_t<is_recycled, asio::recycling_allocator<void>,
                                                          handler_allocator>>::template rebind_alloc<T>;

    template <typename T>
    static allocator<T> allocator_for(Handler const& handler) noexcept {
        if constexpr (is_recycled)
            return allocator<T>(asio::recycling_allocator<void>());
        else
            return allocator<T>(handler_allocator_of(handler));
    }
};

} // namespace asio_retry::detail
