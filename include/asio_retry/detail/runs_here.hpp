#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/query.hpp>

namespace asio_retry::detail {

/// Whether a function given to `executor` may run at once, where this thread stands: `executor` is an
/// io_context's own, this thread runs that context, and nobody has stopped it. Asio would run the function at
/// once too, but by way of a copy, and after a stop as well.
template <typename Executor>
bool runs_here(Executor const&) noexcept {
    return false;
}

inline bool runs_here(boost::asio::io_context::executor_type const& executor) noexcept {
    return executor.running_in_this_thread() && !executor.context().stopped() &&
           boost::asio::query(executor, boost::asio::execution::blocking) ==
               boost::asio::execution::blocking.possibly;
}

inline bool runs_here(boost::asio::any_io_executor const& executor) noexcept {
    auto const* const own = executor.target<boost::asio::io_context::executor_type>();
    return own && runs_here(*own);
}

} // namespace asio_retry::detail
