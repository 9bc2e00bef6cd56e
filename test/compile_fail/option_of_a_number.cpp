// expected alone: a number alone is not a duration: give it a unit, as in 5s or 500ms
#include <asio_retry/traffic/circuit_breaker.hpp>

asio_retry::circuit_breaker_options make() {
#ifdef FAULT_REMOVED
    return {.open_for = std::chrono::seconds(5)};
#else
    return {.open_for = 5};
#endif
}
