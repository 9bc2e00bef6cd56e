#include <asio_retry/retry_gate.hpp>

namespace asio_retry {

retry_gate::~retry_gate() = default;

} // namespace asio_retry
