#include "matrix.hpp"

namespace asio_retry::test {

ASIO_RETRY_MATRIX(token_operation_in_scope_on_io_context, token_operation, in_scope, executor_kind::io_context);
ASIO_RETRY_MATRIX(token_operation_in_scope_on_strand, token_operation, in_scope, executor_kind::strand);
ASIO_RETRY_MATRIX(token_operation_in_scope_on_any_executor, token_operation, in_scope, executor_kind::any);

} // namespace asio_retry::test
