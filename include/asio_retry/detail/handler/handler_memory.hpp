#pragma once

#include <asio_retry/detail/handler/asio.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

/// The memory for a handler's operation: from the handler's allocator, or else from Asio's recycling allocator.
template <typename Handler>
struct handler_memory {
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

/// The unit in which memory for operations is allocated. Operations of one alignment share the type, so the
/// functions that allocate are compiled once.
template <std::size_t Alignment>
struct alignas(Alignment) operation_room {
    std::byte bytes[Alignment];
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

template <typename Operation, typename Handler>
class operation_block {
public:
    static constexpr std::size_t room_for(std::size_t bytes) noexcept {
        return (bytes + sizeof(Operation) - 1) / sizeof(Operation);
    }

    static constexpr std::size_t alone = 0;

    /// Allocates room for `more` operations behind this one, for its data. If this throws, nothing is left.
    template <typename... Args>
    static Operation* create(std::size_t more, Handler&& handler, Args&&... args) {
        rooms_type rooms(memory::template allocator_for<room>(handler), rooms_of(1 + more));
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
        } const guard{rooms_type(memory::template allocator_for<room>(handler), rooms_of(1 + more), operation),
                      operation};
        return Handler(std::move(handler));
    }

private:
    using room = operation_room<alignof(Operation)>;

    static constexpr std::size_t rooms_of(std::size_t operations) noexcept {
        return (operations * sizeof(Operation) + sizeof(room) - 1) / sizeof(room);
    }

    using memory = handler_memory<Handler>;
    using rooms_type = allocated_rooms<typename memory::template allocator<room>>;
};

template <typename Allocator>
inline constexpr bool is_the_librarys_own = std::is_same_v<Allocator, std::allocator<void>>;
template <typename T>
inline constexpr bool is_the_librarys_own<asio::recycling_allocator<T>> = true;

/// Whether the operation's memory may outlive its handler. The handler's own allocator may end with it.
template <typename Handler>
inline constexpr bool has_librarys_memory =
    is_the_librarys_own<typename handler_memory<Handler>::handler_allocator>;

/// Hides the handler's own allocator. bind_allocator would do the same, but in Boost 1.81 a handler with a
/// bound allocator takes no second one.
template <typename Handler>
class with_own_memory {
public:
    using allocator_type = std::allocator<void>;

    explicit with_own_memory(Handler&& handler)
        : handler_(std::move(handler)) {}

    static allocator_type get_allocator() noexcept { return {}; }
    Handler const& handler() const noexcept { return handler_; }

    template <typename... Args>
    void operator()(Args&&... args) {
        std::move(handler_)(std::forward<Args>(args)...);
    }

private:
    Handler handler_;
};

} // namespace asio_retry::detail

template <template <typename, typename> class Associator, typename Handler, typename Default>
struct boost::asio::associator<Associator, asio_retry::detail::with_own_memory<Handler>, Default>
    : Associator<Handler, Default> {
    using wrapped = asio_retry::detail::with_own_memory<Handler>;

    static typename Associator<Handler, Default>::type get(wrapped const& by) noexcept {
        return Associator<Handler, Default>::get(by.handler());
    }
    static auto get(wrapped const& by, Default const& otherwise) noexcept
        -> decltype(Associator<Handler, Default>::get(by.handler(), otherwise)) {
        return Associator<Handler, Default>::get(by.handler(), otherwise);
    }
};
