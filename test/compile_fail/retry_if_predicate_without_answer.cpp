// expected: retry_if: the predicate must take an error_code, a std::exception_ptr or a retry_event const&, or
// as retry_if<E> an E const&, and return bool
#include <asio_retry/retry_policy.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    auto is_refusal = [](std::exception_ptr) { return true; };
#else
    auto is_refusal = [](std::exception_ptr) {};
#endif
    return asio_retry::retry_policy().retry_if(is_refusal);
}
