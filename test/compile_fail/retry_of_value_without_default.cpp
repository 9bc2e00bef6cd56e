// expected: async_retry: the values of a completion must be default-constructible, for a completion without
// them
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
