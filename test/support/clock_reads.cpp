#include "support/clock_reads.hpp"

#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>

namespace asio_retry::test {
namespace {

thread_local std::uint64_t reads = 0;

} // namespace

std::uint64_t clock_reads() noexcept {
    return reads;
}

/// In place of the C library's, which std::chrono asks.
extern "C" int clock_gettime(clockid_t which, timespec* now) noexcept {
    ++reads;
    return static_cast<int>(::syscall(SYS_clock_gettime, which, now));
}

} // namespace asio_retry::test
