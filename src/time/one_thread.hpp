#pragma once

#include "time/schedulers_of_asio.hpp"

#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/version.hpp>

#if __has_include(<boost/asio/config.hpp>)
#include <boost/asio/config.hpp>
#endif

namespace asio_retry::detail {

#if __has_include(<boost/asio/config.hpp>)
/// Whether a context was made to be run by one thread.
inline bool is_made_for_one_thread(boost::asio::execution_context& context) {
    boost::asio::config const made_with(context);
    if (!made_with.get("scheduler", "locking", true))
        return true;
#if BOOST_ASIO_VERSION < 103800
    return false; // until Boost 1.89 a hint of 1 and BOOST_ASIO_CONCURRENCY_HINT_SAFE look the same
#else
    return made_with.get("scheduler", "concurrency_hint", 0) == 1 &&
           made_with.get("reactor", "io_locking", true); // BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO is also 1
#endif
}
#else
template <typename Scheduler>
bool is_made_for_one_thread(boost::asio::execution_context& context) {
    if constexpr (requires(Scheduler& of) { of.concurrency_hint(); }) {
        if (boost::asio::has_service<Scheduler>(context)) {
            int const hint = boost::asio::use_service<Scheduler>(context).concurrency_hint();
            return hint == 1 || !BOOST_ASIO_CONCURRENCY_HINT_IS_LOCKING(SCHEDULER, hint);
        }
    }
    return false;
}

inline bool is_made_for_one_thread(boost::asio::execution_context& context) {
    return is_made_for_one_thread<scheduler_of_io_context>(context);
}
#endif

} // namespace asio_retry::detail
