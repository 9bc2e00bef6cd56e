// expected at once: with_report: it takes an operation and a retry_report, and no overloaded function: pass
// a lambda that calls it, as in [] { return open(); }
#include <asio_retry/with_report.hpp>

int answer();
int answer(int question);

void start(asio_retry::retry_report& report) {
#ifdef FAULT_REMOVED
    static_cast<void>(asio_retry::with_report([] { return answer(); }, report));
#else
    static_cast<void>(asio_retry::with_report(answer, report));
#endif
}
