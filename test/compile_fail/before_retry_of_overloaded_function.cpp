// expected at once: before_retry: it takes an operation and a step, and no overloaded function: pass a
// lambda that calls it, as in [] { return open(); }
#include <asio_retry/before_retry.hpp>

int answer();
int answer(int question);

void start(void (*step)()) {
#ifdef FAULT_REMOVED
    static_cast<void>(asio_retry::before_retry([] { return answer(); }, step));
#else
    static_cast<void>(asio_retry::before_retry(answer, step));
#endif
}
