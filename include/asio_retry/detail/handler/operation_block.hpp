#pragma once

#include <asio_retry/detail/handler/handler_memory.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace asio_retry::detail {

/// Room for an operation. Operations of one size share the type, and so the functions that allocate it.
template <std::size_t Size, std::size_t Alignment>
struct alignas(Alignment) operation_room {
    std::byte bytes[Size];
};

/// Allocated rooms, deallocated unless they are released.
template <typename Allocator>
class allocated_rooms {
    using traits = std::allocator_traits<Allocator>;
    using room = typename traits::value_type;

public:
    allocated_rooms(Allocator const& memory, std::size_t count)
        : allocated_rooms(memory, count, nullptr) {
        first_ = traits::allocate(memory_, count_);
    }
    /// Takes over rooms that were released.
    allocated_rooms(Allocator const& memory, std::size_t count, void* first) noexcept
        : memory_(memory)
        , count_(count)
        , first_(static_cast<room*>(first)) {}
    allocated_rooms(allocated_rooms const&) = delete;
    allocated_rooms& operator=(allocated_rooms const&) = delete;
    ~allocated_rooms() {
        if (first_)
            traits::deallocate(memory_, first_, count_);
    }

    void* first() const noexcept { return first_; }
    void release() noexcept { first_ = nullptr; }

private:
    Allocator memory_;
    std::size_t count_;
    room* first_;
};

/// The memory of an operation, in one block.
template <typename Operation, typename Handler>
class operation_block {
public:
    /// How many rooms hold `bytes`.
    static constexpr std::size_t room_for(std::size_t bytes) noexcept {
        return (bytes + sizeof(Operation) - 1) / sizeof(Operation);
    }

    static constexpr std::size_t alone = 0;

    /// Allocates room for `more` operations behind this one, for data that it keeps there. If this throws,
    /// nothing is left behind.
    template <typename... Args>
    static Operation* create(std::size_t more, Handler&& handler, Args&&... args) {
        rooms_type rooms(memory::template allocator_for<room>(handler), 1 + more);
        auto* const operation =
            ::new (rooms.first()) Operation(std::move(handler), std::forward<Args>(args)...);
        rooms.release();
        return operation;
    }

    /// Moves the handler out and destroys the operation, so that the handler may reuse the memory.
    static Handler dissolve(Operation* operation, Handler& handler, std::size_t more = 0) {
        struct on_exit {
            rooms_type rooms;
            Operation* operation;
            ~on_exit() { operation->~Operation(); }
        } const guard{rooms_type(memory::template allocator_for<room>(handler), 1 + more, operation),
                      operation};
        return Handler(std::move(handler));
    }

private:
    using room = operation_room<sizeof(Operation), alignof(Operation)>;
    using memory = handler_memory<Handler>;
    using rooms_type = allocated_rooms<typename memory::template allocator<room>>;
};

} // namespace asio_retry::detail
