// expected: keep the jitter that this returns: no jitter is changed in place
#pragma GCC diagnostic error "-Wunused-result"
#include <asio_retry/jitter.hpp>

asio_retry::jitter changed(asio_retry::jitter shape) {
#ifdef FAULT_REMOVED
    return shape.beyond_cap();
#else
    shape.beyond_cap();
    return shape;
#endif
}
