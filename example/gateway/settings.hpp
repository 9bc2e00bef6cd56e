#pragma once

#include <asio_retry/retry_policy.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gateway {

/// The budget of a fleet, in a Redis.
struct shared_store {
    boost::asio::ip::tcp::endpoint server;
    std::string user;     ///< empty: none is named
    std::string password; ///< empty: none is asked for
    std::string database;
};

/// Where spans go, as OTLP/JSON.
struct trace_collector {
    boost::asio::ip::tcp::endpoint server;
    std::string path;
    double share; ///< of the requests, unless their field `traceparent` decides
};

/// What the command line says, and the file that it names.
struct settings {
    boost::asio::ip::tcp::endpoint listen;
    std::vector<boost::asio::ip::tcp::endpoint> upstreams;
    asio_retry::retry_policy policy;
    std::string policies;                    ///< a file with those of some paths; empty: there is none
    std::optional<shared_store> budget;      ///< of all gateways that name it; none: each has its own
    std::optional<trace_collector> traces;   ///< none: there are no spans
    std::chrono::milliseconds timeout{};     ///< of a request whose client sets none, and the longest
    std::chrono::milliseconds drain_limit{}; ///< for what runs when the gateway is told to stop
    std::size_t threads = 2;
    bool is_quiet = false;
    bool has_page = true; ///< at /, which no server gets then
    bool is_demo = false; ///< with servers and clients of its own
};

/// None if all that was asked for is help, which has been printed. Throws std::exception, which says what is
/// wrong.
std::optional<settings> read_settings(int argc, char const* const* argv);

} // namespace gateway
