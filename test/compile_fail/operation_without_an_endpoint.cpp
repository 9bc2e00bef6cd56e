// expected: on_endpoint: the operation must take an Endpoint const&
#include <asio_retry/fail_if.hpp>
#include <asio_retry/on_endpoint.hpp>

#include <memory>

int ask(int endpoint);
bool is_bad(int answer);

void start(std::shared_ptr<asio_retry::endpoint_set<int>> servers) {
#ifdef FAULT_REMOVED
    static_cast<void>(asio_retry::fail_if(asio_retry::on_endpoint(ask, servers), is_bad));
#else
    static_cast<void>(asio_retry::on_endpoint(asio_retry::fail_if(ask, is_bad), servers));
#endif
}
