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

/// What a function throws of that type; `otherwise` where it returns.
template <typename Exception = std::exception, typename Function>
std::string complaint_of(Function function, std::string otherwise = "none") {
    try {
        static_cast<void>(function());
    } catch (Exception const& thrown) {
        return thrown.what();
    }
    return otherwise;
}

} // namespace asio_retry::test
