#pragma once

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace postgres {

/// Of error codes that are SQLSTATEs. Each is equivalent to an error of the system that means the same, so that
/// `asio_retry::classify`, and with it `worth_retrying`, gates and observers, know what it means.
boost::system::error_category const& sqlstate_category() noexcept;

/// "40001" as an error code; "00000" is a success. What is no SQLSTATE becomes XX000, internal error.
boost::system::error_code make_sqlstate(std::string_view state) noexcept;

/// The five characters. Precondition: the code has that category.
std::string state_of(boost::system::error_code const& code);

/// Groups of SQLSTATEs that are retried, each at its own pace.
enum class sql_condition {
    conflict = 1, ///< 40001, 40P01: another transaction was in the way; the connection may be gone, too
    unavailable,  ///< 08xxx, 57P01 to 57P03, 53300: there is no connection to be had, perhaps for long
};

/// As Boost.System finds it, to compare with.
boost::system::error_condition make_error_condition(sql_condition condition) noexcept;

} // namespace postgres

template <>
struct boost::system::is_error_condition_enum<postgres::sql_condition> : std::true_type {};
