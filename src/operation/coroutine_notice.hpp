#pragma once

#include <asio_retry/detail/handler/queued_turn.hpp>

#include <atomic>
#include <memory>

namespace asio_retry::detail {

/// A queued turn for an object `Of` in a coroutine's frame. Its executor runs one function at a time. It calls
/// `on_turn(turn)`, or `on_turn_dropped(turn)` if the executor will not run it.
///
/// The frame may be destroyed while the notice is queued, so the notice has memory of its own. All notices of a
/// `place` in the frame share one block. `Of` deletes the block, unless the notice was abandoned.
template <typename Of, typename Turn>
class coroutine_notice {
public:
    using place = std::atomic<coroutine_notice*>;

    explicit coroutine_notice(Of& of) noexcept
        : of_(of) {}

    /// Queues the notice; any thread, one at a time. The frame may end before this returns. If it throws,
    /// nothing happened.
    template <typename Executor>
    static void post(place& in, Of& of, Executor executor, Turn turn) {
        coroutine_notice* made = in.load(std::memory_order_acquire);
        if (!made) {
            made = new coroutine_notice(of);
            in.store(made, std::memory_order_release);
        }
        made->state_.store(state::queued, std::memory_order_release); // from here on the frame may be destroyed
        try {
            post_turn(executor, executor, *made, turn);
        } catch (...) {
            if (made->leave_queue(state::idle))
                throw;
            delete made;
        }
    }

    /// Cancels the notice. Returns false if it is not queued.
    static bool abandon(place& in) noexcept {
        coroutine_notice* const made = in.load(std::memory_order_acquire);
        if (!made || !made->leave_queue(state::abandoned))
            return false;
        in.store(nullptr, std::memory_order_relaxed); // the notice now destroys itself
        return true;
    }

    // --- its turn

    template <typename>
    using turn_allocator = std::allocator<void>;
    turn_allocator<Turn> get_turn_allocator(Turn) const noexcept { return {}; }
    void on_turn(Turn turn) {
        if (arrives())
            of_.on_turn(turn);
    }
    void on_turn_dropped(Turn turn) noexcept {
        if (arrives())
            of_.on_turn_dropped(turn);
    }

private:
    enum class state { idle, queued, abandoned };

    bool leave_queue(state to) noexcept {
        state from = state::queued;
        return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
    }
    bool arrives() noexcept {
        bool const is_awaited = leave_queue(state::idle);
        if (!is_awaited)
            delete this;
        return is_awaited;
    }

    Of& of_;
    std::atomic<state> state_ = state::idle;
};

} // namespace asio_retry::detail
