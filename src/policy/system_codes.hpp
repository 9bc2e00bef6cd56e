#pragma once

#include <cerrno>

#ifndef _WIN32
#include <netdb.h>
#endif

/// What Asio's own codes are in the category of the system. Windows has other numbers there than errno, and no
/// header of its own that one may include before Asio does.
namespace asio_retry::detail::system_codes {

#ifdef _WIN32
inline constexpr int timed_out = 10060;       // WSAETIMEDOUT
inline constexpr int no_memory = 14;          // ERROR_OUTOFMEMORY
inline constexpr int no_buffer_space = 10055; // WSAENOBUFS
inline constexpr int aborted = 995;           // ERROR_OPERATION_ABORTED

/// Of looking up a name: WSATRY_AGAIN, and WSAHOST_NOT_FOUND, WSANO_RECOVERY, WSANO_DATA, WSATYPE_NOT_FOUND,
/// WSAESOCKTNOSUPPORT.
constexpr bool is_try_again(int value) noexcept {
    return value == 11002;
}
constexpr bool is_of_no_name(int value) noexcept {
    return value == 11001 || value == 11003 || value == 11004 || value == 10109 || value == 10044;
}
#else
inline constexpr int timed_out = ETIMEDOUT;
inline constexpr int no_memory = ENOMEM;
inline constexpr int no_buffer_space = ENOBUFS;
inline constexpr int aborted = ECANCELED;
#endif

} // namespace asio_retry::detail::system_codes
