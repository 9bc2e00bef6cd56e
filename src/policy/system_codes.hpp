#pragma once

#include <cerrno>

#ifndef _WIN32
#include <netdb.h>
#endif

/// The numbers of Asio's own codes in the system's category. On Windows they are not those of errno, and the
/// header of Windows that has them must not be included before Asio.
namespace asio_retry::detail::system_codes {

#ifdef _WIN32
inline constexpr int timed_out = 10060;       // WSAETIMEDOUT
inline constexpr int no_memory = 14;          // ERROR_OUTOFMEMORY
inline constexpr int no_buffer_space = 10055; // WSAENOBUFS
inline constexpr int aborted = 995;           // ERROR_OPERATION_ABORTED

/// A lookup found no address; a later one may: WSAHOST_NOT_FOUND, WSATRY_AGAIN, WSANO_DATA.
constexpr bool is_no_address(int value) noexcept {
    return value == 11001 || value == 11002 || value == 11004;
}

/// A lookup would fail again: WSANO_RECOVERY, WSATYPE_NOT_FOUND, WSAESOCKTNOSUPPORT.
constexpr bool is_hopeless_lookup(int value) noexcept {
    return value == 11003 || value == 10109 || value == 10044;
}
#else
inline constexpr int timed_out = ETIMEDOUT;
inline constexpr int no_memory = ENOMEM;
inline constexpr int no_buffer_space = ENOBUFS;
inline constexpr int aborted = ECANCELED;
#endif

/// The errno of a code of Windows's sockets or system, for categories that do not know it; 0 for other codes.
constexpr int errno_of_windows(int value) noexcept {
    switch (value) {
    case 10061: // WSAECONNREFUSED
    case 1225:  // ERROR_CONNECTION_REFUSED
        return ECONNREFUSED;
    case 10057: // WSAENOTCONN
    case 2250:  // ERROR_NOT_CONNECTED
        return ENOTCONN;
    case 10048: // WSAEADDRINUSE
        return EADDRINUSE;
    case 10049: // WSAEADDRNOTAVAIL
        return EADDRNOTAVAIL;
    case 10024: // WSAEMFILE
    case 4:     // ERROR_TOO_MANY_OPEN_FILES
        return EMFILE;
    case 10055: // WSAENOBUFS
        return ENOBUFS;
    case 10060: // WSAETIMEDOUT
    case 121:   // ERROR_SEM_TIMEOUT
    case 1460:  // ERROR_TIMEOUT
        return ETIMEDOUT;
    case 995:  // ERROR_OPERATION_ABORTED
    case 1223: // ERROR_CANCELLED
        return ECANCELED;
    case 10022: // WSAEINVAL
    case 87:    // ERROR_INVALID_PARAMETER
        return EINVAL;
    case 10040: // WSAEMSGSIZE
        return EMSGSIZE;
    case 10009: // WSAEBADF
    case 6:     // ERROR_INVALID_HANDLE
        return EBADF;
    case 10038: // WSAENOTSOCK
        return ENOTSOCK;
    case 10014: // WSAEFAULT
        return EFAULT;
    case 10045: // WSAEOPNOTSUPP
        return EOPNOTSUPP;
    case 10013: // WSAEACCES
    case 5:     // ERROR_ACCESS_DENIED
        return EACCES;
    case 10047: // WSAEAFNOSUPPORT
        return EAFNOSUPPORT;
    case 10042: // WSAENOPROTOOPT
        return ENOPROTOOPT;
    case 10056: // WSAEISCONN
        return EISCONN;
    case 10037: // WSAEALREADY
        return EALREADY;
    }
    return 0;
}

} // namespace asio_retry::detail::system_codes
