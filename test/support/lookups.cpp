#include "support/lookups.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <netdb.h>

namespace asio_retry::test {
namespace {

struct whereabouts {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<unsigned short> ports;
    std::size_t lookups = 0;
    bool held = false;
};

whereabouts& host() {
    static whereabouts instance;
    return instance;
}

void set_held(bool held) {
    std::lock_guard const lock(host().mutex);
    host().held = held;
    host().changed.notify_all();
}

unsigned short next_port() {
    std::unique_lock lock(host().mutex);
    std::size_t const index = host().lookups++;
    unsigned short const port =
        host().ports.empty() ? 0 : host().ports[std::min(index, host().ports.size() - 1)];
    host().changed.notify_all();
    host().changed.wait(lock, [] { return !host().held; });
    return port;
}

} // namespace

wandering_host::wandering_host(std::initializer_list<unsigned short> ports) {
    std::lock_guard const lock(host().mutex);
    host().ports = ports;
    host().lookups = 0;
}

wandering_host::~wandering_host() {
    release();
}

void wandering_host::hold() {
    set_held(true);
}

void wandering_host::release() {
    set_held(false);
}

void wandering_host::await_lookups(std::size_t count) const {
    std::unique_lock lock(host().mutex);
    host().changed.wait(lock, [count] { return host().lookups >= count; });
}

std::size_t wandering_host::lookups() const {
    std::lock_guard const lock(host().mutex);
    return host().lookups;
}

} // namespace asio_retry::test

/// In place of the system's, which it asks.
extern "C" int getaddrinfo(char const* node, char const* service, addrinfo const* hints, addrinfo** result) {
    using function = int(char const*, char const*, addrinfo const*, addrinfo**);
    static auto* const of_the_system = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    if (!node || std::string_view(node) != asio_retry::test::wandering_host::name)
        return of_the_system(node, service, hints, result);
    unsigned short const port = asio_retry::test::next_port();
    if (port == 0)
        return EAI_NONAME;
    return of_the_system("127.0.0.1", std::to_string(port).c_str(), hints, result);
}
