#include <asio_retry/detail/operation/operation_membership.hpp>

namespace asio_retry::detail {

template class basic_membership<operation_core>;

} // namespace asio_retry::detail
