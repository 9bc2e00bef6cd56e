#include "support/lookups.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
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
    std::vector<std::string> addresses;
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

/// Where a lookup finds the host: at a port, which is 0 if it does not.
struct place {
    unsigned short port;
    std::vector<std::string> addresses;
};

place next_place() {
    std::unique_lock lock(host().mutex);
    std::size_t const index = host().lookups++;
    unsigned short const port =
        host().ports.empty() ? 0 : host().ports[std::min(index, host().ports.size() - 1)];
    host().changed.notify_all();
    host().changed.wait(lock, [] { return !host().held; });
    return {port, host().addresses};
}

} // namespace

wandering_host::wandering_host(std::initializer_list<unsigned short> ports) {
    std::lock_guard const lock(host().mutex);
    host().ports = ports;
    host().addresses = {"127.0.0.1"};
    host().lookups = 0;
}

void wandering_host::move_to(std::vector<std::string> addresses) {
    std::lock_guard const lock(host().mutex);
    host().addresses = std::move(addresses);
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
    auto const [port, addresses] = asio_retry::test::next_place();
    if (port == 0)
        return EAI_NONAME;
    addrinfo numeric = *hints;
    numeric.ai_flags = AI_NUMERICHOST;
    addrinfo** end = result; // the system frees one after the other
    for (std::string const& address : addresses) {
        if (int const error = ask(address.c_str(), std::to_string(port).c_str(), &numeric, end))
            return error;
        while (*end)
            end = &(*end)->ai_next;
    }
    return 0;
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
