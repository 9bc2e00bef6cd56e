// The avalanche: backends that answer 503, and an nginx before them, or two layers of it, that tries the next
// one.
#include "nginx_process.hpp"
#include "run_with_programs.hpp"

#include "support/csv.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iostream>
#include <list>
#include <memory>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

std::string nginx_program; // nginx

using response = http::response<http::string_body>;

/// Answers every request with 503, and counts them.
class failing_backend {
public:
    explicit failing_backend(asio::io_context& io)
        : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        asio::co_spawn(io, accept(), asio::detached);
    }

    unsigned short port() const { return acceptor_.local_endpoint().port(); }
    std::size_t hits() const noexcept { return hits_; }

private:
    asio::awaitable<void> accept() {
        for (;;)
            asio::co_spawn(acceptor_.get_executor(),
                           serve(co_await acceptor_.async_accept(asio::use_awaitable)), asio::detached);
    }

    asio::awaitable<void> serve(tcp::socket connection) {
        boost::beast::flat_buffer buffer;
        http::request<http::string_body> request;
        co_await http::async_read(connection, buffer, request, asio::use_awaitable);
        ++hits_;
        response answer(http::status::service_unavailable, request.version());
        answer.keep_alive(false);
        answer.prepare_payload();
        co_await http::async_write(connection, answer, asio::use_awaitable);
    }

    tcp::acceptor acceptor_;
    std::size_t hits_ = 0;
};

/// What `proxy_next_upstream` and `proxy_next_upstream_tries` of both layers are.
struct setting {
    std::string when;
    std::string tries;

    bool operator==(setting const&) const = default;
};

std::vector<setting> golden_settings() {
    std::vector<setting> all;
    for (csv_row const& row : read_csv("traffic/nginx_upstream_retry.csv")) {
        setting const each{row.at("proxy_next_upstream"), row.at("proxy_next_upstream_tries")};
        if (std::find(all.begin(), all.end(), each) == all.end())
            all.push_back(each);
    }
    return all;
}

std::size_t number_of(setting const& how) {
    std::vector<setting> const all = golden_settings();
    return static_cast<std::size_t>(std::find(all.begin(), all.end(), how) - all.begin());
}

/// Three backends, an inner layer of three servers before them, and before these an outer one. Each setting has
/// a path of its own, "/0" and so on. No server is ever taken for dead: each request is the first one.
class avalanche {
public:
    avalanche()
        : nginx_(nginx_program, [this](free_ports const& ports) { return servers(ports); }) {}

    /// What one request of `method` with the setting `number` comes to, through so many layers.
    asio::awaitable<response> request(std::size_t layers, std::size_t number, http::verb method) {
        tcp::socket connection(co_await asio::this_coro::executor);
        unsigned short const port = nginx_.ports()[layers == 2 ? 0 : 1];
        co_await connection.async_connect({asio::ip::address_v4::loopback(), port}, asio::use_awaitable);
        http::request<http::string_body> question(method, '/' + std::to_string(number), 11);
        question.set(http::field::host, "localhost");
        question.keep_alive(false);
        question.prepare_payload();
        co_await http::async_write(connection, question, asio::use_awaitable);
        boost::beast::flat_buffer buffer;
        response answer;
        co_await http::async_read(connection, buffer, answer, asio::use_awaitable);
        co_return answer;
    }

    std::size_t hits() const {
        std::size_t sum = 0;
        for (failing_backend const& each : backends_)
            sum += each.hits();
        return sum;
    }

    void run(asio::awaitable<void> test) {
        std::exception_ptr thrown;
        asio::co_spawn(io_, std::move(test), [&](std::exception_ptr e) {
            thrown = e;
            io_.stop();
        });
        io_.run();
        io_.restart();
        if (thrown)
            std::rethrow_exception(thrown);
    }

private:
    static std::string address(unsigned short port) { return "127.0.0.1:" + std::to_string(port); }

    static std::string locations(std::string const& upstream) {
        std::string text;
        for (setting const& each : golden_settings())
            text += "location = /" + std::to_string(number_of(each)) + " { proxy_pass http://" + upstream +
                    "; proxy_next_upstream " + each.when + "; proxy_next_upstream_tries " + each.tries +
                    "; }\n";
        return text;
    }

    std::string servers(free_ports const& ports) const {
        std::string backends, inner, listens;
        for (failing_backend const& each : backends_)
            backends += "server " + address(each.port()) + " max_fails=0; ";
        for (std::size_t const i : {1, 2, 3}) {
            inner += "server " + address(ports[i]) + " max_fails=0; ";
            listens += "listen " + address(ports[i]) + "; ";
        }
        return "upstream backends { " + backends + "}\nupstream inner { " + inner + "}\nserver { " + listens +
               locations("backends") + "}\nserver { listen " + address(ports[0]) + "; " + locations("inner") +
               "}\n";
    }

    asio::io_context io_{1};
    std::list<failing_backend> backends_ = [this] {
        std::list<failing_backend> three;
        for (int i = 0; i != 3; ++i)
            three.emplace_back(io_);
        return three;
    }();
    nginx_process nginx_;
};

TEST(nginx, scheme_G6_each_layer_multiplies_what_the_backends_get) {
    std::vector<csv_row> const rows = read_csv("traffic/nginx_upstream_retry.csv");
    ASSERT_EQ(rows.size(), 64u);
    avalanche three;
    auto const test = [&]() -> asio::awaitable<void> {
        for (csv_row const& row : rows) {
            setting const how{row.at("proxy_next_upstream"), row.at("proxy_next_upstream_tries")};
            http::verb const method = http::string_to_verb(row.at("method"));
            std::size_t const before = three.hits();
            response const answer =
                co_await three.request(std::stoul(row.at("layers")), number_of(how), method);
            EXPECT_EQ(std::to_string(three.hits() - before), row.at("backend_hits_per_client_request"))
                << row.at("layers") << " layers, " << how.when << ", tries " << how.tries << ", "
                << row.at("method");
            EXPECT_EQ(std::to_string(answer.result_int()), row.at("client_status"));
        }
    };
    three.run(test());
}

/// What the backends get of a client that makes twenty requests, of four attempts each.
std::size_t hits_of_twenty(avalanche& three, setting const& how, retry_policy const& policy) {
    std::size_t const number = number_of(how);
    std::size_t const before = three.hits();
    auto const test = [&]() -> asio::awaitable<void> {
        auto judged = fail_if([&] { return three.request(2, number, http::verb::get); },
                              [](response const& r) { return judge_http(static_cast<int>(r.result_int())); });
        for (int i = 0; i != 20; ++i) {
            response const answer = co_await async_retry(judged, policy);
            EXPECT_EQ(answer.result(), http::status::service_unavailable);
        }
    };
    three.run(test());
    return three.hits() - before;
}

TEST(nginx, scheme_G6_a_budget_takes_the_clients_factor_out_of_the_avalanche) {
    avalanche three;
    auto const plain = retry_policy().backoff(constant(duration::zero())).max_attempts(4);
    auto const budgeted = [&] { return plain.gate(std::make_shared<retry_budget>()); };

    setting const tries_all{"error timeout http_503", "0"};
    EXPECT_EQ(hits_of_twenty(three, tries_all, plain), 20u * 4 * 9);
    EXPECT_EQ(hits_of_twenty(three, tries_all, budgeted()), (20u + 1) * 9); // the one retry that it begins with

    setting const tries_two{"error timeout http_503", "2"};
    EXPECT_EQ(hits_of_twenty(three, tries_two, plain), 20u * 4 * 4);
    EXPECT_EQ(hits_of_twenty(three, tries_two, budgeted()), (20u + 1) * 4);

    setting const tries_one{"error timeout http_503", "1"};
    EXPECT_EQ(hits_of_twenty(three, tries_one, plain), 20u * 4);
    EXPECT_EQ(hits_of_twenty(three, tries_one, budgeted()), 20u + 1);
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&nginx_program}, "nginx");
}
