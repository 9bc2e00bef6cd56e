// What is worth another attempt: by predicate, by a permanent error, by the value; and what became of it all.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/permanent.hpp>
#include <asio_retry/with_report.hpp>

#include <boost/asio.hpp>

#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct response {
    int status = 0;
};

// Answers 503 twice, then 200; knows one user.
class service {
public:
    asio::awaitable<response> get() { co_return response{++calls_ < 3 ? 503 : 200}; }

    asio::awaitable<std::string> name_of(int user) {
        if (user != 1)
            throw asio_retry::permanent(std::out_of_range("no such user"));
        co_return "somebody";
    }

private:
    int calls_ = 0;
};

void print(char const* what, asio_retry::retry_report const& report) {
    std::cout << what << ": " << to_string(report.reason) << " after " << report.attempts << " attempts\n";
}

asio::awaitable<void> session() {
    service backend;
    asio_retry::retry_report report;
    auto const policy = asio_retry::retry_policy().backoff(asio_retry::constant(1ms)).max_attempts(5);

    auto const is_unavailable = [](response const& r) { return r.status == 503; };
    auto get = asio_retry::fail_if([&] { return backend.get(); }, is_unavailable);
    response const reply = co_await asio_retry::async_retry(asio_retry::with_report(get, report), policy);
    print("get", report);
    std::cout << "status " << reply.status << '\n';

    auto find = asio_retry::with_report([&] { return backend.name_of(2); }, report);
    try {
        co_await asio_retry::async_retry(find, policy);
    } catch (std::out_of_range const& e) { // what was thrown, not what it was wrapped in
        print(e.what(), report);
    }

    auto const is_refusal = [](boost::system::error_code ec) { return ec == asio::error::connection_refused; };
    auto reset = [] { return boost::system::error_code(asio::error::connection_reset); };
    auto const [ec] =
        co_await asio_retry::async_retry(asio_retry::with_report(reset, report), policy.retry_if(is_refusal),
                                         asio::as_tuple(asio::use_awaitable));
    print(ec.message().c_str(), report);
}

int main() {
    asio::io_context io;
    asio::co_spawn(io, session(), [](std::exception_ptr e) {
        if (e)
            std::rethrow_exception(e);
    });
    io.run();
}
