#pragma once

#include <cstddef>
#include <new>

namespace asio_retry::detail {

/// Memory for the timer's only wait, so that arming the timer again allocates nothing.
class timer_memory {
public:
    void* allocate(std::size_t size) { return size <= sizeof(bytes_) ? bytes_ : ::operator new(size); }
    void deallocate(void* memory) noexcept {
        if (memory != bytes_)
            ::operator delete(memory);
    }

private:
    alignas(std::max_align_t) std::byte bytes_[160]; // the largest wait has 152, on Windows
};

template <typename T>
class timer_allocator {
public:
    using value_type = T;

    explicit timer_allocator(timer_memory& memory) noexcept
        : memory_(&memory) {}
    template <typename U>
    timer_allocator(timer_allocator<U> const& other) noexcept
        : memory_(other.memory_) {}

    T* allocate(std::size_t count) { return static_cast<T*>(memory_->allocate(count * sizeof(T))); }
    void deallocate(T* memory, std::size_t) noexcept { memory_->deallocate(memory); }

    friend bool operator==(timer_allocator a, timer_allocator b) noexcept { return a.memory_ == b.memory_; }

private:
    template <typename>
    friend class timer_allocator;

    timer_memory* memory_;
};

} // namespace asio_retry::detail
