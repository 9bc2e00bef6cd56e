#include "support/lookups.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <dlfcn.h>
#include <netdb.h>
#define WSAAPI
#endif

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

namespace {

using lookup = int WSAAPI(char const*, char const*, addrinfo const*, addrinfo**);

lookup* of_the_system() {
#ifdef _WIN32
    return reinterpret_cast<lookup*>(
        reinterpret_cast<void*>(::GetProcAddress(::GetModuleHandleA("ws2_32.dll"), "getaddrinfo")));
#else
    return reinterpret_cast<lookup*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
#endif
}

int look_up(char const* node, char const* service, addrinfo const* hints, addrinfo** result) {
    static lookup* const ask = of_the_system();
    if (!node || std::string_view(node) != asio_retry::test::wandering_host::name)
        return ask(node, service, hints, result);
    unsigned short const port = asio_retry::test::next_port();
    if (port == 0)
        return EAI_NONAME;
    return ask("127.0.0.1", std::to_string(port).c_str(), hints, result);
}

} // namespace

/// In place of the system's, which it asks.
#ifdef _WIN32
extern "C" lookup* __imp_getaddrinfo;
lookup* __imp_getaddrinfo = look_up; // through which calls go that would go into its library
#else
extern "C" int getaddrinfo(char const* node, char const* service, addrinfo const* hints, addrinfo** result) {
    return look_up(node, service, hints, result);
}
#endif
