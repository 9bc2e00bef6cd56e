// expected: inject: the operation comes first, and then a std::shared_ptr<fault_plan>: inject(operation,
// faults)
#include <asio_retry/inject.hpp>

#include <memory>

int ask();

void start(std::shared_ptr<asio_retry::fault_plan> faults) {
#ifdef FAULT_REMOVED
    static_cast<void>(asio_retry::inject(ask, faults));
#else
    static_cast<void>(asio_retry::inject(faults, ask));
#endif
}
