#include "matrix.hpp"

namespace asio_retry::test {

ASIO_RETRY_MATRIX(awaitable_operation_on_strand, awaitable_operation, on_strand, executor_kind::strand);

} // namespace asio_retry::test
