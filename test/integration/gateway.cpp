// The gateway of example/gateway before three nginx that are killed, stopped and made to refuse. What its
// clients see, and what the servers have counted.
#include "gateway_process.hpp"
#include "logging_nginx.hpp"
#include "own_folder.hpp"
#include "run_with_programs.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/system_executor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/resource.h>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;

std::string nginx; // the program

/// Reads each request, counts it by its method, and closes the connection without an answer.
struct silent_server {
    std::atomic<std::size_t> gets = 0, posts = 0;
    test_server server{[this](question const& q) -> asio::awaitable<std::optional<answer>> {
        ++(q.method() == http::verb::post ? posts : gets);
        co_return std::nullopt;
    }};

    unsigned short port() const { return server.port(); }
};

class gateway_test : public test_in_folder {
protected:
    gateway_test()
        : test_in_folder("gateway") {}
    ~gateway_test() override {
        gateway.reset();
        servers.clear();
    }

    void start_servers(std::string const& refusal = {}, std::size_t count = 3) {
        servers.clear();
        for (std::size_t i = 0; i != count; ++i) {
            std::filesystem::remove_all(folder / std::to_string(i));
            servers.push_back(std::make_unique<logging_nginx>(nginx, folder / std::to_string(i), refusal));
        }
    }

    /// Before all servers, unless there are `ports`.
    void start_gateway(std::string const& policy, std::vector<unsigned short> ports = {}) {
        if (ports.empty())
            for (auto const& each : servers)
                ports.push_back(each->port());
        gateway.reset();
        std::ofstream file(folder / "gateway.conf");
        file << "policy = " << policy << "\ntimeout = 5\nquiet = true\n"
             << "listen = 127.0.0.1:1\n"; // which the command line overrides
        for (unsigned short const each : ports)
            file << "upstream = 127.0.0.1:" << each << '\n';
        file.close();
        gateway.emplace(std::vector<std::string>{"--config", (folder / "gateway.conf").string()},
                        folder / "gateway.log");
    }

    outcome load(std::size_t count, load_options const& options = {}) const {
        return test::load(gateway->port(), count, options);
    }

    http::status ask(std::string const& target, std::string const& timeout_ms = "5000") const {
        question q = question_for(target);
        q.set("X-Request-Timeout-Ms", timeout_ms);
        return test::ask(gateway->port(), q).result();
    }

    double attempts() const { return gateway->metric("asio_retry_attempts_total"); }
    double requests() const { return gateway->metric("asio_retry_operations_total"); }

    /// Of all servers together.
    std::vector<std::string> seen(std::string const& method) const {
        std::vector<std::string> all;
        for (auto const& each : servers)
            for (std::string& id : each->seen(method))
                all.push_back(std::move(id));
        return all;
    }

    std::string status() const { return test::ask(gateway->port(), question_for("/gateway/status")).body(); }

    /// Of the last failures, newest first: the cause, and why there was no further attempt.
    std::vector<std::string> causes() const {
        std::string const text = status();
        std::regex const pattern(R"re("cause":"([^"]*)","end":"([^"]*)")re");
        std::vector<std::string> result;
        for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end; ++found)
            result.push_back((*found)[1].str() + "; " + (*found)[2].str());
        return result;
    }

    /// The least time from an answer 503 to the next attempt of its request, in seconds.
    double least_wait() const {
        std::map<std::string, std::vector<double>> times;
        for (auto const& each : servers)
            for (auto const& line : each->answers("GET"))
                times[line.id].push_back(line.at);
        double least = 1e9;
        for (auto& [id, at] : times) {
            std::sort(at.begin(), at.end());
            for (std::size_t i = 1; i < at.size(); ++i)
                least = std::min(least, at[i] - at[i - 1]);
        }
        return least;
    }

    std::vector<std::unique_ptr<logging_nginx>> servers;
    tcp::acceptor deaf{asio::system_executor(), on_loopback(0)}; ///< takes connections, and says nothing
    std::optional<gateway_process> gateway;
};

constexpr char const* retries = "exponential(10ms, cap=200ms) max_attempts(4) attempt_timeout(1s)";
constexpr char const* tries_once = "constant(10ms) max_attempts(1) attempt_timeout(1s)";
constexpr char const* tries_twice = "constant(1ms) max_attempts(2) pushback_limit(2s)";

std::size_t greatest_count(std::vector<std::string> const& ids) {
    std::map<std::string, std::size_t> counts;
    std::size_t greatest = 0;
    for (std::string const& id : ids)
        greatest = std::max(greatest, ++counts[id]);
    return greatest;
}

TEST_F(gateway_test, one_server_that_works_is_enough) {
    start_servers();
    for (bool const with_retries : {true, false}) {
        start_gateway(with_retries ? retries : tries_once);
        std::size_t const before = seen("GET").size();
        outcome const total = load(2000, {.between = [&](std::size_t n) {
                                       if (n == 500)
                                           servers[0]->kill();
                                       else if (n == 1000)
                                           servers[1]->stop();
                                   }});
        if (with_retries) {
            EXPECT_EQ(total.failures(), 0u);
            EXPECT_LE(static_cast<double>(seen("GET").size() - before), 1.1 * 2000);
        } else {
            EXPECT_GT(total.failures(), 0u) << "the control";
        }
        servers[1]->go_on();
        servers[0]->start();
    }
}

TEST_F(gateway_test, what_was_sent_and_is_not_idempotent_is_not_sent_again) {
    start_servers();
    start_gateway(retries);
    outcome const total = load(2000, {http::verb::post, [&](std::size_t n) {
                                          if (n % 200 == 100)
                                              servers[n / 200 % 3]->kill();
                                          else if (n % 200 == 150)
                                              servers[n / 200 % 3]->start();
                                      }});
    EXPECT_EQ(total.lost, 0u);
    EXPECT_GT(seen("POST").size(), 100u);
    EXPECT_LE(greatest_count(seen("POST")), 1u);
}

TEST_F(gateway_test, a_request_that_was_read_is_sent_again_only_if_it_is_idempotent) {
    silent_server one, other;
    start_gateway(retries, {one.port(), other.port()});
    EXPECT_EQ(load(1, {http::verb::post}).failures(), 1u);
    EXPECT_EQ(one.posts + other.posts, 1u);
    EXPECT_EQ(load(1).failures(), 1u);
    EXPECT_EQ(one.gets + other.gets, 4u);
}

TEST_F(gateway_test, servers_that_refuse_everything_get_hardly_more_than_is_asked) {
    start_servers("\n            return 503;");
    start_gateway(retries);
    outcome const total = load(1000);
    EXPECT_EQ(total.failures(), 1000u);
    EXPECT_EQ(total.lost, 0u);
    EXPECT_LE(seen("GET").size(), 1100u);
}

/// Of the rate that they allow, and with a control that does not say when to come again.
// With several servers the retry goes to another one at once: the wish of a server rests that one alone.
TEST_F(gateway_test, does_not_come_again_before_a_server_that_limits_requests_allows_it) {
    struct row {
        std::string fields;
        std::size_t servers;
        std::size_t requests;
    };
    std::string const retry_after = "add_header Retry-After 1 always;";
    std::string const two_limits = "add_header RateLimit '\"hour\";r=5;t=3600' always;"
                                   "add_header RateLimit '\"second\";r=0;t=1' always;";
    for (auto const& [fields, count, requests] :
         {row{retry_after, 1, 60}, row{two_limits, 1, 60}, row{retry_after, 3, 60}, row{"", 3, 300}}) {
        SCOPED_TRACE(std::to_string(count) + " with " + fields);
        start_servers("limit_req zone=all;" + fields, count);
        start_gateway(std::string(retries) + " pushback_limit(2s)");
        outcome const total = load(requests);
        EXPECT_EQ(total.lost, 0u);
        EXPECT_GT(total.failures(), 0u) << "each allows 5 requests in a second, and there was no limit";
        auto const attempts = seen("GET");
        EXPECT_GE(greatest_count(attempts), 2u) << "nothing was tried again";
        EXPECT_LE(attempts.size(), requests + requests / 10 + 10); // a tenth, and what the budget keeps
        if (!fields.empty() && count == 1)
            EXPECT_GE(least_wait(), 0.99);
        else
            EXPECT_LT(least_wait(), 0.99);
    }
}

/// Half a second is how long a breaker stays open. What a server that is back is asked first says when it is
/// back: a busy machine makes that later too.
TEST_F(gateway_test, ten_seconds_without_a_server_cost_a_tenth_and_half_a_second_more) {
    start_servers();
    start_gateway(retries);
    EXPECT_EQ(load(200).failures(), 0u);
    double const attempts_before = attempts(), requests_before = requests();
    for (auto const& each : servers)
        each->kill();
    auto const until = std::chrono::steady_clock::now() + 10s;
    for (std::size_t asked = 0; asked < 1000 || std::chrono::steady_clock::now() < until; asked += 100) {
        outcome const total = load(100, {.between = [](std::size_t) { std::this_thread::sleep_for(2ms); }});
        EXPECT_EQ(total.failures(), total.requests);
        EXPECT_EQ(total.lost, 0u);
    }
    EXPECT_LE(attempts() - attempts_before, 1.1 * (requests() - requests_before));

    for (auto const& each : servers)
        each->start(); // which returns when it answers
    auto const back = std::chrono::steady_clock::now();
    for (;;) {
        auto const began = std::chrono::steady_clock::now();
        auto const status = ask("/page");
        if (began >= back + 500ms) {
            EXPECT_EQ(status, http::status::ok) << "no breaker has a reason to be open";
            break;
        }
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(load(500).failures(), 0u);
}

TEST_F(gateway_test, its_page_names_the_cause_of_a_failure_in_words_and_why_it_was_not_retried) {
    silent_server silent;
    std::string const breaker = "endpoint_set refused the attempt: the circuit breaker is open";
    start_servers("\n            add_header Retry-After 100 always; return 503;", 1);
    unsigned short const busy = servers.front()->port(), deaf_port = deaf.local_endpoint().port();
    struct row {
        std::string policy;
        std::vector<unsigned short> ports;
        std::string cause;
    };
    for (auto const& [policy, ports, cause] :
         {row{tries_once, {silent.port()}, "end of stream; no attempt is left"},
          row{"constant(1ms) max_attempts(9)", {silent.port()}, "end of stream; " + breaker},
          row{"constant(1h) no_jitter() max_attempts(2)", {silent.port()}, "end of stream; no time is left"},
          row{tries_once, {free_port()}, "Connection refused; no attempt is left"},
          row{"constant(1ms) max_attempts(1) attempt_timeout(20ms)",
              {deaf_port},
              "attempt timed out after 20 ms; no attempt is left"},
          row{tries_once, {busy}, "HTTP 503, retry after 100 s; no attempt is left"},
          row{tries_twice,
              {busy},
              "HTTP 503, retry after 100 s; the server wishes a longer pause than is allowed"}}) {
        start_gateway(policy, ports);
        load(1);
        EXPECT_THAT(causes(), ElementsAre(cause)) << policy;
    }
    std::deque<silent_server> const many(24); // so that hardly a breaker opens
    std::vector<unsigned short> ports;
    for (silent_server const& each : many)
        ports.push_back(each.port());
    start_gateway(tries_twice, ports);
    load(11); // of which ten are retried
    EXPECT_THAT(causes(), Contains("end of stream; retry_budget refused the retry"));
    start_gateway(tries_twice, {silent.port()});
    load(40); // the budget is spent too
    EXPECT_THAT(causes(), Contains(breaker + "; "));
}

// A gateway before it tells it so. A limit of its own instead would extend the client's deadline.
TEST_F(gateway_test, decision_65_asks_no_server_when_no_time_is_left) {
    start_gateway(tries_once, {deaf.local_endpoint().port()});
    EXPECT_EQ(ask("/page", "0"), http::status::gateway_timeout);
    EXPECT_EQ(attempts(), 0);
    EXPECT_EQ(ask("/page", "1"), http::status::gateway_timeout);
    std::string const attempt_ended = "attempt timed out after 1 s; no attempt is left";
    EXPECT_THAT(causes(), testing::Not(Contains(attempt_ended)));
    EXPECT_EQ(ask("/page", "9000"), http::status::gateway_timeout);
    EXPECT_THAT(causes(), Contains(attempt_ended));
}

TEST_F(gateway_test, says_which_port_is_taken_and_which_option_changes_it) {
    for (std::vector<std::string> const& options :
         {std::vector<std::string>{"--demo"}, {"--upstream", "127.0.0.1:1"}}) {
        auto const taken = deaf.local_endpoint().port();
        std::filesystem::remove(folder / "log");
        EXPECT_EQ(child_process(gateway_process::command(taken, options), folder / "log").wait(), 2);
        std::ifstream log(folder / "log");
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(log), {}),
                  "gateway: cannot listen on 127.0.0.1:" + std::to_string(taken) +
                      ": Address already in use; choose another port with --listen ADDRESS:PORT, where 0 is "
                      "any free one\n");
    }
}

// It once took no client any more after it had been out of files.
TEST_F(gateway_test, takes_clients_again_when_it_has_files_again) {
    start_servers();
    start_gateway(retries);
    pid_t const id = gateway->process().id();
    ::rlimit few{};
    ASSERT_EQ(::prlimit(id, RLIMIT_NOFILE, nullptr, &few), 0);
    few.rlim_cur = 32;
    ASSERT_EQ(::prlimit(id, RLIMIT_NOFILE, &few, nullptr), 0);
    {
        asio::io_context io;
        std::vector<tcp::socket> idle;
        for (rlim_t i = 0; i != few.rlim_cur; ++i)
            idle.emplace_back(io).connect(on_loopback(gateway->port()));
        auto const files = [&] {
            std::filesystem::directory_iterator const all("/proc/" + std::to_string(id) + "/fd"), none;
            return std::distance(all, none);
        };
        while (files() < 32)
            std::this_thread::yield();
    }
    EXPECT_EQ(ask("/page"), http::status::ok);
}

// Which a function of the same name in the standard library would do otherwise.
TEST_F(gateway_test, tells_its_page_in_ascii_which_requests_failed) {
    start_gateway(retries, {free_port()});
    EXPECT_EQ(ask("/caf\xe9"), http::status::bad_gateway);
    EXPECT_THAT(status(), testing::HasSubstr(R"("target":"/caf\u00e9")"));
}

TEST_F(gateway_test, stops_when_it_is_told_to_and_every_answer_is_written) {
    start_servers();
    start_gateway(retries);
    servers[0]->stop(); // so that some wait
    outcome total;
    std::jthread clients([&] { total = load(400); });
    while (seen("GET").size() < 50)
        std::this_thread::yield();
    EXPECT_EQ(gateway->end(), 0);
    clients.join();
    EXPECT_GT(total.lost, 0u) << "it was not told while there were clients";
    for (std::size_t const i : {1u, 2u})
        for (std::string const& id : servers[i]->seen("GET"))
            EXPECT_TRUE(total.answered.contains(id)) << id;
    servers[0]->go_on();
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&gateway_program, &nginx}, "nginx");
}
