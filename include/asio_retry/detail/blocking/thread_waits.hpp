#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/random.hpp>

#include <chrono>
#include <version>

#ifdef __cpp_lib_jthread
#include <stop_token>
#include <utility>
#endif

namespace asio_retry::detail {

/// Lets other threads run first.
ASIO_RETRY_DECL void yield_thread() noexcept;

/// Waits by blocking the thread. Nothing stops the wait.
class thread_waits {
public:
    time_point now() const noexcept { return std::chrono::steady_clock::now(); }
    ASIO_RETRY_DECL void wait_until(time_point when) const;
    static constexpr bool stopped() noexcept { return false; }
    random next_random() const { return random(entropy_seed()); }
};

#ifdef __cpp_lib_jthread
/// Waits by blocking the thread, until stop is requested.
class stoppable_waits : public thread_waits {
public:
    explicit stoppable_waits(std::stop_token token) noexcept
        : token_(std::move(token)) {}

    ASIO_RETRY_DECL void wait_until(time_point when) const;
    bool stopped() const noexcept { return token_.stop_requested(); }

private:
    std::stop_token token_;
};
#endif

} // namespace asio_retry::detail
