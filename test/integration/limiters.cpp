// Rate limiters that others have written: each has its own field for when to come back.
#include "child_process.hpp"
#include "nginx_process.hpp"
#include "own_folder.hpp"
#include "ports.hpp"
#include "run_with_programs.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace http = boost::beast::http;
using response = http::response<http::string_body>;
using namespace std::chrono_literals;

std::string limiters_script, node_program, limiters_folder, limits_nginx;

/// The fields of a response that a client of this server looks at; empty names none.
struct field_names {
    std::string retry_after = "Retry-After";
    std::string rate_limit = "RateLimit";
    std::string reset = "X-RateLimit-Reset";
};

std::string lines_of(response const& r, std::string const& name) {
    std::string joined;
    auto const [first, last] = r.equal_range(name);
    for (auto line = first; line != last; ++line)
        joined += (line == first ? "" : ", ") + std::string(line->value());
    return joined;
}

asio::awaitable<response> get_once(unsigned short port) {
    tcp::socket connection(co_await asio::this_coro::executor);
    co_await connection.async_connect(on_loopback(port), asio::use_awaitable);
    http::request<http::empty_body> question(http::verb::get, "/", 11);
    question.set(http::field::host, "localhost");
    question.keep_alive(false);
    co_await http::async_write(connection, question, asio::use_awaitable);
    boost::beast::flat_buffer buffer;
    response answer;
    co_await http::async_read(connection, buffer, answer, asio::use_awaitable);
    co_return answer;
}

void run(asio::awaitable<void> test) {
    asio::io_context io;
    std::exception_ptr failure;
    asio::co_spawn(io, std::move(test), [&](std::exception_ptr e) { failure = e; });
    io.run();
    if (failure)
        std::rethrow_exception(failure);
}

/// The statuses of the first operation whose request the server has refused, in order.
std::vector<unsigned> statuses_at_the_limit(unsigned short port, field_names const& names) {
    std::vector<unsigned> statuses;
    auto const judge = [&](response const& r) {
        statuses.push_back(r.result_int());
        std::string const retry_after = lines_of(r, names.retry_after);
        std::string const rate_limit = lines_of(r, names.rate_limit);
        std::string const reset = lines_of(r, names.reset);
        return judge_http(static_cast<int>(r.result_int()),
                          {.retry_after = retry_after, .rate_limit = rate_limit, .rate_limit_reset = reset});
    };
    auto const policy = retry_policy().backoff(constant(1ms)).max_attempts(10);
    auto const ask = [&]() -> asio::awaitable<void> {
        auto judged = fail_if([&] { return get_once(port); }, judge);
        while (statuses.size() < 2) { // on a busy machine a second goes by between two requests
            statuses.clear();
            co_await async_retry(judged, policy);
        }
    };
    run(ask());
    return statuses;
}

/// A server of limiters/limiters.js.
class rate_limiters : public test_in_folder {
protected:
    rate_limiters()
        : test_in_folder("limiters") {}

    unsigned short start(std::string const& name) {
        unsigned short const port = free_port();
        process_.emplace(std::vector<std::string>{node_program, limiters_script, limiters_folder, name,
                                                  std::to_string(port)},
                         folder / "log");
        wait_until_it_answers(port);
        return port;
    }

    /// Begins the server, and asks until it has refused once.
    std::vector<unsigned> statuses(std::string const& name, field_names const& names = {}) {
        return statuses_at_the_limit(start(name), names);
    }

private:
    std::optional<child_process> process_;
};

// With its delays of 1 ms, a client that reads no field is refused until its ten attempts are over.
auto const once_refused = testing::ElementsAre(429u, 200u);

// The server's clock may be a millisecond behind the time that it tells to fractions of a second.
auto const hardly_refused = testing::AnyOf(once_refused, testing::ElementsAre(429u, 429u, 200u));

field_names const only_rate_limit{.retry_after = "", .reset = ""};
field_names const only_reset{.retry_after = "", .rate_limit = ""};

TEST_F(rate_limiters, decision_29_express_rate_limit_of_draft_7) {
    EXPECT_THAT(statuses("draft_7", only_rate_limit), once_refused);
}

TEST_F(rate_limiters, decision_29_express_rate_limit_of_draft_8) {
    EXPECT_THAT(statuses("draft_8", only_rate_limit), once_refused);
}

TEST_F(rate_limiters, decision_29_two_limits_of_express_rate_limit) {
    EXPECT_THAT(statuses("two_limits", only_rate_limit), once_refused);
}

TEST_F(rate_limiters, decision_52_express_rate_limit_with_older_fields) {
    EXPECT_THAT(statuses("legacy", only_reset), once_refused);
}

TEST_F(rate_limiters, decision_29_hono_rate_limiter) {
    EXPECT_THAT(statuses("hono", only_rate_limit), once_refused);
}

TEST_F(rate_limiters, decision_52_fastify_rate_limit) {
    EXPECT_THAT(statuses("fastify"), once_refused);
}

TEST_F(rate_limiters, decision_29_fastify_rate_limit_that_bans) {
    EXPECT_THAT(statuses("fastify_ban"), testing::ElementsAre(403u, 200u));
}

// Its Retry-After is rounded down, to 0 in the last second.
TEST_F(rate_limiters, decision_52_koa_ratelimit) {
    EXPECT_THAT(statuses("koa"), hardly_refused);
}

TEST_F(rate_limiters, decision_84_hapi_rate_limit) {
    EXPECT_THAT(statuses("hapi", {.reset = "X-RateLimit-UserReset"}), hardly_refused);
}

TEST_F(rate_limiters, decision_52_fraction_of_rate_limiter_flexible) {
    EXPECT_THAT(statuses("flexible"), hardly_refused);
}

TEST_F(rate_limiters, express_slow_down_has_a_field_in_a_success) {
    run([](unsigned short port) -> asio::awaitable<void> {
        co_await get_once(port);
        response const slow = co_await get_once(port);
        EXPECT_TRUE(parse_retry_after(slow[http::field::retry_after], {}));
        judgement const judged =
            judge_http(static_cast<int>(slow.result_int()), slow[http::field::retry_after]);
        EXPECT_FALSE(judged.failed);
        EXPECT_FALSE(judged.said);
    }(start("slow_down")));
}

TEST(limit_req_with_a_field, decision_29_is_heeded) {
    nginx_process nginx(limits_nginx, [](free_ports const& ports) {
        return "limit_req_zone $server_port zone=all:1m rate=1r/s;\nlimit_req_status 429;\n"
               "server { listen 127.0.0.1:" +
               std::to_string(ports[0]) +
               ";\n location / { limit_req zone=all; empty_gif; error_page 429 = @limited; }\n"
               " location @limited { add_header Retry-After 1 always; return 429; } }\n";
    });
    EXPECT_THAT(statuses_at_the_limit(nginx.ports()[0], {}), once_refused);
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    if (argc > 3 && !std::filesystem::exists(std::filesystem::path(argv[3]) / "node_modules"))
        argv[3][0] = '\0'; // not unpacked
    return run_with_programs(argc, argv, {&limiters_script, &node_program, &limiters_folder, &limits_nginx},
                             "Node, rate limiter for it, or nginx");
}
