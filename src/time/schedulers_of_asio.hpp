#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

// If Asio renames these one day, the code that needs them is not used.
namespace boost::asio::detail {
class scheduler;
class win_iocp_io_context;
template <typename Handler, typename Allocator, typename Operation>
class executor_op;
} // namespace boost::asio::detail

namespace asio_retry::detail {

/// Asio's services that run queued functions. Asio has no public way to reach them.
using scheduler_of_pool = boost::asio::detail::scheduler;
#if defined(BOOST_ASIO_HAS_IOCP)
using scheduler_of_io_context = boost::asio::detail::win_iocp_io_context;
#else
using scheduler_of_io_context = scheduler_of_pool;
#endif

} // namespace asio_retry::detail
