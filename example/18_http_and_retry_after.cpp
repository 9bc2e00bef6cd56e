// An HTTP client of Boost.Beast before a server that answers 503 with Retry-After, then 500, then 200.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using request = http::request<http::empty_body>;
using response = http::response<http::string_body>;
using namespace std::chrono_literals;

// One attempt: a connection of its own, one request, one response.
asio::awaitable<response> get(tcp::endpoint server, std::string target) {
    tcp::socket connection(co_await asio::this_coro::executor);
    co_await connection.async_connect(server, asio::use_awaitable);
    request question(http::verb::get, target, 11);
    question.set(http::field::host, "localhost");
    co_await http::async_write(connection, question, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    response answer;
    co_await http::async_read(connection, buffer, answer, asio::use_awaitable);
    co_return answer;
}

asio_retry::judgement judge(response const& r) {
    return asio_retry::judge_http(static_cast<int>(r.result_int()),
                                  {.retry_after = r[http::field::retry_after], .rate_limit = r["RateLimit"]});
}

// Answers 503, "come back in a second", then 500, then 200.
asio::awaitable<void> serve(tcp::acceptor& acceptor) {
    for (http::status const status :
         {http::status::service_unavailable, http::status::internal_server_error, http::status::ok}) {
        tcp::socket connection = co_await acceptor.async_accept(asio::use_awaitable);
        boost::beast::flat_buffer buffer;
        request question;
        co_await http::async_read(connection, buffer, question, asio::use_awaitable);
        response answer(status, 11);
        answer.keep_alive(false);
        if (status == http::status::service_unavailable)
            answer.set(http::field::retry_after, "1");
        if (status == http::status::ok)
            answer.body() = "the page";
        answer.prepare_payload();
        co_await http::async_write(connection, answer, asio::use_awaitable);
    }
}

void print(asio_retry::retry_event const& e) {
    std::cout << "attempt " << e.attempt << " failed, next one in " << (e.delay < 1s ? "less" : "more")
              << " than a second\n";
}

asio::awaitable<void> client(tcp::endpoint server) {
    auto const policy = asio_retry::retry_policy()
                            .backoff(asio_retry::exponential(10ms).cap(5s))
                            .max_attempts(4)
                            .attempt_timeout(10s)
                            .pushback_limit(30s) // a server that asks for more gets no retry
                            .on_retry(print);
    auto attempt = asio_retry::fail_if([&] { return get(server, "/page"); }, judge);
    response const answer = co_await asio_retry::async_retry(attempt, policy);
    std::cout << answer.result_int() << ": " << answer.body() << '\n';
}

void rethrow(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

int main() {
    asio::io_context io;
    tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    asio::co_spawn(io, serve(acceptor), rethrow);
    asio::co_spawn(io, client(acceptor.local_endpoint()), rethrow);
    io.run();
}
