#pragma once

#include <atomic>
#include <mutex>

namespace asio_retry::detail {

// There libstdc++'s atomics lose who begins to sleep while another wakes it.
#if defined(_WIN32) && defined(__GLIBCXX__)
using brief_mutex = std::mutex;
#else

/// A mutex for what takes some dozen instructions. Nearly always nobody else has it; then to lock it and to
/// unlock it is a few instructions, where std::mutex takes fifty.
///
/// Whoever finds it taken looks again for longer than it is usually held, and sleeps then. As a std::mutex
/// it may be destroyed as soon as it has been locked by the last one that wants it, and unlocked.
class brief_mutex {
public:
    brief_mutex() noexcept = default;
    brief_mutex(brief_mutex const&) = delete;
    brief_mutex& operator=(brief_mutex const&) = delete;

    void lock() noexcept {
        if (!try_lock())
            lock_contended();
    }

    bool try_lock() noexcept {
        state expected = state::unlocked;
        return state_.compare_exchange_strong(expected, state::locked, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }

    void unlock() noexcept {
        if (state_.exchange(state::unlocked, std::memory_order_release) == state::awaited)
            state_.notify_one(); // which takes the address only: another thread may have it by now
    }

private:
    enum class state : unsigned { unlocked, locked, awaited };

    static constexpr int looks = 1000;

#if defined(__GNUC__)
    [[gnu::noinline, gnu::cold]]
#endif
    void lock_contended() noexcept {
        for (int look = 0; look != looks; ++look) {
            pause();
            if (state_.load(std::memory_order_relaxed) == state::unlocked && try_lock())
                return;
        }
        // Who has slept cannot know whether it was alone.
        while (state_.exchange(state::awaited, std::memory_order_acquire) != state::unlocked)
            state_.wait(state::awaited, std::memory_order_relaxed);
    }

    static void pause() noexcept {
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
        __builtin_ia32_pause();
#endif
    }

    std::atomic<state> state_ = state::unlocked;
};

#endif

} // namespace asio_retry::detail
