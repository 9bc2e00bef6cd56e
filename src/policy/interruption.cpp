#include <asio_retry/interruption.hpp>

namespace asio_retry {

std::string_view to_string(interruption what) noexcept {
    switch (what) {
    case interruption::none:
        return "none";
    case interruption::attempt_timeout:
        return "attempt_timeout";
    case interruption::deadline:
        return "deadline";
    case interruption::cancellation:
        return "cancellation";
    }
    return "unknown interruption";
}

} // namespace asio_retry
