// expected: when: the predicate must take an error_code, a std::exception_ptr or a retry_event const&, or as
// when<E> an E const&, and return bool
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().when([](asio_retry::error_code) { return true; },
                                           asio_retry::constant(std::chrono::seconds(1)));
#else
    return asio_retry::retry_policy().when([](int) { return true; },
                                           asio_retry::constant(std::chrono::seconds(1)));
#endif
}
