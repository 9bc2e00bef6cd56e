#include <asio_retry/detail/policy/machine_observer.hpp>

#include <asio_retry/retry_gate.hpp>

namespace asio_retry::detail {

admission machine_observer::admit(std::uint64_t, time_point now) noexcept {
    return now;
}

} // namespace asio_retry::detail
