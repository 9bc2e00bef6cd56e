// The public headers bear the macros of windows.h, and a program does that includes it before them without
// NOMINMAX.
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN // for Asio, which wants newer sockets than windows.h has by itself
#include <windows.h>
#endif

// The standard library bears them on Windows alone, and there not always: mingw-w64's windows.h has no `min`
// for C++.
#include <boost/asio.hpp>
#ifdef BOOST_ASIO_SEPARATE_COMPILATION
#include <boost/asio/impl/src.hpp>
#endif

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <iomanip>
#include <iterator>
#include <limits>
#include <locale>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <random>
#include <shared_mutex>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#undef min
#undef max
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#ifndef _WIN32
#define interface struct
#define small char
#define near
#define far
#define pascal __stdcall
#define cdecl
#define ERROR 0
#define NO_ERROR 0
#define NOERROR 0
#define IGNORE 0
#define INFINITE 0xffffffff
#define ABSOLUTE 1
#define RELATIVE 2
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define DELETE 0x00010000
#define STRICT 1
#define TRUE 1
#define FALSE 0
#define GetMessage GetMessageA
#define GetObject GetObjectA
#define Yield()
#endif

#include <asio_retry/asio_retry.hpp>

namespace asio = boost::asio;

namespace {

asio_retry::error_code refuse(int& attempts) {
    ++attempts;
    return asio::error::connection_refused;
}

} // namespace

int main() {
    using std::chrono::hours;
    auto const policy = asio_retry::retry_policy()
                            .backoff(asio_retry::exponential(hours(1), 2).cap(hours(2)))
                            .jitter(asio_retry::decorrelated_jitter())
                            .max_attempts(3);
    asio::io_context io;
    asio_retry::virtual_time time(io);
    int attempts = 0;
    asio_retry::error_code result;
    asio_retry::async_retry(
        io, [&] { return refuse(attempts); }, policy, [&](asio_retry::error_code ec) { result = ec; });
    time.run();
    std::printf("%d attempts: %s\n", attempts, result.message().c_str());
    return attempts == 3 && result == asio::error::connection_refused ? 0 : 1;
}
