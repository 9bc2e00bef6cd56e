#pragma once

/// What the versions of Boost.Asio have in different places, in one place.

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

namespace boost::asio::detail {
template <typename T, typename Blocking>
class promise_executor; // what use_future gives its handlers: a system_executor that also catches exceptions
template <typename... Signatures>
struct initiation_archetype; // what its concepts try a token with
#if !defined(ASIO_RETRY_SPAWN_ATTEMPTS)
template <typename Executor>
class awaitable_frame_base; // what coroutine_entry.hpp looks for, which may be gone one day
struct awaitable_thread_entry_point;
#endif
} // namespace boost::asio::detail

namespace asio_retry {
namespace asio = boost::asio;
}

namespace asio_retry::detail {

/// Takes a system_executor, and what derives from one, as one with a default token does.
template <typename Blocking, typename Relationship, typename Allocator>
void take_the_systems(asio::basic_system_executor<Blocking, Relationship, Allocator> const*);

/// An executor that a handler has for want of one: it runs things anywhere, so there is nothing to wait or to
/// attempt on. A strand of it is another one.
template <typename Executor>
inline constexpr bool is_fallback_executor = requires(Executor const* e) { detail::take_the_systems(e); };
template <typename T, typename Blocking>
inline constexpr bool is_fallback_executor<asio::detail::promise_executor<T, Blocking>> = true;
#if BOOST_ASIO_VERSION >= 103700
template <>
inline constexpr bool is_fallback_executor<asio::inline_executor> = true;
#endif

/// An executor whose context has work as long as this lives; made by asio::prefer.
template <typename Executor>
using tracked_executor =
    std::decay_t<typename asio::prefer_result<Executor, asio::execution::outstanding_work_t::tracked_t>::type>;

/// Runs a function where it stands. Unlike asio::system_executor it lets exceptions pass.
struct calling_executor {
    template <typename Function>
    void execute(Function&& function) const {
        std::forward<Function>(function)();
    }
    friend bool operator==(calling_executor, calling_executor) noexcept { return true; }
    friend bool operator!=(calling_executor, calling_executor) noexcept { return false; }
};

/// How to get the executor that a handler has for completions that happen inside the initiating function.
#if ASIO_RETRY_HAS_IMMEDIATE_EXECUTOR
template <typename Handler, typename Executor>
using immediate_executor = asio::associated_immediate_executor<Handler, Executor>;
#else
template <typename Handler, typename Executor>
struct immediate_executor {
    using asio_associated_immediate_executor_is_unspecialised = void;
};
#endif

/// Whether a handler has one: it, or another one in it, is associated with it.
template <typename Handler, typename Executor>
inline constexpr bool has_immediate_executor = !requires {
    typename immediate_executor<Handler, Executor>::asio_associated_immediate_executor_is_unspecialised;
};

} // namespace asio_retry::detail
