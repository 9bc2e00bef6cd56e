#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace asio_retry::test {

/// What is called, for `refuses`: of one type, so that the matcher is compiled once.
using calling = std::function<void()>;

/// That a call throws std::invalid_argument, whose message says this.
inline auto refuses(std::string const& message) {
    return testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(message));
}
inline auto refuses(std::string const& field, std::string const& value, std::string const& rule) {
    return testing::ThrowsMessage<std::invalid_argument>(
        testing::AllOf(testing::HasSubstr(field + " = " + value), testing::HasSubstr(rule)));
}

} // namespace asio_retry::test
