#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/executor_home.hpp>
#include <asio_retry/detail/handler/runs_here.hpp>
#include <asio_retry/detail/operation/awaited_context.hpp>
#include <asio_retry/detail/policy/config.hpp>

#include <utility>

namespace asio_retry::detail {

/// The places where a coroutine with this executor runs and waits.
template <typename Executor, typename WaitsOn>
class awaited_place {
public:
    /// The referenced objects must outlive it.
    awaited_place(Executor const& own, coroutine_home const& home, WaitsOn&& waits_on)
        : home_(home)
        , context_(std::move(waits_on), own, home) {}

    awaited_context<WaitsOn> const& context() const noexcept { return context_; }

    asio::execution_context& context_of_waits(Executor const& own) const { return context_.get(own, home_); }

    /// The scheduler of the waits, if it was looked up.
    bool knows_scheduler(Executor const& own) const {
        return home_ && &context_of_waits(own) == &home_.scheduler().context();
    }
    coroutine_home const& home() const noexcept { return home_; }

    /// The context of the waits is being destroyed.
    void forget() noexcept { context_.forget(); }

    /// Whether this thread runs functions of the executor; false also if it cannot be told.
    bool is_here(Executor const& own) const noexcept {
        return home_ ? home_.context().get_executor().running_in_this_thread() : executor_home(own).is_here();
    }

private:
    coroutine_home const home_;
    ASIO_RETRY_NO_UNIQUE_ADDRESS awaited_context<WaitsOn> context_;
};

} // namespace asio_retry::detail
