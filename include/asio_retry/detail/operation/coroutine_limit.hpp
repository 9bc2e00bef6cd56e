#pragma once

#include <asio_retry/detail/operation/coroutine_notice.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <thread>

namespace asio_retry::detail {

/// The time limit of an attempt that a coroutine awaits, inside its frame. When it is reached, it calls `Retry`
/// on its executor: `on_limit()`, or `on_limit_dropped()` if the executor takes no function.
template <typename Retry>
class coroutine_limit final : wait_node {
public:
    explicit coroutine_limit(Retry& retry) noexcept
        : retry_(retry) {}

    ~coroutine_limit() {
        while (armed_in_ && !armed_in_->cancel(*this)) {
            if (notice_.abandon())
                return;
            std::this_thread::yield(); // another thread is about to queue the notice, or fails to
        }
    }

    using wait_node::expiry;

    /// Returns false if the context is being destroyed.
    bool arm(retry_scheduler& scheduler, time_point when) {
        armed_in_ = scheduler.schedule(*this, when) ? &scheduler : nullptr;
        return armed_in_ != nullptr;
    }

    /// Returns false while a notice is under way.
    bool disarm() noexcept {
        if (armed_in_ && armed_in_->cancel(*this))
            armed_in_ = nullptr;
        return !armed_in_;
    }

private:
    friend coroutine_notice<coroutine_limit>;
    void on_notice() {
        armed_in_ = nullptr;
        retry_.on_limit();
    }
    void on_notice_lost() noexcept {
        armed_in_ = nullptr;
        retry_.on_limit_dropped();
    }

    bool on_expiry() override {
        return post_or_end([this] { notice_.post(*this, retry_.executor()); }, [this] { on_notice(); });
    }
    void on_shutdown() noexcept override { on_notice_lost(); }

    Retry& retry_;
    retry_scheduler* armed_in_ = nullptr;
    coroutine_notice<coroutine_limit> notice_;
};

} // namespace asio_retry::detail
