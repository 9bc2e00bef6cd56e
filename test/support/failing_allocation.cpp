#include "support/failing_allocation.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>

// The linker sends what the executable calls to the wrappers (-Wl,--wrap).
extern "C" {
void* __real_aligned_alloc(std::size_t alignment, std::size_t size);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size);
void __real_free(void* block);
void __wrap_free(void* block);
}

namespace asio_retry::test {
namespace {

struct plan {
    memory source = memory::global;
    shortage kind = shortage::once;
    std::uint64_t nth = 0;
    std::atomic<bool> armed = false;
    std::atomic<std::uint64_t> count = 0;
};
constinit plan current;

bool is_refused(memory source) noexcept {
    if (!current.armed || source != current.source)
        return false;
    std::uint64_t const index = ++current.count;
    return index == current.nth || (current.kind == shortage::lasting && index > current.nth);
}

/// The blocks of a census. Blocks from elsewhere that are freed meanwhile are none of its business.
class block_list {
public:
    void open() noexcept {
        std::lock_guard const lock(mutex_);
        open_ = true;
        size_ = 0;
    }
    void close() noexcept {
        std::lock_guard const lock(mutex_);
        open_ = false;
    }
    void* add(void* block) noexcept {
        std::lock_guard const lock(mutex_);
        if (!open_ || !block)
            return block;
        if (size_ == blocks_.size())
            std::abort();
        blocks_[size_++] = block;
        return block;
    }
    void remove(void* block) noexcept {
        std::lock_guard const lock(mutex_);
        auto const end = blocks_.begin() + static_cast<std::ptrdiff_t>(size_);
        auto const found = open_ ? std::find(blocks_.begin(), end, block) : end;
        if (found == end)
            return;
        *found = *(end - 1);
        --size_;
    }
    std::size_t size() noexcept {
        std::lock_guard const lock(mutex_);
        return size_;
    }

private:
    std::mutex mutex_;
    bool open_ = false;
    std::size_t size_ = 0;
    std::array<void*, 4096> blocks_{};
};
constinit block_list blocks;

} // namespace

failing_allocation::failing_allocation(memory source, shortage kind, std::uint64_t nth) noexcept {
    current.source = source;
    current.kind = kind;
    current.nth = nth;
    current.count = 0;
    current.armed = true;
}
std::uint64_t failing_allocation::count() const noexcept {
    return current.count;
}
failing_allocation::~failing_allocation() {
    current.armed = false;
}

bool failing_allocation::happened() const noexcept {
    return current.count >= current.nth;
}

failing_allocation::pause::pause() noexcept
    : was_armed_(current.armed.exchange(false)) {}
failing_allocation::pause::~pause() {
    current.armed = was_armed_;
}

block_census::block_census() noexcept {
    blocks.open();
}
block_census::~block_census() {
    blocks.close();
}

std::size_t block_census::live() const noexcept {
    return blocks.size();
}

void* allocate_scarce(std::size_t size) {
    void* const block = is_refused(memory::associated) ? nullptr : std::malloc(size);
    if (!block)
        throw std::bad_alloc();
    return blocks.add(block);
}
void deallocate_scarce(void* block) noexcept {
    std::free(block);
}

} // namespace asio_retry::test

using namespace asio_retry::test;

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t size) {
    return is_refused(memory::global) ? nullptr : blocks.add(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void* block) {
    if (block)
        blocks.remove(block);
    __real_free(block);
}

void* operator new(std::size_t size) {
    void* const block = is_refused(memory::global) ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
    if (!block)
        throw std::bad_alloc();
    return blocks.add(block);
}
// AddressSanitizer brings a form of its own for each form that is missing here.
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    return is_refused(memory::global) ? nullptr : blocks.add(std::malloc(std::max<std::size_t>(size, 1)));
}
void* operator new[](std::size_t size) {
    return operator new(size);
}
void* operator new[](std::size_t size, std::nothrow_t const& nothing) noexcept {
    return operator new(size, nothing);
}
void operator delete(void* block) noexcept {
    std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}
void operator delete[](void* block) noexcept {
    std::free(block);
}
void operator delete[](void* block, std::size_t) noexcept {
    std::free(block);
}
