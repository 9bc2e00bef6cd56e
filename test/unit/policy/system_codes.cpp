#include "policy/system_codes.hpp"

#include <gtest/gtest.h>

#include <map>

namespace asio_retry::detail::system_codes {
namespace {

// The numbers are those of winsock2.h and winerror.h of Microsoft's documentation.
TEST(system_codes, what_standalone_asio_says_on_windows_stands_for_an_errno) {
    std::map<int, int> const known{
        {10061, ECONNREFUSED}, {1225, ECONNREFUSED},   {10057, ENOTCONN}, {2250, ENOTCONN},
        {10048, EADDRINUSE},   {10049, EADDRNOTAVAIL}, {10024, EMFILE},   {4, EMFILE},
        {10055, ENOBUFS},      {10060, ETIMEDOUT},     {121, ETIMEDOUT},  {1460, ETIMEDOUT},
        {995, ECANCELED},      {1223, ECANCELED},      {10022, EINVAL},   {87, EINVAL},
        {10040, EMSGSIZE},     {10009, EBADF},         {6, EBADF},        {10038, ENOTSOCK},
        {10014, EFAULT},       {10045, EOPNOTSUPP},    {10013, EACCES},   {5, EACCES},
        {10047, EAFNOSUPPORT}, {10042, ENOPROTOOPT},   {10056, EISCONN},  {10037, EALREADY},
    };
    for (int value = 0; value != 12'000; ++value) {
        auto const entry = known.find(value);
        EXPECT_EQ(errno_of_windows(value), entry != known.end() ? entry->second : 0) << value;
    }
}

} // namespace
} // namespace asio_retry::detail::system_codes
