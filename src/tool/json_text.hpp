#pragma once

#include <boost/json/value.hpp>

#include <ostream>

namespace asio_retry::tool {

/// Writes JSON for people: indented, but a short value without nesting is on one line. Numbers are as short as
/// they can be read back. Keys keep their order.
void write_json(std::ostream& out, boost::json::value const& what);

} // namespace asio_retry::tool
