#include <asio_retry/interruption.hpp>

#include "policy/enumerator_name.hpp"

#include <ostream>

namespace asio_retry {

std::string_view to_string(interruption what) noexcept {
    static constexpr std::string_view names[] = {"none", "attempt_timeout", "deadline", "cancellation",
                                                 "beaten"};
    return detail::enumerator_name<interruption::beaten>(names, what, "unknown interruption");
}

std::ostream& operator<<(std::ostream& out, interruption what) {
    return out << to_string(what);
}

} // namespace asio_retry
