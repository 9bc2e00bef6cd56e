#include <asio_retry/retry_observer.hpp>

namespace asio_retry {

retry_observer::~retry_observer() = default;

} // namespace asio_retry
