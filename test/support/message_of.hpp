#pragma once

#include <exception>
#include <string>

namespace asio_retry::test {

inline std::string message_of(std::exception_ptr const& thrown) {
    if (!thrown)
        return "no exception";
    try {
        std::rethrow_exception(thrown);
    } catch (std::exception const& caught) {
        return caught.what();
    }
}

} // namespace asio_retry::test
