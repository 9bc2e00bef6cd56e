#include <boost/asio/detail/config.hpp>

#if defined(BOOST_ASIO_SEPARATE_COMPILATION)
#include <boost/asio/impl/src.hpp>
#endif
