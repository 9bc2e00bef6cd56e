#pragma once

#include <asio_retry/duration.hpp>

#include "time/context_executor.hpp"
#include "time/pool_executor.hpp"
#include "time/schedulers_of_asio.hpp"
#include "time/timer_memory.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <type_traits>

namespace asio_retry::detail {

/// The one timer of a context, which fires at the earliest of the times that it has been armed for.
///
/// It calls `owner.on_timer()` on a thread that runs the context. That function begins with `on_fired`. Thread
/// safety: the owner's mutex guards everything except `fires_by`.
template <typename Owner>
class wake_up_timer {
public:
    wake_up_timer(boost::asio::execution_context& context, Owner& owner) noexcept
        : context_(context)
        , owner_(owner) {}

    /// Whether it has been armed for this or an earlier time, and has not fired since.
    bool fires_by(time_point time) const noexcept {
        time_point const armed_for = armed_for_;
        return armed_for <= time && armed_for != time_point::max();
    }

    /// Takes the memory of the timer, so that it can be armed later without any. Only the first call may throw.
    void make() {
        if (!timer_)
            timer_.emplace(executor(context_));
    }

    /// Makes the timer fire no later than this, unless it is held back. After `make` it throws only without
    /// memory, and only if the context has no scheduler of Asio.
    void arm(time_point wake_up) {
        make(); // even for a wait that never ends
        wake_up = std::max(wake_up, held_until_);
        if (armed_for_.load() <= wake_up)
            return;
        timer_->expires_at(wake_up); // ends the timer's own wait, if there is one
        if (!waits_) {
            try {
                timer_->async_wait(handler());
            } catch (...) { // no memory for one more timer of the context
                return fire();
            }
            waits_ = true;
        }
        armed_for_ = wake_up;
    }

    /// Queues the handler at once, in the memory of the timer's wait. Rethrows the current exception if the
    /// context has no scheduler of Asio.
    void fire() {
        if (waits_)
            return;
        pool_executor const threads(context_);
        if (!threads.can_queue())
            throw;
        threads.execute(handler());
        waits_ = true;
        armed_for_ = time_point::min();
    }

    void disarm() noexcept {
        if (armed_for_.load() == time_point::max())
            return;
        armed_for_ = time_point::max();
        if (timer_)
            timer_->cancel();
    }

    /// The timer's wait is over: it has expired, or the timer was armed again or disarmed.
    void on_fired() noexcept {
        waits_ = false;
        armed_for_ = time_point::max();
    }

    /// Makes the timer fire no earlier than this, because there is no memory for its work.
    void hold_until(time_point earliest) noexcept { held_until_ = earliest; }
    bool is_held(time_point now) const noexcept { return now < held_until_; }

    /// The context is being destroyed.
    void destroy() noexcept {
        armed_for_ = time_point::max();
        timer_.reset();
    }

private:
    // If a thread_pool has the scheduler of an io_context, that scheduler also runs the timers of the pool.
    using executor = std::conditional_t<std::is_same_v<scheduler_of_pool, scheduler_of_io_context>,
                                        context_executor, pool_executor>;
    using timer =
        boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                          boost::asio::wait_traits<std::chrono::steady_clock>, executor>;

    /// The handler has an allocator of its own, because Asio's hooks differ between a program that defines
    /// BOOST_ASIO_NO_DEPRECATED and a library that was built without it.
    auto handler() noexcept {
        return boost::asio::bind_allocator(timer_allocator<void>(memory_),
                                           [this](auto...) { owner_.on_timer(); });
    }

    boost::asio::execution_context& context_;
    Owner& owner_;
    timer_memory memory_;
    std::optional<timer> timer_;
    bool waits_ = false; // one wait at a time, even if it is over and its handler is only queued
    std::atomic<time_point> armed_for_ = time_point::max();
    time_point held_until_ = time_point::min();
};

} // namespace asio_retry::detail
