#pragma once

#include <asio_retry/error.hpp>

#include <boost/system/errc.hpp>

#include <system_error>
#include <type_traits>

namespace asio_retry::detail {

/// Whether the code of any category says that the operation was cancelled. In some versions the codes of
/// standalone Asio equal no condition of the standard library; nor do those of Windows in the standard
/// library's category. Boost's always do.
inline bool is_abortion(error_code const& code) noexcept {
#ifdef _WIN32
    error_code const known = unwrapped(code);
#else
    error_code const& known = code;
#endif
    return known == boost::system::errc::operation_canceled ||
           (std::is_same_v<error_code, std::error_code> && code == aborted_error());
}

} // namespace asio_retry::detail
