// expected alone: retry_if: the predicate must take an error_code, a std::exception_ptr or a retry_event
// const&, or as retry_if<E> an E const&, and return bool
#include <asio_retry/retry_policy.hpp>

struct busy {};

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    auto always = [](busy const&) { return true; };
#else
    auto always = [](asio_retry::error_code) { return true; };
#endif
    return asio_retry::retry_policy().retry_if<busy>(always);
}
