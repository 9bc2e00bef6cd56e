#pragma once

#include <asio_retry/detail/handler/serial_executor.hpp>
#include <asio_retry/detail/policy/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/strand.hpp>

#include <concepts>

namespace asio_retry::detail {

template <typename Executor>
inline constexpr bool is_strand = false;
template <typename Executor>
inline constexpr bool is_strand<boost::asio::strand<Executor>> = true;
template <typename Executor>
inline constexpr bool is_strand<serial_executor<Executor>> = true;

/// Tells whether this thread runs an executor, and whether the executor runs one function at a time. Looks into
/// an any_io_executor. The executor must outlive it.
class executor_home {
public:
    template <typename Executor>
    explicit executor_home(Executor const& executor) noexcept {
        look_at(&executor);
    }
    ASIO_RETRY_DECL explicit executor_home(boost::asio::any_io_executor const& executor) noexcept;

    /// False also if it cannot be told.
    bool is_here() const noexcept { return runs_here_ && runs_here_(executor_); }

    bool is_strand() const noexcept { return is_strand_; }

private:
    template <typename... Executors>
    void look_for(boost::asio::any_io_executor const& executor) noexcept {
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
            is_strand_ = detail::is_strand<Executor>;
        }
        return true;
    }

    void const* executor_ = nullptr;
    bool (*runs_here_)(void const*) noexcept = nullptr;
    bool is_strand_ = false;
};

} // namespace asio_retry::detail
