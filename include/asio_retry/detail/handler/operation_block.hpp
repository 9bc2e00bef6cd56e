#pragma once

#include <asio_retry/detail/handler/asio.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The memory of an operation: one block, from the allocator of its handler, or else recycled by Asio.
template <typename Operation, typename Handler>
class operation_block {
public:
    /// For what is allocated on behalf of the handler.
    using handler_allocator = asio::associated_allocator_t<Handler, asio::recycling_allocator<void>>;

    static handler_allocator handler_allocator_of(Handler const& handler) noexcept {
        return asio::get_associated_allocator(handler, asio::recycling_allocator<void>());
    }

    /// If this throws, nothing is left behind.
    template <typename... Args>
    static Operation* create(Handler&& handler, Args&&... args) {
        return create_with(0, std::move(handler), std::forward<Args>(args)...);
    }

    /// How many operations take as much room as `bytes`.
    static constexpr std::size_t room_for(std::size_t bytes) noexcept {
        return (bytes + sizeof(Operation) - 1) / sizeof(Operation);
    }

    /// The same with room behind the operation for what it keeps there, as for `more` operations.
    template <typename... Args>
    static Operation* create_with(std::size_t more, Handler&& handler, Args&&... args) {
        allocator memory = allocator_for(handler);
        struct unless_built {
            allocator& memory;
            Operation* place;
            std::size_t count;
            ~unless_built() {
                if (place)
                    traits::deallocate(memory, place, count);
            }
        } guard{memory, traits::allocate(memory, 1 + more), 1 + more};
        ::new (static_cast<void*>(guard.place)) Operation(std::move(handler), std::forward<Args>(args)...);
        return std::exchange(guard.place, nullptr);
    }

    /// Destroys the operation after its handler has been moved out, so that the handler may reuse the memory.
    static Handler dissolve(Operation* operation, Handler& handler, std::size_t more = 0) {
        struct on_exit {
            Operation* operation;
            allocator memory;
            std::size_t count;
            ~on_exit() {
                operation->~Operation();
                traits::deallocate(memory, operation, count);
            }
        } guard{operation, allocator_for(handler), 1 + more};
        return Handler(std::move(handler));
    }

private:
    // An explicit std::allocator would bypass Asio's per-thread cache.
    static constexpr bool is_recycled = std::is_same_v<handler_allocator, std::allocator<void>>;
    using allocator_for_any =
        std::conditional_t<is_recycled, asio::recycling_allocator<void>, handler_allocator>;

    using allocator = typename std::allocator_traits<allocator_for_any>::template rebind_alloc<Operation>;
    using traits = std::allocator_traits<allocator>;

    static allocator allocator_for(Handler const& handler) noexcept {
        if constexpr (is_recycled)
            return allocator(asio::recycling_allocator<void>());
        else
            return allocator(handler_allocator_of(handler));
    }
};

} // namespace asio_retry::detail
