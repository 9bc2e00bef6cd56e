#include "matrix.hpp"

namespace asio_retry::test {

ASIO_RETRY_MATRIX(disposition_operation_on_io_context, disposition_operation, on_io_context,
                  executor_kind::io_context);

} // namespace asio_retry::test
