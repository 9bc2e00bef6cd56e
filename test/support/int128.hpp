#pragma once

#if defined(__SIZEOF_INT128__)

namespace asio_retry::test {

__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;

} // namespace asio_retry::test

#else // a processor of 32 bits

#include <boost/multiprecision/cpp_int.hpp>

namespace asio_retry::test {

using int128 = boost::multiprecision::int128_t;
using uint128 = boost::multiprecision::uint128_t;

} // namespace asio_retry::test

#endif
