#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/policy/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <concepts>

namespace asio_retry::detail {

/// A strand of Asio's, or one of the library's.
template <typename Executor>
concept strand_executor = requires(Executor const& executor) {
    typename Executor::inner_executor_type;
    executor.get_inner_executor();
    executor.running_in_this_thread();
};

/// Tells whether this thread runs an executor, and whether the executor runs one function at a time. Looks into
/// an any_io_executor. The executor must outlive it.
class executor_home {
public:
    template <typename Executor>
    explicit executor_home(Executor const& executor) noexcept {
        look_at(&executor);
    }
    ASIO_RETRY_DECL explicit executor_home(asio::any_io_executor const& executor) noexcept;

    /// False also if it cannot be told.
    bool is_here() const noexcept { return runs_here_ && runs_here_(executor_); }

    bool is_strand() const noexcept { return is_strand_; }

private:
    template <typename... Executors>
    void look_for(asio::any_io_executor const& executor) noexcept {
        (look_at(executor.target<Executors>()) || ...);
    }

    template <typename Executor>
    bool look_at(Executor const* executor) noexcept {
        if constexpr (requires {
                          { executor->running_in_this_thread() } -> std::convertible_to<bool>;
                      }) {
            if (!executor)
                return false;
            executor_ = executor;
            runs_here_ = [](void const* at) noexcept -> bool {
                return static_cast<Executor const*>(at)->running_in_this_thread();
            };
            is_strand_ = strand_executor<Executor>;
        }
        return true;
    }

    void const* executor_ = nullptr;
    bool (*runs_here_)(void const*) noexcept = nullptr;
    bool is_strand_ = false;
};

/// The context of an io_context executor that may run a function at once; null for any other executor, such as
/// a strand.
template <typename Executor>
asio::io_context* own_context(Executor const&) noexcept {
    return nullptr;
}

ASIO_RETRY_DECL asio::io_context* own_context(asio::io_context::executor_type const& executor) noexcept;
ASIO_RETRY_DECL asio::io_context* own_context(asio::any_io_executor const& executor) noexcept;

/// Whether this thread runs the context, and the context is not stopped. Asio would call a function at once also
/// after a stop, and on a copy. False for null.
ASIO_RETRY_DECL bool runs_here(asio::io_context* context) noexcept;

/// Whether a function given to the strand `executor` runs at once on this thread if the strand is free. The
/// context receives its exceptions.
ASIO_RETRY_DECL bool enters_here(asio::any_io_executor const& executor) noexcept;

ASIO_RETRY_DECL bool has_one_thread(asio::io_context& context);

/// Whether the executor runs one function at a time, so that a queued function never meets a coroutine on it.
template <typename Executor>
bool runs_one_at_a_time(Executor const& executor) {
    asio::io_context* const context = own_context(executor);
    return context ? has_one_thread(*context) : executor_home(executor).is_strand();
}

} // namespace asio_retry::detail
