#pragma once

/// What the fragments of the pages take for granted: things to fetch from, a policy and a log.

#include <asio_retry/asio_retry.hpp>
#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_pause.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/before_retry.hpp>
#include <asio_retry/deadline_fields.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/fresh_connection.hpp>
#include <asio_retry/inject.hpp>
#include <asio_retry/observe/gauges.hpp>
#include <asio_retry/observe/log_observer.hpp>
#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/observe/retry_traces.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/on_executor.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/policy_book.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/profiles.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retrying.hpp>
#include <asio_retry/traffic/circuit_breaker.hpp>
#include <asio_retry/traffic/concurrency_limit.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>
#include <asio_retry/traffic/fleet_budget.hpp>
#include <asio_retry/traffic/idempotency_key.hpp>
#include <asio_retry/traffic/keyed_gates.hpp>
#include <asio_retry/traffic/latency_quantile.hpp>
#include <asio_retry/traffic/overload_advisor.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/token_budget.hpp>
#include <asio_retry/virtual_time.hpp>
#include <asio_retry/with_hooks.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#undef NDEBUG
#include <cassert>

namespace surroundings {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

inline tcp::endpoint server;
inline tcp::endpoint const other_server(asio::ip::address_v4::loopback(), 2);
inline tcp::endpoint const nowhere(asio::ip::address_v4::loopback(), 1);
inline std::string const url = "http://localhost/";

/// How often the operations below fail before they succeed, in each fragment anew.
inline int failures_left = 0;
inline bool fails_now() {
    return failures_left > 0 && failures_left-- > 0;
}

inline auto const policy = asio_retry::retry_policy()
                               .backoff(asio_retry::exponential(10ms).cap(10s))
                               .jitter(asio_retry::no_jitter())
                               .max_attempts(10)
                               .attempt_timeout(10s)
                               .total_timeout(60s);

inline asio::awaitable<std::string> fetch(tcp::endpoint from) {
    if (from == nowhere || fails_now())
        throw boost::system::system_error(asio::error::connection_refused);
    co_return "a page";
}

inline boost::system::error_code refuse() {
    return asio::error::connection_refused;
}

class response {
public:
    using field_map = std::map<std::string, std::string, std::less<>>;
    explicit response(int status = 0, field_map fields = {})
        : status_(status)
        , fields_(std::move(fields)) {}
    int status() const { return status_; }
    std::string_view retry_after() const { return (*this)["Retry-After"]; }
    std::string_view operator[](std::string_view name) const {
        auto const found = fields_.find(name);
        return found == fields_.end() ? std::string_view() : found->second;
    }

private:
    int status_;
    field_map fields_;
    std::string body_ = "the body of a response";
};

inline asio::awaitable<response> get(std::string) {
    co_return response(fails_now() ? 503 : 200);
}

// What the page about gates takes for granted besides: requests with fields, and those who answer them.

struct message {
    std::map<std::string, std::string> fields;
    void set(std::string_view name, std::string const& value) { fields[std::string(name)] = value; }
};
inline message request, answer;
inline auto const replicas =
    std::make_shared<asio_retry::endpoint_set<std::string>>(std::vector<std::string>{"a", "b"});
inline std::string const field = "1";
inline bool const must_reject = true;
inline asio_retry::time_point const now{};
inline auto const budget = std::make_shared<asio_retry::retry_budget>();

inline asio::awaitable<response> get(std::string const&, message const&) {
    co_return response(200);
}
inline asio::awaitable<response> send(message const& sent) {
    assert(sent.fields.contains("Idempotency-Key"));
    if (fails_now())
        throw boost::system::system_error(asio::error::connection_reset);
    co_return response(200);
}

template <typename Token>
auto async_send(std::string message, Token&& token) {
    auto initiation = [](auto handler, std::string const& sent) {
        auto const executor = asio::get_associated_executor(handler);
        auto const ec = fails_now() ? boost::system::error_code(asio::error::connection_reset)
                                    : boost::system::error_code();
        asio::post(executor, [handler = std::move(handler), ec, size = sent.size()]() mutable {
            std::move(handler)(ec, ec ? 0 : size);
        });
    };
    return asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(initiation, token,
                                                                                     std::move(message));
}

inline std::string blocking_query(std::string const& name) {
    if (fails_now())
        throw boost::system::system_error(asio::error::connection_reset);
    return "what is known of " + name;
}

/// Stands for a store that cannot be reached.
inline void ask_store(std::string_view, std::string_view, std::vector<std::string> const&,
                      std::function<void(std::uint32_t)> const&, std::function<void()> const& unavailable) {
    unavailable();
}

inline void print(asio_retry::duration d) {
    std::cout << ' ' << d.count() << " ns";
}
template <typename T>
void print(T const& value) {
    std::cout << ' ' << value;
}

/// Stands for a logger.
namespace spdlog {
template <typename Value>
void warn(std::string_view format, Value const& value) {
    std::cout << format << ' ' << value << '\n';
}
template <typename Value>
void error(std::string_view format, Value const& value) {
    std::cout << format << ' ' << value << '\n';
}
} // namespace spdlog

template <typename... Ts>
void log(Ts const&... values) {
    std::cout << "   ";
    (print(values), ...);
    std::cout << '\n';
}

inline asio::awaitable<void> until_told_to_stop() {
    asio::steady_timer timer(co_await asio::this_coro::executor, 50ms);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Runs a fragment to its end. `server` refuses connections at first, then accepts them.
inline void run(std::string_view name, std::function<asio::awaitable<void>()> fragment) {
    std::cout << name << std::endl;
    failures_left = 2;

    asio::io_context io;
    tcp::acceptor acceptor(io, tcp::v4());
    acceptor.bind({asio::ip::address_v4::loopback(), 0});
    server = acceptor.local_endpoint();
    asio::steady_timer opening(io, 15ms);
    opening.async_wait([&](boost::system::error_code) { acceptor.listen(); });

    bool ended = false;
    asio::co_spawn(io, fragment, [&](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
        ended = true;
    });
    io.run();
    if (!ended) {
        std::cerr << name << " did not run to its end\n";
        std::exit(EXIT_FAILURE);
    }
}

} // namespace surroundings
