#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/executor_home.hpp>
#include <asio_retry/detail/handler/runs_here.hpp>
#include <asio_retry/detail/handler/working_executor.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

namespace asio_retry::detail {

/// Says that a coroutine waits on its own executor.
struct own_executor {};

/// Where a coroutine waits: elsewhere, and there is work while it may.
template <typename WaitsOn>
class awaited_context {
public:
    explicit awaited_context(WaitsOn const& waits_on)
        : elsewhere_(waits_on) {}

    template <typename Executor>
    asio::execution_context& get(Executor const&) const {
        return asio::query(elsewhere_.get(), asio::execution::context);
    }

private:
    working_executor<WaitsOn> elsewhere_;
};

template <>
class awaited_context<own_executor> {
public:
    explicit awaited_context(own_executor) noexcept {}

    template <typename Executor>
    asio::execution_context& get(Executor const& own) const {
        return asio::query(own, asio::execution::context);
    }
};

/// Whether what is queued on the executor never meets a coroutine that runs there.
template <typename Executor>
bool runs_one_at_a_time(Executor const& executor) {
    asio::io_context* const context = own_context(executor);
    return context ? scheduler(*context).has_one_thread() : executor_home(executor).is_strand();
}

} // namespace asio_retry::detail
