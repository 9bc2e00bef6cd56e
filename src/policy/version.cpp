#include <asio_retry/detail/policy/config.hpp>

namespace asio_retry::detail {

unsigned char const ASIO_RETRY_WITH_BOOST(library_is_version_0_4) = 1;

} // namespace asio_retry::detail
