#include "matrix.hpp"

namespace asio_retry::test {

ASIO_RETRY_MATRIX(awaitable_operation_in_scope_on_io_context, awaitable_operation, in_scope,
                  executor_kind::io_context);
ASIO_RETRY_MATRIX(awaitable_operation_in_scope_on_strand, awaitable_operation, in_scope, executor_kind::strand);
ASIO_RETRY_MATRIX(awaitable_operation_in_scope_on_any_executor, awaitable_operation, in_scope,
                  executor_kind::any);

} // namespace asio_retry::test
