#pragma once

#include <asio_retry/random.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace asio_retry::detail {

/// Makes independent streams of random numbers, from entropy or from a seed. Thread safety: call `next` from
/// any thread.
class random_streams {
public:
    /// `seeded` counts the objects with a seed.
    explicit random_streams(std::atomic<std::size_t>& seeded)
        : seeded_(seeded)
        , state_{entropy_seed(), 0, false} {}
    random_streams(random_streams const&) = delete;
    random_streams& operator=(random_streams const&) = delete;
    ~random_streams() { count(false); }

    random next() noexcept { return random(state_.seed, next_.fetch_add(1, std::memory_order_relaxed)); }

    void reseed(std::uint64_t value) noexcept { restore({value, 0, true}); }

    /// Gives the child process other streams.
    void on_fork() {
        if (!state_.is_seeded)
            state_.seed = entropy_seed();
    }

    struct state {
        std::uint64_t seed = 0;
        std::uint64_t next = 0;
        bool is_seeded = false;
    };
    state save() const noexcept {
        return {state_.seed, next_.load(std::memory_order_relaxed), state_.is_seeded};
    }
    void restore(state const& saved) noexcept {
        count(saved.is_seeded);
        state_ = saved;
        next_.store(saved.next, std::memory_order_relaxed);
    }

private:
    void count(bool is_seeded) noexcept {
        if (std::exchange(state_.is_seeded, is_seeded) == is_seeded)
            return;
        if (is_seeded)
            seeded_.fetch_add(1, std::memory_order_relaxed);
        else
            seeded_.fetch_sub(1, std::memory_order_relaxed);
    }

    std::atomic<std::size_t>& seeded_;
    state state_;
    std::atomic<std::uint64_t> next_ = 0;
};

} // namespace asio_retry::detail
