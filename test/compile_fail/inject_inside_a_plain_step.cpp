// expected: before_retry: inject goes around before_retry if operation and step are plain callables:
// inject(before_retry(operation, step), faults)
#include <asio_retry/before_retry.hpp>
#include <asio_retry/inject.hpp>
#include <asio_retry/retry.hpp>

#include <memory>

int ask();
void renew();

void start(std::shared_ptr<asio_retry::fault_plan> faults) {
#ifdef FAULT_REMOVED
    auto const operation = asio_retry::inject(asio_retry::before_retry(ask, renew), faults);
#else
    auto const operation = asio_retry::before_retry(asio_retry::inject(ask, faults), renew);
#endif
    static_cast<void>(asio_retry::retry(operation, asio_retry::retry_policy()));
}
