#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>

namespace asio_retry::test {

/// What handlers allocate.
struct memory_of_handlers {
    std::atomic<std::size_t> made = 0;   ///< blocks, those that have been given back too
    std::atomic<std::size_t> blocks = 0; ///< that live
    std::atomic<std::size_t> bytes = 0;  ///< of these
    std::atomic<std::size_t> most = 0;   ///< blocks at once; not where several threads allocate
};

template <typename T>
class counting_allocator {
public:
    using value_type = T;

    explicit counting_allocator(memory_of_handlers& memory) noexcept
        : memory_(&memory) {}
    template <typename U>
    counting_allocator(counting_allocator<U> const& other) noexcept
        : memory_(other.memory_) {}

    T* allocate(std::size_t count) {
        T* const result = std::allocator<T>().allocate(count);
        ++memory_->made;
        memory_->most = std::max(memory_->most.load(), ++memory_->blocks);
        memory_->bytes += count * sizeof(T);
        return result;
    }
    void deallocate(T* block, std::size_t count) noexcept {
        std::allocator<T>().deallocate(block, count);
        --memory_->blocks;
        memory_->bytes -= count * sizeof(T);
    }

    friend bool operator==(counting_allocator a, counting_allocator b) noexcept {
        return a.memory_ == b.memory_;
    }

private:
    template <typename>
    friend class counting_allocator;

    memory_of_handlers* memory_;
};

} // namespace asio_retry::test
