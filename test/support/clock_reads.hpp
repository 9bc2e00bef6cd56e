#pragma once

#include <cstdint>

namespace asio_retry::test {

/// How often this thread has read a clock of the system since the process began.
std::uint64_t clock_reads() noexcept;

} // namespace asio_retry::test
