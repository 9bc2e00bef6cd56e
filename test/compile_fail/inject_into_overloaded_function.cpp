// expected at once: inject: this function is overloaded: pass a lambda that calls it, as in [] { return
// open(); }
#include <asio_retry/inject.hpp>

#include <memory>

int answer();
int answer(int question);

void start(std::shared_ptr<asio_retry::fault_plan> faults) {
#ifdef FAULT_REMOVED
    static_cast<void>(asio_retry::inject([] { return answer(); }, faults));
#else
    static_cast<void>(asio_retry::inject(answer, faults));
#endif
}
