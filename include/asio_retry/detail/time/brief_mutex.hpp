#pragma once

#include <atomic>
#include <mutex>

namespace asio_retry::detail {

// On Windows libstdc++'s atomics lose a thread that begins to sleep while another one wakes it.
#if defined(_WIN32) && defined(__GLIBCXX__)
using brief_mutex = std::mutex;
#else

/// A mutex for a few dozen instructions, which nearly always is free. Then lock and unlock take a few
/// instructions, and those of std::mutex fifty: with std::mutex a cancelled wait takes 9 % more instructions, a
/// first attempt in a scope 7 %, and each strand 36 bytes. Storms take the same time on one thread and on two.
///
/// A thread that finds it taken spins for longer than it is usually held, and then waits in the kernel.
/// Like a std::mutex it may be destroyed as soon as the last thread that wants it has locked and unlocked it.
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
            state_.notify_one(); // only the address is used: another thread may have destroyed it
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
        // A thread that has waited cannot know whether others still wait.
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
