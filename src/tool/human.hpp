#pragma once

#include <asio_retry/duration.hpp>

#include <string>

namespace asio_retry::tool {

/// To read: at most four digits, in the unit that suits; "for ever" where it saturates.
std::string human(duration d);

/// At most four significant digits.
std::string human(double number);

} // namespace asio_retry::tool
