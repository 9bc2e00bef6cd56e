// expected at once: retry: this function is overloaded: pass a lambda that calls it, as in
// [] { return open(); }
#include <asio_retry/retry.hpp>

int answer();
int answer(int question);

int ask() {
#ifdef FAULT_REMOVED
    return asio_retry::retry([] { return answer(); }, asio_retry::retry_policy());
#else
    return asio_retry::retry(answer, asio_retry::retry_policy());
#endif
}
