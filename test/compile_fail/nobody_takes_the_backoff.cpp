// expected: keep the backoff that this returns: no backoff is changed in place
#pragma GCC diagnostic error "-Wunused-result"
#include <asio_retry/backoff.hpp>

asio_retry::backoff changed(asio_retry::backoff shape) {
#ifdef FAULT_REMOVED
    return shape.cap(std::chrono::seconds(20));
#else
    shape.cap(std::chrono::seconds(20));
    return shape;
#endif
}
