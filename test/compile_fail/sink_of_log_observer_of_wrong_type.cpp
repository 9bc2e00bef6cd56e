// expected: log_observer: the sink must take a log_line const&
#include <asio_retry/observe/log_observer.hpp>

std::shared_ptr<asio_retry::retry_observer> make() {
#ifdef FAULT_REMOVED
    return asio_retry::log_observer([](asio_retry::log_line const&) {});
#else
    return asio_retry::log_observer([](asio_retry::retry_event const&) {});
#endif
}
