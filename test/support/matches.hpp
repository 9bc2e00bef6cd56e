#pragma once

#include <string>
#include <vector>

namespace asio_retry::test {

/// The groups of every match, the whole of it first. In a file of its own, since g++ takes a second for regular
/// expressions in each that has some.
std::vector<std::vector<std::string>> all_matches(std::string const& text, std::string const& pattern);

} // namespace asio_retry::test
