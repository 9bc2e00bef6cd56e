// The gateway of example/gateway before three nginx that are killed, stopped and made to refuse. What its
// clients see, and what the servers have counted.
#include "child_process.hpp"
#include "logging_nginx.hpp"
#include "own_folder.hpp"
#include "ports.hpp"
#include "run_with_programs.hpp"

#include <asio_retry/retry.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace asio_retry::test {
namespace {

namespace http = boost::beast::http;
using namespace std::chrono_literals;

std::string nginx, gateway; // the programs

/// Reads each request, counts it by its method, and closes the connection without an answer.
class silent_server {
public:
    silent_server() {
        acceptor_.non_blocking(true);
        thread_ = std::jthread([this](std::stop_token token) { serve(token); });
    }

    unsigned short port() const { return acceptor_.local_endpoint().port(); }

    std::size_t seen(http::verb method) const {
        std::lock_guard const lock(mutex_);
        auto const found = seen_.find(method);
        return found == seen_.end() ? 0 : found->second;
    }

private:
    void serve(std::stop_token const& token) {
        asio::co_spawn(io_, accept(), asio::detached);
        std::stop_callback const stop(token, [this] { io_.stop(); });
        io_.run();
    }

    asio::awaitable<void> accept() {
        for (;;) {
            tcp::socket client = co_await acceptor_.async_accept(asio::use_awaitable);
            boost::beast::flat_buffer buffer;
            http::request<http::string_body> question;
            co_await http::async_read(client, buffer, question, asio::use_awaitable);
            std::lock_guard const lock(mutex_);
            ++seen_[question.method()];
        }
    }

    asio::io_context io_;
    tcp::acceptor acceptor_{io_, on_loopback(0)};
    std::mutex mutable mutex_;
    std::map<http::verb, std::size_t> seen_;
    std::jthread thread_;
};

struct outcome {
    std::size_t requests = 0;
    std::size_t failures = 0; ///< other answers than 200, and none
    std::size_t lost = 0;     ///< no answer
    std::set<std::string> answered;
};

class gateway_test : public test_in_folder {
protected:
    gateway_test()
        : test_in_folder("gateway") {}
    ~gateway_test() override {
        process.reset();
        servers.clear();
    }

    void start_servers(std::string const& refusal = {}) {
        for (char const* const name : {"a", "b", "c"})
            servers.push_back(std::make_unique<logging_nginx>(nginx, folder / name, refusal));
    }

    void start_gateway(std::string const& policy) {
        std::vector<unsigned short> ports;
        for (auto const& each : servers)
            ports.push_back(each->port());
        start_gateway(policy, ports);
    }

    void start_gateway(std::string const& policy, std::vector<unsigned short> const& ports) {
        process.reset();
        port = free_port();
        std::ofstream file(folder / "gateway.conf");
        file << "policy = " << policy << "\ntimeout = 5\nquiet = true\nlisten = 127.0.0.1:1\n";
        for (unsigned short const each : ports)
            file << "upstream = 127.0.0.1:" << each << '\n';
        file.close();
        std::vector<std::string> arguments{gateway, "--config", (folder / "gateway.conf").string(), "--listen",
                                           "127.0.0.1:" + std::to_string(port)}; // which comes first
        process.emplace(std::move(arguments), folder / "gateway.log");
        wait_until_it_answers(port);
    }

    /// Four clients, each on a connection that lasts, until `count` requests are answered. `between` is called
    /// before each.
    outcome load(std::size_t count, http::verb method = http::verb::get,
                 std::function<void(std::size_t)> between = {}) {
        asio::io_context io;
        outcome total;
        for (int client = 0; client != 4; ++client)
            asio::co_spawn(io, ask_again_and_again(total, count, method, between), [](std::exception_ptr e) {
                if (e)
                    std::rethrow_exception(e);
            });
        io.run();
        return total;
    }

    asio::awaitable<void> ask_again_and_again(outcome& total, std::size_t count, http::verb method,
                                              std::function<void(std::size_t)> const& between) {
        std::optional<tcp::socket> socket;
        boost::beast::flat_buffer buffer;
        while (total.requests != count) {
            if (between)
                between(total.requests);
            http::request<http::string_body> question(method, "/page", 11);
            question.set(http::field::host, "localhost");
            question.set("X-Id", std::to_string(next_id++));
            question.prepare_payload();
            ++total.requests;
            try {
                if (!socket) {
                    socket.emplace(co_await asio::this_coro::executor);
                    co_await socket->async_connect(on_loopback(port), asio::use_awaitable);
                    socket->set_option(tcp::no_delay(true));
                }
                co_await http::async_write(*socket, question, asio::use_awaitable);
                http::response<http::string_body> answer;
                co_await http::async_read(*socket, buffer, answer, asio::use_awaitable);
                total.failures += answer.result() != http::status::ok;
                total.answered.insert(std::string(question["X-Id"]));
                if (!answer.keep_alive())
                    socket.reset();
            } catch (boost::system::system_error const&) {
                ++total.failures;
                ++total.lost;
                socket.reset();
                buffer.clear();
            }
        }
    }

    /// Of all servers together.
    std::vector<std::string> seen(std::string const& method) const {
        std::vector<std::string> all;
        for (auto const& each : servers)
            for (std::string& id : each->seen(method))
                all.push_back(std::move(id));
        return all;
    }

    /// What someone answers, on a connection of its own.
    static http::response<http::string_body> ask(unsigned short whom, std::string const& target,
                                                 std::string const& timeout_ms = {}) {
        asio::io_context io;
        tcp::socket socket(io);
        socket.connect(on_loopback(whom));
        http::request<http::string_body> question(http::verb::get, target, 11);
        question.set(http::field::host, "localhost");
        question.keep_alive(false);
        if (!timeout_ms.empty())
            question.set("X-Request-Timeout-Ms", timeout_ms);
        http::write(socket, question);
        boost::beast::flat_buffer buffer;
        http::response<http::string_body> answer;
        http::read(socket, buffer, answer);
        return answer;
    }

    /// How many attempts and requests of the gateway have ended.
    std::pair<double, double> attempts_and_requests() const {
        std::istringstream text(ask(port, "/metrics").body());
        std::pair<double, double> sums;
        for (std::string line; std::getline(text, line);) {
            double const value = std::strtod(line.c_str() + line.rfind(' ') + 1, nullptr);
            if (line.starts_with("asio_retry_attempts_total"))
                sums.first += value;
            else if (line.starts_with("asio_retry_operations_total"))
                sums.second += value;
        }
        return sums;
    }

    /// The values of that name on `/gateway/status`, strings without their quotes.
    std::vector<std::string> in_status(std::string const& name) const {
        std::string const text = ask(port, "/gateway/status").body();
        std::regex const pattern('"' + name + R"re(":(?:"([^"]*)"|([^",}]*)))re");
        std::vector<std::string> result;
        for (std::sregex_iterator found(text.begin(), text.end(), pattern), end; found != end; ++found)
            result.push_back((*found)[1].str() + (*found)[2].str());
        return result;
    }

    /// Of the last failures, newest first: the cause, and why there was no further attempt.
    std::vector<std::string> causes() const {
        std::vector<std::string> all = in_status("cause");
        std::vector<std::string> const ends = in_status("end");
        for (std::size_t i = 0; i != all.size(); ++i)
            all[i] += "; " + ends.at(i);
        return all;
    }

    /// The least time from an answer 503 to the next attempt of its request, in seconds.
    double least_pause() const {
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
    std::optional<child_process> process;
    unsigned short port = 0;
    std::size_t next_id = 0;
};

constexpr char const* retries = "exponential(10ms, cap=200ms) max_attempts(4) attempt_timeout(1s)";
constexpr char const* tries_once = "constant(10ms) max_attempts(1) attempt_timeout(1s)";

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
        outcome const total = load(2000, http::verb::get, [&](std::size_t n) {
            if (n == 500)
                servers[0]->kill();
            else if (n == 1000)
                servers[1]->stop();
        });
        if (with_retries) {
            EXPECT_EQ(total.failures, 0u);
            EXPECT_LE(static_cast<double>(seen("GET").size() - before), 1.1 * 2000);
        } else {
            EXPECT_GT(total.failures, 0u) << "the control";
        }
        servers[1]->go_on();
        servers[0]->start();
    }
}

TEST_F(gateway_test, what_was_sent_and_is_not_idempotent_is_not_sent_again) {
    start_servers();
    start_gateway(retries);
    outcome const total = load(2000, http::verb::post, [&](std::size_t n) {
        if (n % 200 == 100)
            servers[n / 200 % 3]->kill();
        else if (n % 200 == 150)
            servers[n / 200 % 3]->start();
    });
    EXPECT_EQ(total.lost, 0u);
    EXPECT_GT(seen("POST").size(), 100u);
    EXPECT_LE(greatest_count(seen("POST")), 1u);
}

TEST_F(gateway_test, a_request_that_was_read_is_sent_again_only_if_it_is_idempotent) {
    silent_server one, other;
    auto const seen = [&](http::verb method) { return one.seen(method) + other.seen(method); };
    start_gateway(retries, {one.port(), other.port()});
    EXPECT_EQ(load(1, http::verb::post).failures, 1u);
    EXPECT_EQ(seen(http::verb::post), 1u);
    EXPECT_EQ(load(1, http::verb::get).failures, 1u);
    EXPECT_EQ(seen(http::verb::get), 4u);
}

TEST_F(gateway_test, servers_that_refuse_everything_get_hardly_more_than_is_asked) {
    start_servers("\n            return 503;");
    start_gateway(retries);
    EXPECT_EQ(load(1000).failures, 1000u);
    EXPECT_LE(seen("GET").size(), 1100u);
    EXPECT_EQ(load(1).lost, 0u);
}

TEST_F(gateway_test, answers_again_when_the_servers_are_back) {
    start_servers();
    start_gateway(retries);
    for (auto const& each : servers)
        each->kill();
    EXPECT_EQ(load(1000).failures, 1000u);
    for (auto const& each : servers)
        each->start();
    auto const ask = [&] {
        if (load(50).failures != 0) // until every breaker has closed
            throw std::runtime_error("no answer");
    };
    EXPECT_NO_THROW(retry(ask, retry_policy().backoff(constant(50ms)).unlimited_attempts().max_elapsed(10s)));
    EXPECT_EQ(load(500).failures, 0u);
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
        servers.clear();
        for (char const* const each : {"a", "b", "c"})
            std::filesystem::remove_all(folder / each);
        start_servers("limit_req zone=all;" + fields);
        servers.resize(count);
        start_gateway("exponential(10ms, cap=200ms) max_attempts(4) attempt_timeout(1s) pushback_limit(2s)");
        outcome const total = load(requests);
        EXPECT_EQ(total.lost, 0u);
        EXPECT_GT(total.failures, 0u) << "each allows 5 requests in a second, and there was no limit";
        auto const attempts = seen("GET");
        EXPECT_GE(greatest_count(attempts), 2u) << "nothing was tried again";
        EXPECT_LE(attempts.size(), requests + requests / 10 + 10); // a tenth, and what the budget keeps
        if (!fields.empty() && count == 1)
            EXPECT_GE(least_pause(), 0.99);
        else
            EXPECT_LT(least_pause(), 0.99);
    }
}

/// Half a second is how long a breaker stays open. What a server that is back is asked first says when it is
/// back: a busy machine makes that later too.
TEST_F(gateway_test, ten_seconds_without_a_server_cost_a_tenth_and_half_a_second_more) {
    start_servers();
    start_gateway(retries);
    EXPECT_EQ(load(200).failures, 0u);
    auto const [attempts_before, requests_before] = attempts_and_requests();
    for (auto const& each : servers)
        each->kill();
    auto const until = std::chrono::steady_clock::now() + 10s;
    for (std::size_t asked = 0; asked < 1000 || std::chrono::steady_clock::now() < until; asked += 100) {
        outcome const total = load(100, http::verb::get, [](std::size_t) { std::this_thread::sleep_for(2ms); });
        EXPECT_EQ(total.failures, total.requests);
        EXPECT_EQ(total.lost, 0u);
    }
    auto const [attempts, requests] = attempts_and_requests();
    EXPECT_LE(attempts - attempts_before, 1.1 * (requests - requests_before));

    for (auto const& each : servers)
        each->start(); // which returns when it answers
    auto const back = std::chrono::steady_clock::now();
    for (;;) {
        auto const began = std::chrono::steady_clock::now();
        auto const status = ask(port, "/page").result();
        if (began >= back + 500ms) {
            EXPECT_EQ(status, http::status::ok) << "no breaker has a reason to be open";
            break;
        }
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(load(500).failures, 0u);
}

/// With three failures a breaker opens; then most attempts are refused, and ask nobody.
TEST_F(gateway_test, counts_only_what_a_server_was_asked) {
    silent_server silent;
    start_gateway("constant(1ms) max_attempts(2)", {silent.port()});
    EXPECT_EQ(load(100).failures, 100u);
    auto const [attempts, requests] = attempts_and_requests();
    EXPECT_EQ(attempts, static_cast<double>(silent.seen(http::verb::get)));
    EXPECT_LT(attempts, requests / 2) << "no attempt was refused";
}

TEST_F(gateway_test, its_page_names_the_cause_of_a_failure_in_words_and_why_it_was_not_retried) {
    using testing::Contains;
    silent_server silent;
    std::string const twice = "constant(1ms) max_attempts(2)";
    std::deque<silent_server> const many(24); // so that hardly a breaker opens
    std::vector<unsigned short> ports;
    for (silent_server const& each : many)
        ports.push_back(each.port());
    start_gateway(twice, ports);
    load(1);
    EXPECT_THAT(causes(), testing::ElementsAre("end of stream; no attempt is left"));
    load(10); // of which nine are retried
    EXPECT_THAT(causes(), Contains("end of stream; retry_budget refused the retry"));

    std::string const breaker = "endpoint_set refused the attempt: the circuit breaker is open";
    start_gateway(twice, {silent.port()});
    load(40); // the budget is spent too
    EXPECT_THAT(causes(), Contains(breaker + "; "));
    start_gateway("constant(1ms) max_attempts(9)", {silent.port()});
    load(1);
    EXPECT_THAT(causes(), testing::ElementsAre("end of stream; " + breaker));

    start_gateway("constant(1ms) max_attempts(1) attempt_timeout(20ms)", {deaf.local_endpoint().port()});
    load(1);
    EXPECT_THAT(causes(), testing::ElementsAre("attempt timed out after 20 ms; no attempt is left"));

    start_gateway("constant(1h) no_jitter() max_attempts(2)", {silent.port()});
    load(1);
    EXPECT_THAT(causes(), testing::ElementsAre("end of stream; no time is left"));

    start_gateway(tries_once, {free_port()});
    load(1);
    EXPECT_THAT(causes(), testing::ElementsAre("Connection refused; no attempt is left"));

    start_servers("\n            add_header Retry-After 100 always; return 503;");
    start_gateway("constant(1ms) max_attempts(2) pushback_limit(2s)", {servers.front()->port()});
    load(1);
    EXPECT_THAT(causes(), testing::ElementsAre("HTTP 503, retry after 100 s; the server wishes a longer pause "
                                               "than is allowed"));
    for (std::string const& policy : {std::string(tries_once), twice + " pushback_limit(2s)"}) {
        start_gateway(policy); // the wish of one server rests that one alone
        load(1);
        EXPECT_THAT(causes(), testing::ElementsAre("HTTP 503, retry after 100 s; no attempt is left"));
    }
}

// A gateway before it tells it so. A limit of its own instead would extend the client's deadline.
TEST_F(gateway_test, decision_65_asks_no_server_when_no_time_is_left) {
    start_gateway(tries_once, {deaf.local_endpoint().port()});
    EXPECT_EQ(ask(port, "/page", "0").result(), http::status::gateway_timeout);
    EXPECT_EQ(attempts_and_requests().first, 0);
    EXPECT_EQ(ask(port, "/page", "1").result(), http::status::gateway_timeout);
    std::string const attempt_ended = "attempt timed out after 1 s; no attempt is left";
    EXPECT_THAT(causes(), testing::Not(testing::Contains(attempt_ended)));
    EXPECT_EQ(ask(port, "/page", "9000").result(), http::status::gateway_timeout);
    EXPECT_THAT(causes(), testing::Contains(attempt_ended));
}

TEST_F(gateway_test, says_which_port_is_taken_and_which_option_changes_it) {
    std::string const taken = std::to_string(deaf.local_endpoint().port());
    for (std::vector<std::string> const& with :
         {std::vector<std::string>{"--demo"}, {"--upstream", "127.0.0.1:1"}}) {
        std::vector<std::string> arguments{gateway, "--listen", "127.0.0.1:" + taken};
        arguments.insert(arguments.end(), with.begin(), with.end());
        std::filesystem::remove(folder / "taken.log");
        EXPECT_EQ(child_process(std::move(arguments), folder / "taken.log").wait(), 2);
        std::ifstream log(folder / "taken.log");
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(log), {}),
                  "gateway: port " + taken +
                      " of 127.0.0.1 is taken; choose another one with --listen ADDRESS:PORT, or any free port "
                      "with --listen 127.0.0.1:0\n");
    }
}

// It once took no client any more after it had been out of files.
TEST_F(gateway_test, takes_clients_again_when_it_has_files_again) {
    start_servers();
    start_gateway(retries);
    ::rlimit few{};
    ASSERT_EQ(::prlimit(process->id(), RLIMIT_NOFILE, nullptr, &few), 0);
    few.rlim_cur = 32;
    ASSERT_EQ(::prlimit(process->id(), RLIMIT_NOFILE, &few, nullptr), 0);
    {
        asio::io_context io;
        std::vector<tcp::socket> idle;
        for (rlim_t i = 0; i != few.rlim_cur; ++i)
            idle.emplace_back(io).connect(on_loopback(port));
        std::filesystem::directory_iterator const none;
        auto const files = [&] {
            std::filesystem::directory_iterator const all("/proc/" + std::to_string(process->id()) + "/fd");
            return std::distance(begin(all), none);
        };
        while (files() < 32)
            std::this_thread::yield();
    }
    EXPECT_EQ(ask(port, "/page").result(), http::status::ok);
}

// Which a function of the same name in the standard library would do otherwise.
TEST_F(gateway_test, tells_its_page_in_ascii_which_requests_failed) {
    start_gateway(retries, {free_port()});
    EXPECT_GE(ask(port, "/caf\xe9").result_int(), 500u);
    EXPECT_THAT(ask(port, "/gateway/status").body(), testing::HasSubstr(R"("target":"/caf\u00e9")"));
}

TEST_F(gateway_test, stops_when_it_is_told_to_and_every_answer_is_written) {
    start_servers();
    start_gateway(retries);
    servers[0]->stop(); // so that some wait
    outcome total;
    std::jthread clients([&] { total = load(400); });
    while (seen("GET").size() < 50)
        std::this_thread::yield();
    process->send(SIGTERM);
    EXPECT_EQ(process->wait(), 0);
    process.reset();
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
    return run_with_programs(argc, argv, {&gateway, &nginx}, "nginx");
}
