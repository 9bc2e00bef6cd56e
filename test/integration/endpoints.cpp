// Three nginx that are slowed down, stopped and killed, and return one by one. They are asked through
// on_endpoint alone, through the gateway of example/gateway, and through haproxy as the control, all at the
// same time.
#include "child_process.hpp"
#include "nginx_fleet.hpp"
#include "own_folder.hpp"
#include "ports.hpp"
#include "run_with_programs.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/traffic/retry_budget.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto slow = 50 * usual_delay;

/// What clients saw on one road.
struct outcome {
    std::size_t asked = 0, failed = 0;
    std::vector<std::chrono::duration<double, std::milli>> took;

    double quantile(double share) const {
        auto sorted = took;
        std::ranges::sort(sorted);
        return sorted.at(static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))).count();
    }
};

/// One way to the servers.
struct road {
    std::string name;
    std::function<asio::awaitable<response>(request const&)> answer;
    std::map<http::verb, outcome> outcomes{};
};

constexpr char const* retries =
    "exponential(10ms, cap=200ms) max_attempts(4) attempt_timeout(2s) wait_when_refused()";

/// A client that chooses among the servers itself, with the options of the gateway.
class direct_client {
public:
    explicit direct_client(std::vector<tcp::endpoint> const& servers)
        : servers_(std::make_shared<endpoint_set<tcp::endpoint>>(servers, options()))
        , repeats_(parse_policy(retries).total_timeout(10s).gate(budget()))
        , repeats_unsent_(repeats_.retry_sent(false)) {}

    asio::awaitable<response> answer(request const& question) {
        auto const one = on_endpoint(
            [&question](attempt which, tcp::endpoint const& at) {
                return ask(at, question, [which] { which.mark_sent(); });
            },
            servers_);
        auto const judge = [](response const& r) { return judge_http(static_cast<int>(r.result_int())); };
        co_return co_await async_retry(fail_if(one, judge),
                                       question.method() == http::verb::get ? repeats_ : repeats_unsent_);
    }

private:
    static endpoint_options options() {
        endpoint_options result;
        result.breaker.consecutive = 3;
        result.breaker.open_for = 500ms;
        result.breaker.growth = 1;
        result.breaker.probes = 1;
        return result;
    }

    static std::shared_ptr<retry_budget> budget() {
        retry_budget_options ten;
        ten.keep = ten.initial = 10;
        return std::make_shared<retry_budget>(ten);
    }

    std::shared_ptr<endpoint_set<tcp::endpoint>> servers_;
    retry_policy repeats_, repeats_unsent_;
};

class endpoints_test : public test_in_folder {
protected:
    endpoints_test()
        : test_in_folder("endpoints") {
        for (char const* const name : {"a", "b", "c"})
            fleet.add(nginx, folder / name);
        direct.emplace(fleet.run());
        roads.push_back({"on_endpoint", [this](request const& r) { return direct->answer(r); }});
        roads.push_back({"gateway", [to = start_gateway()](request const& r) { return ask(to, r); }});
        roads.push_back({"haproxy", [to = start_haproxy()](request const& r) { return ask(to, r); }});
    }

    ~endpoints_test() override { processes.clear(); }

    tcp::endpoint start_gateway() {
        unsigned short const port = free_port();
        std::ofstream file(folder / "gateway.conf");
        file << "policy = " << retries << "\ntimeout = 10\nquiet = true\nlisten = 127.0.0.1:" << port << '\n';
        for (auto const& each : fleet.servers)
            file << "upstream = 127.0.0.1:" << each->port() << '\n';
        file.close();
        return start(port, {gateway, "--config", (folder / "gateway.conf").string()});
    }

    tcp::endpoint start_haproxy() {
        unsigned short const port = free_port();
        std::ofstream(folder / "haproxy.conf") << haproxy_before(port, fleet.endpoints(), "2s");
        return start(port, {haproxy, "-db", "-f", (folder / "haproxy.conf").string()});
    }

    tcp::endpoint start(unsigned short port, std::vector<std::string> arguments) {
        std::string const log = std::filesystem::path(arguments.front()).filename().string() + ".log";
        processes.push_back(std::make_unique<child_process>(std::move(arguments), folder / log));
        wait_until_it_answers(port);
        return on_loopback(port);
    }

    nginx_fleet fleet;
    std::vector<std::unique_ptr<child_process>> processes;
    std::optional<direct_client> direct;
    std::vector<road> roads;
};

constexpr auto tick = 10ms;
constexpr auto all_are_well = 16s, end = 20s;

using changes_at = std::map<std::chrono::milliseconds, std::function<void()>>;

/// A request begins on each road in each tick, whether or not earlier ones have been answered.
class load {
public:
    explicit load(std::vector<road>& roads)
        : roads_(roads) {}

    /// `changes` says what happens when.
    void run(changes_at changes) {
        std::exception_ptr thrown;
        asio::co_spawn(io_, send_all(std::move(changes)), [&](std::exception_ptr e) { thrown = e; });
        io_.run();
        if (thrown)
            std::rethrow_exception(thrown);
    }

private:
    asio::awaitable<void> send_all(changes_at changes) {
        asio::steady_timer timer(io_);
        auto const began = steady::now();
        for (std::size_t i = 0; i * tick != end; ++i) {
            timer.expires_at(began + i * tick);
            co_await timer.async_wait(asio::use_awaitable);
            if (auto const change = changes.find(i * tick); change != changes.end())
                change->second();
            for (road& each : roads_)
                asio::co_spawn(io_, send(each, i % 4 == 3 ? http::verb::post : http::verb::get, i),
                               asio::detached);
        }
    }

    static asio::awaitable<void> send(road& on, http::verb method, std::size_t number) {
        request question(method, "/page", 11);
        question.set(http::field::host, "localhost");
        question.set("X-Id",
                     on.name + '-' + std::string(question.method_string()) + '-' + std::to_string(number));
        question.keep_alive(false);
        question.prepare_payload();
        outcome& result = on.outcomes[method];
        ++result.asked;
        bool succeeds = false;
        auto const began = steady::now();
        try {
            response const answer = co_await on.answer(question);
            succeeds = answer.result() == http::status::ok;
        } catch (boost::system::system_error const&) { // as much a failure as another status
        }
        result.failed += !succeeds;
        result.took.push_back(steady::now() - began);
    }

    std::vector<road>& roads_;
    asio::io_context io_{1};
};

/// What the servers have seen of one road.
struct trace {
    std::size_t gets = 0;        ///< with retries
    std::size_t posts_twice = 0; ///< by one server, or by two
    std::size_t late_at = 0;     ///< servers that saw one of its last requests
};

trace trace_of(std::string const& road, std::vector<std::unique_ptr<server>> const& servers) {
    trace result;
    seen_ids posts;
    for (auto const& each : servers) {
        bool is_late = false;
        for (auto const& [id, times] : each->seen()) {
            if (!id.starts_with(road + '-'))
                continue;
            is_late = is_late || std::stoul(id.substr(id.rfind('-') + 1)) * tick >= all_are_well;
            if (id.starts_with(road + "-GET"))
                result.gets += times;
            else
                posts[id] += times;
        }
        result.late_at += is_late;
    }
    for (auto const& [id, times] : posts)
        result.posts_twice += times > 1;
    return result;
}

void report(road const& one, trace const& seen) {
    outcome const& gets = one.outcomes.at(http::verb::get);
    outcome const& posts = one.outcomes.at(http::verb::post);
    std::cout << one.name << ": GET " << gets.failed << " of " << gets.asked << " failed, seen " << seen.gets
              << " times, p50 " << gets.quantile(0.5) << " ms, p99 " << gets.quantile(0.99) << " ms; POST "
              << posts.failed << " of " << posts.asked << " failed, " << seen.posts_twice << " seen twice"
              << std::endl;
}

/// All roads lead over the same machine at the same time, so what that does to one it does to all. A quarter is
/// for what differs even so.
TEST_F(endpoints_test, decision_64_is_no_worse_than_haproxy_and_sees_no_post_twice) {
    server& a = *fleet.servers[0];
    server& b = *fleet.servers[1];
    server& c = *fleet.servers[2];
    load(roads).run({
        {2s, [&] { c.behind.delay = slow; }},
        {4s, [&] { b.stop(); }},
        {8s, [&] { a.kill(); }},
        {11s, [&] { a.start(); }},
        {14s, [&] { b.go_on(); }},
        {all_are_well, [&] { c.behind.delay = usual_delay; }},
    });
    fleet.end();

    outcome const& control = roads.back().outcomes[http::verb::get];
    for (road const& each : roads) {
        trace const seen = trace_of(each.name, fleet.servers);
        report(each, seen);
        EXPECT_EQ(seen.posts_twice, 0u) << each.name;
        outcome const& gets = each.outcomes.at(http::verb::get);
        EXPECT_LE(gets.failed, control.failed) << each.name;
        EXPECT_LE(gets.quantile(0.99), 1.25 * control.quantile(0.99)) << each.name;
        EXPECT_GT(seen.gets, gets.asked) << each.name << ": nothing was tried again";
        EXPECT_EQ(seen.late_at, fleet.servers.size()) << each.name << ": a server that is back is not asked";
    }
}

} // namespace
} // namespace asio_retry::test

int main(int argc, char** argv) {
    using namespace asio_retry::test;
    return run_with_programs(argc, argv, {&gateway, &haproxy, &nginx}, "nginx or haproxy");
}
