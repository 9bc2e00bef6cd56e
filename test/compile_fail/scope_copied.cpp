// expected at once: retry_scope: a scope is not copied: pass it by reference, as retry_scope&
#include <asio_retry/retry_scope.hpp>

#ifdef FAULT_REMOVED
void start(asio_retry::retry_scope& scope);
#else
void start(asio_retry::retry_scope scope);
#endif

void begin(asio_retry::retry_scope& scope) {
    start(scope);
}
