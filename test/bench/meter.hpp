#pragma once

#include <cstdint>
#include <ctime>

namespace asio_retry::bench {

/// What the whole process has used so far.
struct usage {
    double cpu_ns = 0;             ///< of all threads, in user mode and in the kernel
    std::uint64_t allocations = 0; ///< calls of malloc, calloc, realloc, aligned_alloc and their kin
    std::int64_t live_bytes = 0;   ///< allocated and not freed, as the allocator rounds them
};

usage used_so_far() noexcept;

/// The CPU time of the calling thread, in user mode and in the kernel.
double thread_cpu_ns() noexcept;

std::int64_t live_bytes() noexcept;

/// Those of the calling thread; in reach of the attempts themselves.
extern constinit thread_local std::uint64_t own_allocations;

/// A thread other than the main one calls this before it ends.
void add_thread_to_total() noexcept;

/// Gives what is free back to the system, so that each run begins with the same heap as the one before.
void trim_heap() noexcept;

} // namespace asio_retry::bench
