// expected: async_retry: what the operation completes with must have a default constructor, for where it fails;
// a std::optional of it has one
#include <asio_retry/retry.hpp>

struct connection {
#ifdef FAULT_REMOVED
    connection() = default;
#endif
    explicit connection(int) {}
};

connection connect() {
    return asio_retry::retry([] { return connection(1); }, asio_retry::retry_policy());
}
