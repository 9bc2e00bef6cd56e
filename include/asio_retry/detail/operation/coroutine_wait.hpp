#pragma once

#include <asio_retry/detail/handler/asio.hpp>
#include <asio_retry/detail/handler/kept_frame.hpp>
#include <asio_retry/detail/handler/queued_turn.hpp>
#include <asio_retry/detail/handler/resumption.hpp>
#include <asio_retry/detail/handler/runs_here.hpp>
#include <asio_retry/detail/handler/stack_mark.hpp>
#include <asio_retry/detail/time/wait_node.hpp>
#include <asio_retry/retry_scheduler.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace asio_retry::detail {

/// A wait of a coroutine, inside its frame.
template <typename Retry>
class coroutine_wait final : wait_node {
public:
    /// `retry` gives the executor of the coroutine.
    explicit coroutine_wait(Retry& retry) noexcept
        : retry_(retry) {}

    /// Suspends the coroutine and calls `then`, which arranges its resumption. If `then` throws, the coroutine
    /// resumes with a failure: an exception would lose it.
    template <typename Then>
    auto async_suspend(Then then) {
        return asio::async_initiate<asio::deferred_t const, void()>(
            [this, then](auto given_handler) {
                resume_.hold(std::move(given_handler));
                try {
                    then();
                } catch (...) {
                    failure_ = std::current_exception();
                    on_turn(turn());
                }
            },
            asio::deferred);
    }

    /// Resumes at `expiry`. If this throws, nothing happened.
    void wait_until(retry_scheduler& scheduler, time_point expiry) {
        scheduler_ = &scheduler;
        frame_.take();
        if (!scheduler_->schedule(*this, expiry))
            on_shutdown();
    }

    /// Resumes in a turn of the executor. If this throws, nothing happened.
    void post() { post_turn<turn>(executor(), executor(), *this); }

    /// Resumes in a turn of the executor, or at once if that is a strand that may be entered here. If this
    /// throws, nothing happened.
    void enter() {
        stack_mark const here(this);
        if (enters_here(executor()))
            enter_turn<turn>(executor(), *this);
        else
            post();
    }

    /// Whether the coroutine runs on the stack of `enter`. Then it has to come back in a turn: otherwise many
    /// operations could begin and end without leaving the stack.
    bool stands_where_it_entered() const noexcept { return stack_mark::find(this) != nullptr; }

    void resume_later() {
        try {
            post();
        } catch (...) { // there is no other place to resume
            on_turn(turn());
        }
    }

    void resume() { resume_(); }

    /// Destroys the coroutine.
    void drop() noexcept { resume_.drop(); }

    /// Whether the coroutine has resumed in a turn of the executor since `forget_turn`.
    bool came_back() const noexcept { return came_back_; }
    void forget_turn() noexcept { came_back_ = false; }

    /// Ends the wait now, if there is one.
    void cut_short() {
        if (!scheduler_)
            return;
        if (auto* const context = own_context(executor()); context == &scheduler_->context()) {
            scheduler_->end_early(*this, *context); // this may have destroyed *this
            return;
        }
        if (scheduler_->cancel(*this))
            resume_later();
    }

    /// Ends the wait at `latest`, if it would end later.
    void end_by(time_point latest) noexcept {
        if (scheduler_)
            scheduler_->end_by(*this, latest);
    }

    /// Why it could not wait: no memory, or the executor threw.
    std::exception_ptr const& failure() const noexcept { return failure_; }

    struct turn {};
    template <typename>
    using turn_allocator = std::allocator<void>;
    turn_allocator<turn> get_turn_allocator(turn) const noexcept { return {}; }
    void on_turn(turn) {
        came_back_ = true;
        frame_.give_back();
        resume_();
    }
    void on_turn_dropped(turn) noexcept { resume_.drop(); }

private:
    bool on_expiry() override {
        if (runs_here(executor())) {
            on_turn(turn());
            return true;
        }
        return post_or_end([this] { enter(); },
                           [this] {
                               failure_ = std::current_exception();
                               on_turn(turn());
                           });
    }

    // The handler holds the frame, and the frame holds this object. Dropping the handler destroys both, but in
    // a turn of the executor, so perhaps after the waiting context has gone.
    void on_shutdown() noexcept override {
        scheduler_ = nullptr;
        retry_.forget_waiting_place();
        resume_.drop();
    }

    auto const& executor() const noexcept { return retry_.executor(); }

    Retry& retry_;
    retry_scheduler* scheduler_ = nullptr;
    resumption resume_;
    kept_frame frame_; // for the next attempt
    std::exception_ptr failure_;
    bool came_back_ = false;
};

} // namespace asio_retry::detail
