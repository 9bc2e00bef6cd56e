// expected at once: with_hooks: it takes an operation and two hooks, and no overloaded function: pass a
// lambda that calls it, as in [] { return open(); }
#include <asio_retry/with_hooks.hpp>

int answer();
int answer(int question);

void start(void (*on_retry)(asio_retry::retry_event const&)) {
#ifdef FAULT_REMOVED
    static_cast<void>(asio_retry::with_hooks([] { return answer(); }, on_retry));
#else
    static_cast<void>(asio_retry::with_hooks(answer, on_retry));
#endif
}
