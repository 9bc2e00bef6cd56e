// expected at once: fail_if: it takes an operation and a predicate, and no overloaded function: pass a
// lambda that calls it, as in [] { return open(); }
#include <asio_retry/fail_if.hpp>

int answer();
int answer(int question);

void start(bool (*is_bad)(int)) {
#ifdef FAULT_REMOVED
    static_cast<void>(asio_retry::fail_if([] { return answer(); }, is_bad));
#else
    static_cast<void>(asio_retry::fail_if(answer, is_bad));
#endif
}
