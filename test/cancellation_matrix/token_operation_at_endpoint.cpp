#include "matrix.hpp"

namespace asio_retry::test {

ASIO_RETRY_MATRIX(token_operation_at_endpoint, at_endpoint<token_operation>, on_io_context,
                  executor_kind::io_context);

} // namespace asio_retry::test
