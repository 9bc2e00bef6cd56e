#pragma once

#include <asio_retry/duration.hpp>

#include <string>

namespace asio_retry::tool {

/// For people: at most four digits, in a fitting unit; "for ever" if it saturates.
std::string human(duration d);

/// For people: at most four significant digits.
std::string human(double number);

} // namespace asio_retry::tool
