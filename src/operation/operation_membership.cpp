#include <asio_retry/detail/operation/operation_membership.hpp>

namespace asio_retry::detail {

template class ASIO_RETRY_DEFINE_INSTANTIATION basic_membership<operation_core>;

} // namespace asio_retry::detail
