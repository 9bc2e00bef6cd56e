// expected: retry_if: the predicate must take an error_code, a std::exception_ptr or a retry_event const&, or
// as retry_if<E> an E const&, and return bool
#include <asio_retry/retry_policy.hpp>

#include <string>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    auto is_refusal = [](asio_retry::error_code) { return true; };
#else
    auto is_refusal = [](std::string const&) { return true; };
#endif
    return asio_retry::retry_policy().max_attempts(3).retry_if(is_refusal).clamp();
}
