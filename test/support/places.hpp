#pragma once

#include <string>

namespace asio_retry::test {

/// The file `name` of the project. In a function, so that what the compiler is told differs between two
/// checkouts in one small file only.
std::string file_of_project(std::string const& name);

} // namespace asio_retry::test
