#pragma once

#include <asio_retry/detail/handler/handler_memory.hpp>

#include <boost/asio/associator.hpp>
#include <boost/asio/recycling_allocator.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace asio_retry::detail {

namespace asio = boost::asio;

template <typename Allocator>
inline constexpr bool is_the_librarys_own = std::is_same_v<Allocator, std::allocator<void>>;
template <typename T>
inline constexpr bool is_the_librarys_own<asio::recycling_allocator<T>> = true;

/// Whether the operation's memory may outlive its handler: the handler's own allocator may end with the
/// handler.
template <typename Handler>
inline constexpr bool has_librarys_memory =
    is_the_librarys_own<typename handler_memory<Handler>::handler_allocator>;

/// Hides the handler's own allocator. Binding another allocator would do, but in Boost 1.81 a handler with a
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
