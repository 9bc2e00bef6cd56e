// How a service that has too much to do tells everybody above it not to retry, on real sockets. Three services
// call one another and the last one rejects everything. Where the two others retry whatever fails, each request
// becomes 16 at the last one. Where it sees by the numbers of the attempts that most of what it gets are
// retries, and says so, its answer goes up through both of them. Ends with 0 if both happened.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/traffic/attempt_histogram.hpp>
#include <asio_retry/traffic/overload_advisor.hpp>

#include <boost/asio.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <iomanip>
#include <iostream>
#include <string_view>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using request = http::request<http::empty_body>;
using response = http::response<http::empty_body>;
using namespace std::chrono_literals;

constexpr std::string_view pushback_field = "grpc-retry-pushback-ms";

void rethrow(std::exception_ptr e) {
    if (e)
        std::rethrow_exception(e);
}

/// Sends a request that is this attempt, on a connection of its own.
asio::awaitable<response> get(tcp::endpoint server, asio_retry::attempt which) {
    tcp::socket connection(co_await asio::this_coro::executor);
    co_await connection.async_connect(server, asio::use_awaitable);
    request question(http::verb::get, "/", 11);
    if (which.number > 1)
        question.set(asio_retry::previous_attempts_field, asio_retry::previous_attempts(which));
    co_await http::async_write(connection, question, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    response answer;
    co_await http::async_read(connection, buffer, answer, asio::use_awaitable);
    co_return answer;
}

/// Answers each request as a derived class does.
class service {
public:
    explicit service(asio::io_context& io)
        : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        asio::co_spawn(io, accept(), rethrow);
    }
    virtual ~service() = default;

    tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
    std::size_t hits() const { return hits_; }

private:
    virtual asio::awaitable<response> answer(request const& question) = 0;

    asio::awaitable<void> accept() {
        for (;;) {
            tcp::socket connection = co_await acceptor_.async_accept(asio::use_awaitable);
            asio::co_spawn(acceptor_.get_executor(), serve(std::move(connection)), rethrow);
        }
    }

    asio::awaitable<void> serve(tcp::socket connection) {
        boost::beast::flat_buffer buffer;
        request question;
        co_await http::async_read(connection, buffer, question, asio::use_awaitable);
        ++hits_;
        response said = co_await answer(question);
        said.keep_alive(false);
        said.prepare_payload();
        co_await http::async_write(connection, said, asio::use_awaitable);
    }

    tcp::acceptor acceptor_;
    std::size_t hits_ = 0;
};

/// The last one: rejects everything, and may ask an advisor how.
class overloaded_service final : public service {
public:
    overloaded_service(asio::io_context& io, bool asks)
        : service(io)
        , asks_(asks) {}

private:
    asio::awaitable<response> answer(request const& question) override {
        auto const now = std::chrono::steady_clock::now();
        auto const number = asio_retry::parse_previous_attempts(question[asio_retry::previous_attempts_field]);
        advisor_.on_request(number.value_or(1), now);
        response rejection(http::status::service_unavailable, 11);
        if (asks_ && advisor_.advise(now) == asio_retry::overload_advice::do_not_retry)
            rejection.set(pushback_field, "-1");
        co_return rejection;
    }

    bool const asks_;
    asio_retry::overload_advisor advisor_;
};

/// The others: ask the next one, up to four times, unless it says not to; and pass on what it says.
class relaying_service final : public service {
public:
    relaying_service(asio::io_context& io, tcp::endpoint next)
        : service(io)
        , next_(next) {}

private:
    static asio_retry::judgement judge(response const& r) {
        asio_retry::judgement judged = asio_retry::judge_http(static_cast<int>(r.result_int()));
        if (auto const field = r.find(pushback_field); field != r.end())
            judged.said = asio_retry::parse_grpc_pushback(field->value());
        return judged;
    }

    asio::awaitable<response> answer(request const&) override {
        co_return co_await asio_retry::async_retry(
            asio_retry::fail_if([this](asio_retry::attempt a) { return get(next_, a); }, judge), policy_);
    }

    tcp::endpoint next_;
    asio_retry::retry_policy policy_ =
        asio_retry::retry_policy().max_attempts(4).backoff(asio_retry::exponential(1ms).cap(4ms));
};

/// Makes so many requests of three services, a few at once. Hits of the last service for each request.
double hits_per_request(std::size_t requests, bool with_advice) {
    asio::io_context io;
    overloaded_service last(io, with_advice);
    relaying_service middle(io, last.endpoint());
    relaying_service first(io, middle.endpoint());

    constexpr std::size_t clients = 4;
    std::size_t begun = 0, busy = clients;
    for (std::size_t i = 0; i != clients; ++i)
        asio::co_spawn(
            io,
            [&]() -> asio::awaitable<void> {
                while (begun++ < requests)
                    co_await get(first.endpoint(), asio_retry::attempt());
            },
            [&](std::exception_ptr e) {
                rethrow(e);
                if (--busy == 0)
                    io.stop();
            });
    io.run();

    double const factor = static_cast<double>(last.hits()) / static_cast<double>(requests);
    std::cout << (with_advice ? "with advice:    " : "without advice: ") << first.hits() << " requests, "
              << middle.hits() << " at the second service, " << last.hits()
              << " at the last one: " << std::fixed << std::setprecision(2) << factor << " for each\n";
    return factor;
}

} // namespace

int main() {
    double const without = hits_per_request(50, false);
    double const with = hits_per_request(2000, true);
    return without == 16 && with <= 1.15 ? 0 : 1;
}
