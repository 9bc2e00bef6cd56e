#pragma once

#include <asio_retry/detail/asio.hpp>
#include <asio_retry/detail/queued_turn.hpp>
#include <asio_retry/detail/resumption.hpp>
#include <asio_retry/detail/runs_here.hpp>
#include <asio_retry/detail/wait_node.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace asio_retry::detail {

/// A wait of a coroutine, inside its frame.
template <typename Executor>
class coroutine_wait final : wait_node {
public:
    /// The coroutine runs on `executor`.
    explicit coroutine_wait(Executor const& executor) noexcept
        : executor_(executor) {}

    /// Waits until `expiry`, or only lets other handlers run if there is none. It is cut short when the
    /// coroutine is cancelled. The coroutine goes on, with a failure, if it cannot be suspended: an exception
    /// would lose it.
    auto async_wait(retry_scheduler& scheduler, std::optional<time_point> expiry) {
        was_cut_short_ = false;
        scheduler_ = &scheduler;
        return asio::async_initiate<asio::deferred_t const, void()>(
            [this, expiry](auto handler) {
                auto slot = asio::get_associated_cancellation_slot(handler);
                resume_.hold(std::move(handler));
                try {
                    if (!expiry)
                        return post();
                    if (slot.is_connected())
                        slot.template emplace<slot_handler>(slot_handler{this});
                    if (!scheduler_->schedule(*this, *expiry))
                        on_shutdown();
                } catch (...) {
                    failure_ = std::current_exception();
                    on_turn(turn());
                }
            },
            asio::deferred);
    }

    bool was_cut_short() const noexcept { return was_cut_short_; }

    /// Why it was not possible to wait: for want of memory, or because the executor threw.
    std::exception_ptr const& failure() const noexcept { return failure_; }

    struct turn {};
    template <typename>
    using turn_allocator = std::allocator<void>;
    turn_allocator<turn> get_turn_allocator(turn) const noexcept { return {}; }
    void on_turn(turn) { resume_(); }
    void on_turn_dropped(turn) noexcept { on_shutdown(); }

private:
    struct slot_handler {
        coroutine_wait* self;
        void operator()(asio::cancellation_type_t) const {
            if (auto* const context = own_context(self->executor_); context == &self->scheduler_->context()) {
                self->scheduler_->end_early(*self, *context); // which may have been the end of *self
                return;
            }
            if (!self->scheduler_->cancel(*self))
                return;
            self->was_cut_short_ = true;
            try {
                self->post();
            } catch (...) {
                self->on_turn(turn());
            }
        }
    };

    void post() { post_turn<turn>(executor_, executor_, *this); }

    bool on_expiry() override {
        was_cut_short_ = was_ended_early();
        if (runs_here(executor_)) {
            on_turn(turn());
            return true;
        }
        try {
            post();
        } catch (std::bad_alloc const&) {
            return false;
        } catch (...) {
            failure_ = std::current_exception();
            on_turn(turn());
        }
        return true;
    }

    // The frame is destroyed with the handler that holds it, and this object with the frame.
    void on_shutdown() noexcept override { resume_.drop(); }

    Executor const& executor_;
    retry_scheduler* scheduler_ = nullptr;
    resumption resume_;
    std::exception_ptr failure_;
    bool was_cut_short_ = false;
};

} // namespace asio_retry::detail
