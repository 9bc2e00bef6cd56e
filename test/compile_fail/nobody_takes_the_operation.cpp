// expected: this starts nothing: give it to async_retry or retry
#pragma GCC diagnostic error "-Wunused-result"
#include <asio_retry/fail_if.hpp>

auto changed(int (*fetch)()) {
#ifdef FAULT_REMOVED
    return asio_retry::fail_if(fetch, [](int) { return true; });
#else
    asio_retry::fail_if(fetch, [](int) { return true; });
    return fetch;
#endif
}
