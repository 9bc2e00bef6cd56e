#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace asio_retry::test {

/// What an allocation is asked of: the process (`operator new`, and `aligned_alloc`, which is where Asio gets
/// its memory), or a `scarce_allocator`.
enum class memory { global, associated };

/// Whether the memory fails one allocation, or that one and all that follow.
enum class shortage { once, lasting };

/// While it lives, the n-th allocation fails, counted from its construction and from 1. One at a time; on all
/// threads.
class failing_allocation {
public:
    failing_allocation(memory source, shortage kind, std::uint64_t nth) noexcept;
    ~failing_allocation();
    failing_allocation(failing_allocation const&) = delete;
    failing_allocation& operator=(failing_allocation const&) = delete;

    /// Whether any allocation has failed.
    bool happened() const noexcept;

    /// How many there have been.
    std::uint64_t count() const noexcept;

    /// Allocations neither fail nor count while it lives.
    class pause {
    public:
        pause() noexcept;
        ~pause();
        pause(pause const&) = delete;
        pause& operator=(pause const&) = delete;

    private:
        bool was_armed_;
    };
};

/// Counts the blocks that were allocated during its life and not freed. One at a time.
class block_census {
public:
    block_census() noexcept;
    ~block_census();
    block_census(block_census const&) = delete;
    block_census& operator=(block_census const&) = delete;

    std::size_t live() const noexcept;
};

void* allocate_scarce(std::size_t size);
void deallocate_scarce(void* block) noexcept;

/// An allocator that runs out when `memory::associated` does.
template <typename T>
struct scarce_allocator {
    using value_type = T;

    scarce_allocator() noexcept = default;
    template <typename U>
    scarce_allocator(scarce_allocator<U> const&) noexcept {}

    T* allocate(std::size_t count) {
        static_assert(alignof(T) <= alignof(std::max_align_t));
        return static_cast<T*>(allocate_scarce(count * sizeof(T)));
    }
    void deallocate(T* block, std::size_t) noexcept { deallocate_scarce(block); }

    template <typename U>
    friend bool operator==(scarce_allocator, scarce_allocator<U>) noexcept {
        return true;
    }
    template <typename U>
    friend bool operator!=(scarce_allocator, scarce_allocator<U>) noexcept {
        return false;
    }
};

} // namespace asio_retry::test
