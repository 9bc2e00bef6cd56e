#include "matrix.hpp"

namespace asio_retry::test {

ASIO_RETRY_MATRIX(awaitable_operation_at_endpoint, at_endpoint<awaitable_operation>, on_io_context,
                  executor_kind::io_context);

} // namespace asio_retry::test
