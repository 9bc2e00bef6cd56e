#include <asio_retry/stop_reason.hpp>

#include <ostream>

namespace asio_retry {

std::string_view to_string(stop_reason reason) noexcept {
    switch (reason) {
    case stop_reason::succeeded:
        return "succeeded";
    case stop_reason::not_retryable:
        return "not_retryable";
    case stop_reason::attempts:
        return "attempts";
    case stop_reason::elapsed:
        return "elapsed";
    case stop_reason::deadline:
        return "deadline";
    case stop_reason::budget:
        return "budget";
    case stop_reason::pushback:
        return "pushback";
    case stop_reason::cancelled:
        return "cancelled";
    case stop_reason::refused:
        return "refused";
    }
    return "unknown stop_reason";
}

std::ostream& operator<<(std::ostream& out, stop_reason reason) {
    return out << to_string(reason);
}

} // namespace asio_retry
