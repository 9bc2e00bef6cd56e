#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <atomic>
#include <memory>
#include <new>
#include <thread>

namespace asio_retry::detail {

/// The time limit of an attempt that a coroutine awaits, inside its frame. It tells `Retry` on its executor, in
/// `on_limit()`, where one function runs at a time, or in `on_limit_dropped()` that it cannot.
///
/// The frame is the attempt's: it may be destroyed while the notice is queued, which therefore refers to it
/// only by way of memory of its own.
template <typename Retry>
class coroutine_limit final : wait_node {
public:
    explicit coroutine_limit(Retry& retry) noexcept
        : retry_(retry) {}

    ~coroutine_limit() {
        while (armed_in_ && !armed_in_->cancel(*this)) {
            if (notice* const queued = queued_.load(std::memory_order_acquire)) {
                queued->of = nullptr;
                return;
            }
            std::this_thread::yield(); // another thread is about to queue it
        }
    }

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
    struct notice {
        coroutine_limit* of;

        struct turn {};
        template <typename>
        using turn_allocator = std::allocator<void>;
        turn_allocator<turn> get_turn_allocator(turn) const noexcept { return {}; }
        void on_turn(turn) {
            if (coroutine_limit* const limit = arrive())
                limit->retry_.on_limit();
        }
        void on_turn_dropped(turn) noexcept {
            if (coroutine_limit* const limit = arrive())
                limit->retry_.on_limit_dropped();
        }

        coroutine_limit* arrive() noexcept {
            std::unique_ptr<notice> const self(this);
            if (of)
                of->end();
            return of;
        }
    };

    void end() noexcept {
        queued_.store(nullptr, std::memory_order_relaxed);
        armed_in_ = nullptr;
    }

    bool on_expiry() override {
        auto* const made = new (std::nothrow) notice{this};
        if (!made)
            return false;
        queued_.store(made, std::memory_order_release);
        auto const& executor = retry_.executor();
        auto const post = [&] {
            try {
                post_turn<typename notice::turn>(executor, executor, *made);
            } catch (...) {
                queued_.store(nullptr, std::memory_order_release);
                delete made;
                throw;
            }
        };
        return post_or_end(post, [this] {
            end();
            retry_.on_limit();
        });
    }

    void on_shutdown() noexcept override { armed_in_ = nullptr; }

    Retry& retry_;
    retry_scheduler* armed_in_ = nullptr;
    std::atomic<notice*> queued_ = nullptr;
};

} // namespace asio_retry::detail
