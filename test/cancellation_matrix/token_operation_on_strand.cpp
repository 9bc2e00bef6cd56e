#include "matrix.hpp"

namespace asio_retry::test {

ASIO_RETRY_MATRIX(token_operation_on_strand, token_operation, on_strand, executor_kind::strand);

} // namespace asio_retry::test
