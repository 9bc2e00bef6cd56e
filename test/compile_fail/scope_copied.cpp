// shown: // a scope is not copied: pass retry_scope&
// expected alone: asio_retry::retry_scope
#include <asio_retry/retry_scope.hpp>

#ifdef FAULT_REMOVED
void start(asio_retry::retry_scope& scope);
#else
void start(asio_retry::retry_scope scope);
#endif

void begin(asio_retry::retry_scope& scope) {
    start(scope);
}
