// expected alone: with_hooks: the second argument is called before a retry: it must take a retry_event const&,
// or be nullptr
#include <asio_retry/with_hooks.hpp>

auto make() {
#ifdef FAULT_REMOVED
    auto log = [](asio_retry::retry_event const&) {};
#else
    auto log = [](asio_retry::error_code, asio_retry::duration) {};
#endif
    return asio_retry::with_hooks([] {}, log);
}
