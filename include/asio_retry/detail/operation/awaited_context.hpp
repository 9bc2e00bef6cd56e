#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/executor_home.hpp>
#include <asio_retry/detail/handler/runs_here.hpp>
#include <asio_retry/detail/scope/scope_state.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>

#include <optional>

namespace asio_retry::detail {

/// Says that a coroutine waits on its own executor.
struct own_executor {};

/// Where a coroutine waits: elsewhere, and there is work while it may.
template <typename WaitsOn>
class awaited_context {
public:
    template <typename Executor>
    awaited_context(WaitsOn const& waits_on, Executor const&)
        : work_(asio::prefer(waits_on, asio::execution::outstanding_work.tracked)) {}

    template <typename Executor>
    asio::execution_context& get(Executor const&) const {
        return asio::query(work_, asio::execution::context);
    }

private:
    tracked_executor<WaitsOn> work_;
};

template <>
class awaited_context<own_executor> {
public:
    template <typename Executor>
    awaited_context(own_executor, Executor const&) noexcept {}

    template <typename Executor>
    asio::execution_context& get(Executor const& own) const {
        return asio::query(own, asio::execution::context);
    }
};

/// On the context of a scope, which is seldom elsewhere.
template <>
class awaited_context<scope_handle> {
public:
    /// `scope` must outlive it.
    template <typename Executor>
    awaited_context(scope_handle const& given_scope, Executor const& own)
        : scope_(given_scope) {
        if (&get(own) != &asio::query(own, asio::execution::context))
            work_.emplace(asio::prefer(given_scope->executor(), asio::execution::outstanding_work.tracked));
    }

    template <typename Executor>
    asio::execution_context& get(Executor const&) const noexcept {
        return asio::query(scope_->executor(), asio::execution::context);
    }

    scope_handle const& scope() const noexcept { return scope_; }

private:
    scope_handle const& scope_;
    std::optional<tracked_executor<asio::any_io_executor>> work_;
};

/// Whether what is queued on the executor never meets a coroutine that runs there.
template <typename Executor>
bool runs_one_at_a_time(Executor const& executor) {
    asio::io_context* const context = own_context(executor);
    return context ? scheduler(*context).has_one_thread() : executor_home(executor).is_strand();
}

} // namespace asio_retry::detail
