// expected at once: on_endpoint: it takes an operation and a shared_ptr<endpoint_set>, and no overloaded
// function: pass a lambda that calls it, as in [] { return open(); }
#include <asio_retry/on_endpoint.hpp>

#include <memory>

int answer();
int answer(int question);

void start(std::shared_ptr<asio_retry::endpoint_set<int>> servers) {
#ifdef FAULT_REMOVED
    static_cast<void>(asio_retry::on_endpoint([](int server) { return answer(server); }, servers));
#else
    static_cast<void>(asio_retry::on_endpoint(answer, servers));
#endif
}
