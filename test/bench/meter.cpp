// Counts every call of the malloc family: Asio allocates with aligned_alloc, which no operator new would tell.
#include "meter.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

#include <malloc.h>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

constinit thread_local std::uint64_t asio_retry::bench::own_allocations = 0;

namespace {

// Each thread counts for itself, so that counting costs next to nothing; whoever ends adds to the total.
constinit thread_local std::int64_t own_live_bytes = 0;
std::atomic<std::uint64_t> allocations_of_ended_threads = 0;
std::atomic<std::int64_t> bytes_of_ended_threads = 0;

void* counted(void* memory) noexcept {
    ++asio_retry::bench::own_allocations;
    if (memory)
        own_live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
    return memory;
}

void forget(void* memory) noexcept {
    if (memory)
        own_live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
}

} // namespace

extern "C" {

void* malloc(std::size_t size) noexcept {
    return counted(__libc_malloc(size));
}
void* calloc(std::size_t count, std::size_t size) noexcept {
    return counted(__libc_calloc(count, size));
}
void* realloc(void* old, std::size_t size) noexcept {
    forget(old);
    return counted(__libc_realloc(old, size));
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
    *result = memalign(alignment, size);
    return *result ? 0 : ENOMEM;
}
void free(void* memory) noexcept {
    forget(memory);
    __libc_free(memory);
}

} // extern "C"

namespace asio_retry::bench {
namespace {

double nanoseconds_of(::clockid_t clock) noexcept {
    std::timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

} // namespace

void add_thread_to_total() noexcept {
    allocations_of_ended_threads += own_allocations;
    bytes_of_ended_threads += own_live_bytes;
    own_allocations = 0;
    own_live_bytes = 0;
}

std::int64_t live_bytes() noexcept {
    return own_live_bytes + bytes_of_ended_threads.load();
}

double thread_cpu_ns() noexcept {
    return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID);
}

usage used_so_far() noexcept {
    return {nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID), own_allocations + allocations_of_ended_threads.load(),
            live_bytes()};
}

void trim_heap() noexcept {
    ::malloc_trim(0);
}

} // namespace asio_retry::bench
