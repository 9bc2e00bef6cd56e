#pragma once

/// Hides the differences between versions of Boost.Asio.

#include <asio_retry/detail/policy/config.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/version.hpp>

#include <type_traits>
#include <utility>

#if defined(ASIO_RETRY_STANDALONE) && BOOST_ASIO_VERSION < 103000
#error "asio_retry needs Asio 1.30 or newer"
#endif

#if BOOST_ASIO_VERSION >= 102700
#include <boost/asio/associated_immediate_executor.hpp>
#define ASIO_RETRY_HAS_IMMEDIATE_EXECUTOR 1
#else
#define ASIO_RETRY_HAS_IMMEDIATE_EXECUTOR 0
#endif
#if BOOST_ASIO_VERSION >= 103700
#include <boost/asio/inline_executor.hpp>
#endif

// A program that has such a token or such a socket includes their headers.
#if defined(BOOST_ASIO_ENABLE_VERSION_NAMESPACE)
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#else
namespace boost::asio {
template <typename CompletionToken>
class as_tuple_t;
template <typename Protocol, typename Executor>
class basic_stream_socket;
} // namespace boost::asio
namespace boost::asio::ip {
class tcp;
template <typename InternetProtocol>
class basic_endpoint;
template <typename InternetProtocol, typename Executor>
class basic_resolver;
} // namespace boost::asio::ip
#endif

namespace boost::asio::detail {
// The executor of use_future's handlers: a system_executor that also catches exceptions. If Asio renames it,
// attempts for such a handler run on the system's threads.
template <typename T, typename Blocking>
class promise_executor;
#if !defined(ASIO_RETRY_SPAWN_ATTEMPTS)
// If Asio renames one of these, coroutine_entry is not used.
template <typename Executor>
class awaitable_frame_base;
template <typename T, typename Executor>
class awaitable_frame;
template <typename Executor>
class awaitable_thread;
struct awaitable_thread_entry_point;
#endif
} // namespace boost::asio::detail

namespace asio_retry {
namespace asio = boost::asio;
}

namespace asio_retry::detail {

/// Also true for types derived from system_executor, such as one with a default token.
template <typename Blocking, typename Relationship, typename Allocator>
void accept_system_executor(asio::basic_system_executor<Blocking, Relationship, Allocator> const*);

/// Whether Asio uses this executor for handlers without an executor. It runs functions anywhere, so no
/// operation can wait or make attempts there. A strand on it is another executor.
template <typename Executor>
inline constexpr bool is_fallback_executor = requires(Executor const* e) { detail::accept_system_executor(e); };
template <typename T, typename Blocking>
inline constexpr bool is_fallback_executor<asio::detail::promise_executor<T, Blocking>> = true;
#if BOOST_ASIO_VERSION >= 103700
template <>
inline constexpr bool is_fallback_executor<asio::inline_executor> = true;
#endif

/// An executor that counts as work on its context while it lives; made by asio::prefer.
template <typename Executor>
using tracked_executor =
    std::decay_t<typename asio::prefer_result<Executor, asio::execution::outstanding_work_t::tracked_t>::type>;

/// Calls a function at once. Unlike asio::system_executor, it lets exceptions pass.
struct calling_executor {
    template <typename Function>
    void execute(Function&& function) const {
        std::forward<Function>(function)();
    }
    friend bool operator==(calling_executor, calling_executor) noexcept { return true; }
    friend bool operator!=(calling_executor, calling_executor) noexcept { return false; }
};

/// How to get a handler's executor for completions inside the initiating function.
#if ASIO_RETRY_HAS_IMMEDIATE_EXECUTOR
template <typename Handler, typename Executor>
using immediate_executor = asio::associated_immediate_executor<Handler, Executor>;
#else
template <typename Handler, typename Executor>
struct immediate_executor {
    using asio_associated_immediate_executor_is_unspecialised = void;
};
#endif

/// Whether the handler, or a handler in it, has such an executor.
template <typename Handler, typename Executor>
inline constexpr bool has_immediate_executor = !requires {
    typename immediate_executor<Handler, Executor>::asio_associated_immediate_executor_is_unspecialised;
};

} // namespace asio_retry::detail
