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
#include <utility>

namespace asio_retry::detail {

/// The coroutine waits on its own executor.
struct own_executor {};

/// The scheduler of the coroutine's own context, if it was looked up.
class coroutine_home {
public:
    coroutine_home() noexcept = default;
    explicit coroutine_home(asio::io_context& context)
        : scheduler_(&asio_retry::scheduler(context)) {}

    explicit operator bool() const noexcept { return scheduler_ != nullptr; }

    /// @name Precondition: it has been looked up
    /// @{
    retry_scheduler& scheduler() const noexcept { return *scheduler_; }
    asio::io_context& context() const noexcept { return static_cast<asio::io_context&>(scheduler_->context()); }
    /// @}

    template <typename Executor>
    asio::execution_context& context_of(Executor const& own) const {
        return scheduler_ ? scheduler_->context() : asio::query(own, asio::execution::context);
    }

private:
    retry_scheduler* scheduler_ = nullptr;
};

/// The context where a coroutine waits, other than its own, with work on it.
template <typename WaitsOn>
class awaited_context {
public:
    template <typename Executor>
    awaited_context(WaitsOn&& waits_on, Executor const&, coroutine_home const&)
        : work_(asio::prefer(std::move(waits_on), asio::execution::outstanding_work.tracked)) {}

    template <typename Executor>
    asio::execution_context& get(Executor const&, coroutine_home const&) const {
        return asio::query(*work_, asio::execution::context);
    }

    void forget() noexcept { work_.reset(); }

private:
    std::optional<tracked_executor<WaitsOn>> work_;
};

template <>
class awaited_context<own_executor> {
public:
    template <typename Executor>
    awaited_context(own_executor, Executor const&, coroutine_home const&) noexcept {}

    template <typename Executor>
    asio::execution_context& get(Executor const& own, coroutine_home const& home) const {
        return home.context_of(own);
    }

    void forget() const noexcept {}
};

/// The context of a scope, which is seldom another than the coroutine's own.
template <>
class awaited_context<scope_handle> {
public:
    template <typename Executor>
    awaited_context(scope_handle&& given_scope, Executor const& own, coroutine_home const& home)
        : scope_(std::move(given_scope)) {
        if (&get(own, home) != &home.context_of(own))
            work_.emplace(asio::prefer(scope_->executor(), asio::execution::outstanding_work.tracked));
    }

    template <typename Executor>
    asio::execution_context& get(Executor const&, coroutine_home const&) const noexcept {
        return scope_->context();
    }

    scope_handle const& scope() const noexcept { return scope_; }
    void forget() noexcept {
        work_.reset();
        scope_.reset();
    }

private:
    scope_handle scope_;
    std::optional<tracked_executor<asio::any_io_executor>> work_;
};

/// Whether the executor runs one function at a time, so that a queued function never meets the coroutine. If
/// one thread runs the context, its scheduler is kept in `home`.
template <typename Executor>
bool runs_one_at_a_time(Executor const& executor, coroutine_home& home) {
    asio::io_context* const context = own_context(executor);
    if (!context)
        return executor_home(executor).is_strand();
    coroutine_home const found(*context);
    if (!found.scheduler().has_one_thread())
        return false;
    home = found;
    return true;
}
template <typename Executor>
bool runs_one_at_a_time(Executor const& executor) {
    coroutine_home home;
    return runs_one_at_a_time(executor, home);
}

} // namespace asio_retry::detail
