#pragma once

#include <boost/json/value.hpp>

#include <ostream>

namespace asio_retry::tool {

/// To read: indented, but what is short and has nothing inside stands on one line; numbers as short as they can
/// be read back. The order of keys is that in which they were put in.
void write_json(std::ostream& out, boost::json::value const& what);

} // namespace asio_retry::tool
