// expected: on_hedge: the hook must take a std::uint64_t
#include <asio_retry/hedge_policy.hpp>

asio_retry::hedge_policy make(asio_retry::hedge_policy policy) {
#ifdef FAULT_REMOVED
    return policy.on_hedge([](std::uint64_t) {});
#else
    return policy.on_hedge([](asio_retry::retry_event const&) {});
#endif
}
