#include <asio_retry/detail/operation/await_driver.hpp>

#if !defined(ASIO_RETRY_SPAWN_ATTEMPTS)

namespace asio_retry::detail {

template class ASIO_RETRY_DEFINE_INSTANTIATION await_driver<asio::any_io_executor, own_executor>;
template class ASIO_RETRY_DEFINE_INSTANTIATION await_driver<asio::any_io_executor, asio::any_io_executor>;
template class ASIO_RETRY_DEFINE_INSTANTIATION await_driver<asio::any_io_executor, scope_handle>;

} // namespace asio_retry::detail

#endif
