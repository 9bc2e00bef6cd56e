// A gateway between its clients and an upstream, all of them in this process, over connections that last. What
// a retry costs where it matters: beside the parsing, the copying and the system calls of real requests.
#include "meter.hpp"
#include "workload.hpp"

#include <asio_retry/async_retry.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <list>
#include <string>
#include <utility>

namespace asio_retry::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using namespace std::chrono_literals;

using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

constexpr std::size_t connections = 16;

/// A connection that lasts, and what has been read ahead from it.
struct connection {
    tcp::socket socket;
    boost::beast::flat_buffer buffer = {};

    asio::awaitable<response> ask(request const& question) {
        co_await http::async_write(socket, question, asio::use_awaitable);
        response answer;
        co_await http::async_read(socket, buffer, answer, asio::use_awaitable);
        co_return answer;
    }
};

/// Accepts connections for ever, and begins `serve(socket)` for each.
template <typename Serve>
asio::awaitable<void> accept(tcp::acceptor& acceptor, Serve serve) {
    for (;;) {
        tcp::socket accepted = co_await acceptor.async_accept(asio::use_awaitable);
        accepted.set_option(tcp::no_delay(true));
        asio::co_spawn(acceptor.get_executor(), serve(std::move(accepted)), asio::detached);
    }
}

/// Answers each request, one in so many with 503; none if that is 0.
class upstream {
public:
    upstream(asio::io_context& io, std::size_t refused_one_in)
        : refused_one_in_(refused_one_in)
        , acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        asio::co_spawn(io, accept(acceptor_, [this](tcp::socket peer) { return serve(std::move(peer)); }),
                       asio::detached);
    }

    tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

private:
    asio::awaitable<void> serve(tcp::socket peer) {
        boost::beast::flat_buffer buffer;
        for (;;) {
            request question;
            co_await http::async_read(peer, buffer, question, asio::use_awaitable);
            bool const refuses = refused_one_in_ != 0 && ++served_ % refused_one_in_ == 0;
            response answer(refuses ? http::status::service_unavailable : http::status::ok, 11);
            answer.set(http::field::content_type, "text/plain");
            answer.body() = std::string(512, 'x');
            answer.prepare_payload();
            co_await http::async_write(peer, answer, asio::use_awaitable);
        }
    }

    std::size_t const refused_one_in_;
    std::size_t served_ = 0;
    tcp::acceptor acceptor_;
};

// --- how the gateway asks its upstream

struct asks_once {
    explicit asks_once(asio::io_context&) {}

    asio::awaitable<response> operator()(connection& peer, request const& question) {
        return peer.ask(question);
    }
};

retry_policy limited_policy() {
    return retry_policy().backoff(constant(1ms)).attempt_timeout(1s).total_timeout(5s);
}

auto judged(connection& peer, request const& question) {
    return fail_if([&] { return peer.ask(question); },
                   [](response const& r) { return judge_http(static_cast<int>(r.result_int())); });
}

struct retries_with_limits {
    explicit retries_with_limits(asio::io_context&) {}

    auto operator()(connection& peer, request const& question) {
        return async_retry(judged(peer, question), policy);
    }

    retry_policy const policy = limited_policy();
};

struct retries_in_scope {
    explicit retries_in_scope(asio::io_context& io)
        : scope(io.get_executor()) {}

    auto operator()(connection& peer, request const& question) {
        return async_retry(scope, judged(peer, question), policy);
    }

    retry_scope scope;
    retry_policy const policy = limited_policy();
};

/// Hands each request on to the upstream, over a connection for each of its clients.
template <typename Ask>
class gateway {
public:
    gateway(asio::io_context& io, tcp::endpoint upstream)
        : upstream_(upstream)
        , ask_(io)
        , acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        asio::co_spawn(io, accept(acceptor_, [this](tcp::socket peer) { return serve(std::move(peer)); }),
                       asio::detached);
    }

    tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

private:
    asio::awaitable<void> serve(tcp::socket client) {
        connection peer{tcp::socket(client.get_executor())};
        co_await peer.socket.async_connect(upstream_, asio::use_awaitable);
        peer.socket.set_option(tcp::no_delay(true));
        boost::beast::flat_buffer buffer;
        for (;;) {
            request question;
            co_await http::async_read(client, buffer, question, asio::use_awaitable);
            response const answer = co_await ask_(peer, question);
            co_await http::async_write(client, answer, asio::use_awaitable);
        }
    }

    tcp::endpoint upstream_;
    Ask ask_;
    tcp::acceptor acceptor_;
};

asio::awaitable<void> make_requests(connection& peer, std::size_t count) {
    request question(http::verb::get, "/some/thing", 11);
    question.set(http::field::host, "gateway");
    question.set(http::field::user_agent, "client");
    for (; count != 0; --count)
        co_await peer.ask(question);
}

/// All clients make so many requests each, at the same time.
void make_requests(asio::io_context& io, std::list<connection>& clients, std::size_t count) {
    std::size_t left = clients.size();
    for (connection& each : clients)
        asio::co_spawn(io, make_requests(each, count), [&](std::exception_ptr e) {
            if (e)
                std::rethrow_exception(e);
            if (--left == 0)
                io.stop();
        });
    io.run();
    io.restart();
}

template <typename Ask>
figures measure(std::size_t refused_one_in) {
    constexpr std::size_t of_each = 200;
    asio::io_context io(1);
    upstream peer(io, refused_one_in);
    gateway<Ask> between(io, peer.endpoint());
    std::list<connection> clients;
    for (std::size_t i = 0; i != connections; ++i) {
        clients.push_back({tcp::socket(io)});
        clients.back().socket.connect(between.endpoint());
        clients.back().socket.set_option(tcp::no_delay(true));
    }
    make_requests(io, clients, 10); // until all is connected and warm

    usage const before = used_so_far();
    make_requests(io, clients, of_each);
    usage const after = used_so_far();
    constexpr double requests = connections * of_each;
    return {{"cpu_ns", (after.cpu_ns - before.cpu_ns) / requests},
            {"allocations", static_cast<double>(after.allocations - before.allocations) / requests}};
}

} // namespace

workload gateway_requests(scale) {
    workload result{
        "gateway",
        "requests over kept connections, client, gateway and upstream in this process; CPU time per "
        "request of all three",
        21,
        {}};
    auto const add = [&]<typename Ask>(std::string const& name) {
        result.contenders.push_back({name, [] { return measure<Ask>(0); }});
        result.contenders.push_back({name + ", 1 % refused", [] { return measure<Ask>(100); }});
    };
    add.operator()<asks_once>("gateway: no retry");
    add.operator()<retries_with_limits>("gateway: async_retry, two time limits");
    add.operator()<retries_in_scope>("gateway: async_retry, two time limits, in a scope");
    return result;
}

} // namespace asio_retry::bench
