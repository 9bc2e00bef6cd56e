// expected: asio_retry: the operation must be callable, as an lvalue, with nothing, with an attempt, with a
// completion token, or with an attempt and a completion token
#include <asio_retry/retry.hpp>

#include <functional>

struct client {
    int fetch() { return 1; }
};

int run(client& c) {
#ifdef FAULT_REMOVED
    auto operation = std::bind_front(&client::fetch, &c);
#else
    static_cast<void>(c);
    auto operation = &client::fetch;
#endif
    return asio_retry::retry(operation, asio_retry::retry_policy());
}
