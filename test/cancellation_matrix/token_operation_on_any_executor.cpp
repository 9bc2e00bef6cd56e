#include "matrix.hpp"

namespace asio_retry::test {

ASIO_RETRY_MATRIX(token_operation_on_any_executor, token_operation, on_any_executor, executor_kind::any);

} // namespace asio_retry::test
