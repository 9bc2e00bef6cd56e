// expected: max_attempts_when: the predicate must take an error_code, a std::exception_ptr or a retry_event
// const&, or as max_attempts_when<E> an E const&, and return bool
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().max_attempts_when([](asio_retry::error_code) { return true; }, 2);
#else
    return asio_retry::retry_policy().max_attempts_when([](int) { return true; }, 2);
#endif
}
