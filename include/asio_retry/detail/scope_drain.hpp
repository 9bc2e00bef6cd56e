#pragma once

#include <asio_retry/detail/scope_join.hpp>
#include <asio_retry/detail/wait_node.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace asio_retry::detail {

/// Cancels a scope when the time for its drain is up.
class ASIO_RETRY_DECL drain_timeout final : wait_node {
public:
    explicit drain_timeout(std::shared_ptr<scope_state> scope);

    static std::shared_ptr<drain_timeout> start(std::shared_ptr<scope_state> scope, duration timeout);

    /// It is needed no more. Returns how many operations it had to cancel.
    std::size_t end() noexcept;

private:
    bool on_expiry() override;
    void on_shutdown() noexcept override;

    std::shared_ptr<scope_state> scope_;
    retry_scheduler& scheduler_;
    std::shared_ptr<drain_timeout> self_; // while it is scheduled
    std::atomic<std::size_t> cancelled_ = 0;
};

/// The drain ends with its handler, called or not.
class drain_end {
public:
    explicit drain_end(std::shared_ptr<drain_timeout> timeout) noexcept
        : timeout_(std::move(timeout)) {}
    drain_end(drain_end&&) noexcept = default;
    drain_end& operator=(drain_end&&) = delete;
    ~drain_end() { (*this)(); }

    std::size_t operator()() noexcept {
        auto const timeout = std::exchange(timeout_, nullptr);
        return timeout ? timeout->end() : 0;
    }

private:
    std::shared_ptr<drain_timeout> timeout_;
};

template <typename Handler>
struct drain_handler : scope_handler<Handler> {
    drain_end end;

    void operator()(boost::system::error_code result) {
        std::size_t const cancelled = end();
        this->scope.reset();
        std::move(this->handler)(result, cancelled);
    }
};

/// Calls `handler(error_code, std::size_t)` when the operations have ended, at the latest after `timeout`
/// because they were cancelled, and with the number of those that were.
template <typename Handler>
void async_drain(std::shared_ptr<scope_state> const& scope, duration timeout, Handler handler) {
    scope->request(scope_request::drain);
    drain_end end(drain_timeout::start(scope, timeout));
    scope->async_join(drain_handler<Handler>{{scope, std::move(handler)}, std::move(end)});
}

} // namespace asio_retry::detail
