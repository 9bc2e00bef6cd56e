#pragma once

#if defined(__SIZEOF_INT128__)

namespace asio_retry::test {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

} // namespace asio_retry::test

#else // a processor of 32 bits

#include "support/multiprecision/int128.hpp"

#endif
