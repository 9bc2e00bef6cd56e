// expected: backoff: it must be called, as an lvalue, with a std::uint64_t and return a duration
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    auto shape = [](std::uint64_t failures) { return std::chrono::seconds(failures); };
#else
    auto shape = [](std::uint64_t failures) { return static_cast<double>(failures); };
#endif
    return asio_retry::retry_policy().backoff(shape);
}
