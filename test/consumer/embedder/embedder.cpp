#include "embedder.hpp"

asio_retry::retry_policy usual_policy() {
    return asio_retry::retry_policy().backoff(asio_retry::constant(std::chrono::milliseconds(1)));
}
