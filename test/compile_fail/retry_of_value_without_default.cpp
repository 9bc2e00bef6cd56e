// expected: asio_retry: result types must be default-constructible: use a std::optional of the type
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
