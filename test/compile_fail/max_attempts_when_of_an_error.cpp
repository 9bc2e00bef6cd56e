// expected alone: retry_if, when, max_attempts_when: this is an error and not a predicate; compare with it:
// [](error_code e) { return e == asio::error::try_again; }
#include <asio_retry/retry_policy.hpp>

#include <boost/asio/error.hpp>

asio_retry::retry_policy make() {
    asio_retry::retry_policy const policy;
#ifdef FAULT_REMOVED
    return policy.max_attempts_when([](asio_retry::error_code e) { return e == boost::asio::error::try_again; },
                                    2);
#else
    return policy.max_attempts_when(boost::asio::error::try_again, 2);
#endif
}
