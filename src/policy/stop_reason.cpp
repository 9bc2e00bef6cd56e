#include <asio_retry/stop_reason.hpp>

#include "policy/enumerator_name.hpp"

#include <ostream>

namespace asio_retry {

std::string_view to_string(stop_reason reason) noexcept {
    static constexpr std::string_view names[] = {"succeeded", "not_retryable", "attempts",
                                                 "elapsed",   "deadline",      "budget",
                                                 "pushback",  "cancelled",     "refused"};
    return detail::enumerator_name<stop_reason::refused>(names, reason, "unknown stop_reason");
}

std::ostream& operator<<(std::ostream& out, stop_reason reason) {
    return out << to_string(reason);
}

} // namespace asio_retry
