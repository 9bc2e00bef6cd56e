// expected alone: retry_if, when, max_attempts_when: this is an error and not a predicate; compare with it:
// [](error_code e) { return e == asio::error::try_again; }
#include <asio_retry/retry_policy.hpp>

#include <boost/asio/error.hpp>

asio_retry::retry_policy make() {
#ifdef FAULT_REMOVED
    auto busy = [](asio_retry::error_code e) { return e == boost::asio::error::try_again; };
#else
    auto busy = boost::asio::error::try_again;
#endif
    return asio_retry::retry_policy().max_attempts_when(busy, 2);
}
