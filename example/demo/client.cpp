#include "client.hpp"

#include "rethrow.hpp"

#include <asio_retry/async_retry.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/system_error.hpp>

#include <chrono>
#include <cstdint>
#include <iomanip>
#include <string>
#include <utility>

namespace demo {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

using response = http::response<http::string_body>;

constexpr auto pause_between_requests = 250ms;

asio_retry::retry_policy patient_policy() {
    return asio_retry::retry_policy()
        .backoff(asio_retry::exponential(50ms).cap(1s))
        .jitter(asio_retry::full_jitter())
        .max_attempts(6)
        .attempt_timeout(700ms)
        .total_timeout(10s);
}

// A fresh connection for every attempt: a socket that has failed is spoilt.
asio::awaitable<response> get(tcp::endpoint server, std::string target) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio::use_awaitable);

    http::request<http::empty_body> request(http::verb::get, target, 11);
    request.set(http::field::host, server.address().to_string());
    request.keep_alive(false);
    co_await http::async_write(socket, request, asio::use_awaitable);

    beast::flat_buffer buffer;
    response result;
    co_await http::async_read(socket, buffer, result, asio::use_awaitable);
    co_return result;
}

bool is_unavailable(response const& r) {
    return r.result() == http::status::service_unavailable;
}

std::string describe(asio_retry::error_code const& error) {
    if (error == asio_retry::error::result_rejected)
        return "503 Service Unavailable";
    return error.message();
}

} // namespace

client::client(asio::any_io_executor executor, tcp::endpoint server, journal const& log)
    : server_(std::move(server))
    , log_(log)
    , scope_(std::move(executor)) {}

void client::start(std::size_t workers) {
    for (; workers > 0; --workers) {
        asio::steady_timer& pause = pauses_.emplace_back(scope_.get_executor());
        asio::co_spawn(scope_.get_executor(), work(pause), rethrow);
    }
}

void client::stop() {
    scope_.cancel();
    for (asio::steady_timer& pause : pauses_)
        pause.cancel();
}

asio::awaitable<void> client::join() {
    co_await scope_.async_join(asio::use_awaitable);
}

asio::awaitable<void> client::work(asio::steady_timer& pause) {
    while (!scope_.cancelled()) {
        co_await send_request();
        if (scope_.cancelled())
            co_return;
        pause.expires_after(pause_between_requests);
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

asio::awaitable<void> client::send_request() {
    std::size_t const number = ++totals_.requests;
    std::string target = "/requests/";
    target += std::to_string(number);
    std::uint64_t attempt = 0;
    bool attempt_runs = false;
    auto const tell = [&](auto const&... parts) {
        log_.line("request ", std::setw(3), number, "  attempt ", attempt, "  ", parts...);
    };

    auto const on_failure = [&](asio_retry::retry_event const& e) {
        attempt_runs = false;
        ++totals_.failures;
        tell(describe(e.error), ", next attempt in ",
             std::chrono::round<std::chrono::milliseconds>(e.delay).count(), " ms");
    };
    auto const on_give_up = [&](asio_retry::retry_event const& e) {
        if (e.reason == asio_retry::stop_reason::cancelled) {
            ++totals_.cancellations;
            totals_.interruptions += attempt_runs ? 1 : 0;
            tell(attempt_runs ? "cancelled while running"
                              : "was the last, cancelled while waiting for the next");
        } else {
            ++totals_.failures;
            ++totals_.give_ups;
            tell(describe(e.error), ", giving up (", to_string(e.reason), ")");
        }
    };
    asio_retry::retry_policy const policy = patient_policy().on_retry(on_failure).on_give_up(on_give_up);

    auto const attempt_get = [&](asio_retry::attempt current) {
        attempt = current.number;
        attempt_runs = true;
        ++totals_.attempts;
        return get(server_, target);
    };
    try {
        response const reply =
            co_await asio_retry::async_retry(scope_, asio_retry::fail_if(attempt_get, is_unavailable), policy);
        if (is_unavailable(reply))
            co_return;
        ++totals_.successes;
        tell(reply.result_int(), ' ', reply.reason());
    } catch (boost::system::system_error const&) {
        // The hooks have told why.
    }
}

} // namespace demo
