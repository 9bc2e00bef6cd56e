#pragma once

#include <asio_retry/detail/handler/queued_turn.hpp>

#include <atomic>
#include <memory>

namespace asio_retry::detail {

/// A turn of `Of`, a part of a coroutine's frame, on an executor that runs one function at a time. It calls
/// `on_turn(turn)`, or `on_turn_dropped(turn)` if the executor will not run it.
///
/// The frame may be destroyed while the notice is queued, so the notice has memory of its own: one block for
/// all notices of a frame.
template <typename Of, typename Turn>
class coroutine_notice {
public:
    coroutine_notice() noexcept = default;
    coroutine_notice(coroutine_notice const&) = delete;
    coroutine_notice& operator=(coroutine_notice const&) = delete;
    ~coroutine_notice() { delete message_.load(std::memory_order_relaxed); }

    /// Queues the notice; any thread, one at a time. The frame may end before this returns. If it throws,
    /// nothing happened.
    template <typename Executor>
    void post(Of& of, Executor executor, Turn turn) {
        message* made = message_.load(std::memory_order_acquire);
        if (!made) {
            made = new message(of);
            message_.store(made, std::memory_order_release);
        }
        made->queue(); // from here on *this may be destroyed
        try {
            post_turn(executor, executor, *made, turn);
        } catch (...) {
            if (made->unqueue())
                throw;
            delete made;
        }
    }

    /// Notifies no more. Returns false unless the notice is queued.
    bool abandon() noexcept {
        message* const made = message_.load(std::memory_order_acquire);
        if (!made || !made->abandon())
            return false;
        message_.store(nullptr, std::memory_order_relaxed); // the message now destroys itself
        return true;
    }

private:
    class message {
    public:
        explicit message(Of& of) noexcept
            : of_(of) {}

        void queue() noexcept { state_.store(state::queued, std::memory_order_release); }

        /// Returns false if it was abandoned.
        bool unqueue() noexcept { return exchange(state::queued, state::idle); }

        /// Returns false unless it is queued.
        bool abandon() noexcept { return exchange(state::queued, state::abandoned); }

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

        bool arrives() noexcept {
            bool const is_awaited = unqueue();
            if (!is_awaited)
                delete this;
            return is_awaited;
        }
        bool exchange(state from, state to) noexcept {
            return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
        }

        Of& of_;
        std::atomic<state> state_ = state::idle;
    };

    std::atomic<message*> message_ = nullptr;
};

} // namespace asio_retry::detail
