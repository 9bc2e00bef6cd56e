#include <asio_retry/retry_policy.hpp>

int main() {
    return asio_retry::retry_policy().max_attempts(3).settings().max_attempts == 3 ? 0 : 1;
}
