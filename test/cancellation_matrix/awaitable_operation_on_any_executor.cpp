#include "matrix.hpp"

namespace asio_retry::test {

ASIO_RETRY_MATRIX(awaitable_operation_on_any_executor, awaitable_operation, on_any_executor,
                  executor_kind::any);

} // namespace asio_retry::test
