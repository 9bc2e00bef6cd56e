#pragma once

#include <asio_retry/detail/handler/serial_executor.hpp>
#include <asio_retry/detail/policy/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>

namespace asio_retry::detail {

/// The context of an io_context executor that may run a function at once; null for any other executor, such as
/// a strand.
template <typename Executor>
boost::asio::io_context* own_context(Executor const&) noexcept {
    return nullptr;
}

inline boost::asio::io_context* own_context(boost::asio::io_context::executor_type const& executor) noexcept {
    bool const may_run_at_once = boost::asio::query(executor, boost::asio::execution::blocking) ==
                                 boost::asio::execution::blocking.possibly;
    return may_run_at_once ? &boost::asio::query(executor, boost::asio::execution::context) : nullptr;
}

ASIO_RETRY_DECL boost::asio::io_context* own_context(boost::asio::any_io_executor const& executor) noexcept;

/// Whether this thread runs the context, and the context is not stopped.
inline bool runs_here(boost::asio::io_context* context) noexcept {
    return context && context->get_executor().running_in_this_thread() && !context->stopped();
}

/// Whether this thread may call a function for `executor` at once. Asio would call it at once too, but on a
/// copy, and also after a stop.
template <typename Executor>
bool runs_here(Executor const& executor) noexcept {
    return runs_here(own_context(executor));
}

/// Whether a function given to the strand `executor` runs at once on this thread if the strand is free. The
/// context receives its exceptions.
template <typename Executor>
bool enters_here(Executor const&) noexcept {
    return false;
}

inline bool enters_here(boost::asio::strand<boost::asio::io_context::executor_type> const& strand) noexcept {
    return runs_here(strand.get_inner_executor()) && !strand.running_in_this_thread();
}

template <typename Inner>
bool enters_here(serial_executor<Inner> const& strand) noexcept {
    return runs_here(strand.get_inner_executor()) && !strand.running_in_this_thread();
}

ASIO_RETRY_DECL bool enters_here(boost::asio::any_io_executor const& executor) noexcept;

} // namespace asio_retry::detail
