#pragma once

#include <asio_retry/detail/scope_state.hpp>

#include <boost/asio/append.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace asio_retry::detail {

/// A handler with another completion than `handler`, which has its associations.
template <typename Handler>
struct scope_handler {
    using executor_type = boost::asio::associated_executor_t<Handler, boost::asio::any_io_executor>;
    using allocator_type = boost::asio::associated_allocator_t<Handler>;
    using cancellation_slot_type = boost::asio::associated_cancellation_slot_t<Handler>;

    std::shared_ptr<scope_state> scope;
    Handler handler;

    executor_type get_executor() const noexcept {
        return boost::asio::get_associated_executor(handler, scope->executor());
    }
    allocator_type get_allocator() const noexcept { return boost::asio::get_associated_allocator(handler); }
    cancellation_slot_type get_cancellation_slot() const noexcept {
        return boost::asio::get_associated_cancellation_slot(handler);
    }
};

/// Tells the end of a wait for an empty scope from a cancellation of that wait.
template <typename Handler>
struct join_handler : scope_handler<Handler> {
    std::uint64_t times_empty_before;

    void operator()(boost::system::error_code) {
        boost::system::error_code result;
        if (!this->scope->has_been_empty_since(times_empty_before))
            result = boost::asio::error::operation_aborted;
        this->scope.reset();
        std::move(this->handler)(result);
    }
};

template <typename Handler>
void scope_state::async_join(Handler handler) {
    std::unique_lock lock(mutex_);
    if (pending_ + without_room_ != 0) {
        if (!joiners_)
            joiners_.emplace(executor_, boost::asio::steady_timer::time_point::max());
        joiners_->async_wait(join_handler<Handler>{{shared_from_this(), std::move(handler)}, times_empty_});
        return;
    }
    lock.unlock();
    boost::asio::post(executor_, boost::asio::append(std::move(handler), boost::system::error_code()));
}

} // namespace asio_retry::detail
