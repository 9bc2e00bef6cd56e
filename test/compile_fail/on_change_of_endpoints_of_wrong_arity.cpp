// expected: endpoint_set: on_change takes (Endpoint const&, breaker_state from, breaker_state to, time_point)
#include <asio_retry/traffic/endpoint_set.hpp>

#include <memory>
#include <string>
#include <vector>

auto servers(std::vector<std::string> names) {
    using asio_retry::breaker_state;
    using asio_retry::time_point;
#ifdef FAULT_REMOVED
    auto tell = [](std::string const&, breaker_state, breaker_state, time_point) {};
#else
    auto tell = [](std::string const&, breaker_state, breaker_state) {};
#endif
    return std::make_shared<asio_retry::endpoint_set<std::string>>(names, asio_retry::endpoint_options(), tell);
}
