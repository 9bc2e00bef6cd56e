#pragma once

// In a folder of its own: the tests for standalone Asio are those of test/support without Boost.
#include <boost/multiprecision/cpp_int.hpp>

namespace asio_retry::test {

using int128 = boost::multiprecision::int128_t;
using uint128 = boost::multiprecision::uint128_t;

} // namespace asio_retry::test
