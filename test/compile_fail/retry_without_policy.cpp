// expected: retry: the policy is missing: retry(operation, policy)
#include <asio_retry/retry.hpp>

int fetch();

int run() {
#ifdef FAULT_REMOVED
    return asio_retry::retry(fetch, asio_retry::retry_policy());
#else
    return asio_retry::retry(fetch);
#endif
}
