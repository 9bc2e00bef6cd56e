// expected: on_retry: the hook must take a retry_event const&
#include <asio_retry/retry_policy.hpp>

#include <functional>

struct logger {
    void on_retry(asio_retry::retry_event const&) {}
};

asio_retry::retry_policy make(logger& log) {
#ifdef FAULT_REMOVED
    return asio_retry::retry_policy().on_retry(std::bind_front(&logger::on_retry, &log));
#else
    static_cast<void>(log);
    return asio_retry::retry_policy().on_retry(&logger::on_retry);
#endif
}
