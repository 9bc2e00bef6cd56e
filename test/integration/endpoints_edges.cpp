// Three nginx, of which one asks for rest, one refuses at once, or one leaves the list and comes back. The same
// requests go through on_endpoint and, at the same time, through haproxy as the control. Requests and answers
// count here, and no time that anything took.
#include "nginx_fleet.hpp"
#include "own_folder.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/on_endpoint.hpp>
#include <asio_retry/retry_observer.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using server_set = endpoint_set<tcp::endpoint>;

/// While the file `busy` is in its folder, it answers 503 and wants rest for so long.
nginx_extras rest_while_busy(std::filesystem::path const& folder, std::chrono::seconds rest) {
    return {.before = "error_page 503 @busy; if (-f " + (folder / "busy").string() + ") { return 503; } ",
            .locations = "location @busy { add_header Retry-After " + std::to_string(rest.count()) +
                         " always; return 503; }\n"};
}

/// Answers 429 at once, but for one request in a minute. haproxy does not retry a 429, so it gets a 503.
nginx_extras refuse_at_once() {
    return {.around = "limit_req_zone $server_port zone=one:1m rate=1r/m;",
            .before = "limit_req zone=one; limit_req_status 429; error_page 429 @refused; ",
            .locations = "location @refused { if ($http_x_id ~ ^haproxy) { return 503; } return 429; }\n"};
}

/// An attempt of `on_endpoint`, as the client saw it. The set has chosen before `began`, and has heard the
/// answer after `answered`.
struct seen_attempt {
    tcp::endpoint at;
    time_point began, answered{};
    unsigned status = 0;
};

class waits final : public retry_observer {
public:
    void on_event(observation const& event) noexcept override {
        if (event.what == observation::kind::retry_decided || event.what == observation::kind::held)
            longest = std::max(longest, event.delay);
        refusals += event.what == observation::kind::refused;
    }

    duration longest{};
    std::size_t refusals = 0;
};

class endpoints_edges : public test_in_folder {
protected:
    endpoints_edges()
        : test_in_folder("endpoints_edges") {}

    /// Three servers, of which `a` has these extras, and both roads to them.
    void start(nginx_extras const& of_a, endpoint_options const& options = {}) {
        fleet.add(nginx, folder / "a", of_a);
        fleet.add(nginx, folder / "b");
        fleet.add(nginx, folder / "c");
        all = fleet.run();
        a = all[0];
        set = std::make_shared<server_set>(all, options);
        std::ofstream(folder / "haproxy.conf") << haproxy_before(
            haproxy_at.port(), all, "10m", "    stats socket " + haproxy_socket.string() + " level admin\n");
        balancer = std::make_unique<child_process>(
            std::vector<std::string>{haproxy, "-db", "-f", (folder / "haproxy.conf").string()},
            folder / "haproxy.log");
        wait_until_it_answers(haproxy_at.port());
    }

    /// So many requests on each road.
    void send(std::size_t count, std::size_t at_once = 8) {
        for (road* each : {&chosen, &control}) {
            each->due += count;
            for (std::size_t i = 0; i != at_once; ++i)
                asio::co_spawn(io, work(*each), [](std::exception_ptr e) {
                    if (e)
                        std::rethrow_exception(e);
                });
        }
        io.restart();
        io.run();
    }

    /// One request after the other, until `a` has been asked so often.
    void send_until_a_was_asked(std::size_t times) {
        while (at_a() < times)
            send(1, 1);
    }

    /// Attempts of on_endpoint there.
    std::vector<seen_attempt> attempts_at_a() const {
        std::vector<seen_attempt> found;
        std::ranges::copy_if(attempts, std::back_inserter(found),
                             [this](seen_attempt const& each) { return each.at == a; });
        return found;
    }
    std::size_t at_a() const { return attempts_at_a().size(); }

    endpoint_status status_of_a() const {
        endpoint_status found;
        set->for_each([&](tcp::endpoint const& at, endpoint_status const& status) {
            if (at == a)
                found = status;
        });
        return found;
    }

    void make_busy() const { std::ofstream(folder / "a" / "busy"); }
    void make_well() const { std::filesystem::remove(folder / "a" / "busy"); }

    void tell_haproxy(std::string const& command) const {
        asio::io_context own;
        asio::local::stream_protocol::socket socket(own);
        socket.connect(haproxy_socket.string());
        asio::write(socket, asio::buffer(command + '\n'));
        std::string answer;
        boost::system::error_code until_closed;
        asio::read(socket, asio::dynamic_buffer(answer), until_closed);
        ASSERT_EQ(answer, "\n") << command;
    }

    void expect_that_none_failed() {
        for (road const* each : {&chosen, &control})
            std::cout << each->name << ": " << each->failed << " of " << each->asked << " failed, "
                      << requests_at_a(each->name) << " at the server in trouble\n";
        EXPECT_EQ(chosen.failed, 0u);
        EXPECT_LE(chosen.failed, control.failed);
        EXPECT_EQ(waits_of_all->refusals, 0u);
        EXPECT_LE(waits_of_all->longest, greatest_delay) << "an operation has waited for the server";
    }

    /// As the server has seen them. It ends.
    std::size_t requests_at_a(std::string const& of) {
        fleet.servers[0]->end();
        std::size_t found = 0;
        for (auto const& [id, times] : fleet.servers[0]->seen())
            if (id.starts_with(of))
                found += times;
        return found;
    }

    nginx_fleet fleet;
    std::vector<tcp::endpoint> all;
    tcp::endpoint a;
    std::shared_ptr<server_set> set;
    std::vector<seen_attempt> attempts;

private:
    struct road {
        std::string name;
        std::function<asio::awaitable<response>(request const&)> answer;
        std::size_t due = 0, asked = 0, failed = 0;
    };

    asio::awaitable<void> work(road& on) {
        while (on.asked < on.due) {
            request question(http::verb::get, "/page", 11);
            question.set(http::field::host, "localhost");
            question.set("X-Id", on.name + '-' + std::to_string(++on.asked));
            question.keep_alive(false);
            bool succeeds = false;
            try {
                response const answer = co_await on.answer(question);
                succeeds = answer.result() == http::status::ok;
            } catch (boost::system::system_error const&) { // as much a failure as another status
            }
            on.failed += !succeeds;
        }
    }

    asio::awaitable<response> choose(request const& question) {
        auto const one = on_endpoint([&](tcp::endpoint const& at) { return attempt_at(at, question); }, set);
        auto const judge = [](response const& r) {
            return judge_http(static_cast<int>(r.result_int()), r[http::field::retry_after]);
        };
        co_return co_await async_retry(fail_if(one, judge), policy);
    }

    asio::awaitable<response> attempt_at(tcp::endpoint at, request const& question) {
        std::size_t const number = attempts.size();
        attempts.push_back({at, std::chrono::steady_clock::now()});
        response answer = co_await ask(at, question);
        attempts[number].answered = std::chrono::steady_clock::now();
        attempts[number].status = answer.result_int();
        co_return answer;
    }

    static constexpr duration greatest_delay = 200ms;

    asio::io_context io{1};
    tcp::endpoint const haproxy_at = on_loopback(free_port());
    std::filesystem::path const haproxy_socket = folder / "socket";
    std::unique_ptr<child_process> balancer;
    std::shared_ptr<waits> const waits_of_all = std::make_shared<waits>();
    retry_policy const policy =
        retry_policy().backoff(exponential(10ms).cap(greatest_delay)).max_attempts(4).observe(waits_of_all);
    road chosen{"on_endpoint", [this](request const& r) { return choose(r); }};
    road control{"haproxy", [this](request const& r) { return ask(haproxy_at, r); }};
};

TEST_F(endpoints_edges, decision_79_one_that_wants_rest_gets_no_request_and_nobody_waits_for_it) {
    start(rest_while_busy(folder / "a", 1h));
    make_busy();
    send_until_a_was_asked(1);
    endpoint_status const known = status_of_a();
    EXPECT_GE(known.resting_until, attempts_at_a()[0].answered + 1h);
    EXPECT_EQ(known.ejected_until, time_point::min()) << "it is not ejected";
    send(400);
    EXPECT_EQ(requests_at_a("on_endpoint"), 1u);
    expect_that_none_failed();
}

TEST_F(endpoints_edges, decision_79_one_that_wants_rest_is_asked_again_when_its_time_is_over) {
    start(rest_while_busy(folder / "a", 1s));
    make_busy();
    send_until_a_was_asked(1);
    make_well();
    send_until_a_was_asked(2);
    std::vector<seen_attempt> const asked = attempts_at_a();
    EXPECT_EQ(asked[0].status, 503u);
    EXPECT_EQ(asked[1].status, 200u);
    EXPECT_GE(asked[1].began - asked[0].answered, 1s);
    expect_that_none_failed();
}

/// It answers before the others and has the fewest attempts in flight. That got it two thirds of the requests.
TEST_F(endpoints_edges, decision_80_one_that_refuses_at_once_gets_less_than_its_share) {
    start(refuse_at_once());
    fleet.servers[1]->behind.delay = fleet.servers[2]->behind.delay = 5 * usual_delay;
    constexpr std::size_t requests = 600;
    send(requests);
    EXPECT_EQ(status_of_a().state, breaker_state::closed) << "to a breaker 429 is an answer";
    EXPECT_LE(at_a(), requests / 3);
    EXPECT_EQ(requests_at_a("on_endpoint"), at_a());
    expect_that_none_failed();
}

/// How an endpoint leaves the set and comes back, and why no operation may ask it at that time.
class flapping_endpoint : public endpoints_edges, public testing::WithParamInterface<bool> {
protected:
    static bool is_dead() { return GetParam(); }

    /// Within an hour: a busy machine may need more than a minute for this.
    void leave_and_come_back(duration remembered) {
        start(rest_while_busy(folder / "a", 1h),
              {.breaker = {.consecutive = 3, .open_for = 1h, .open_cap = 1h}, .remembered = remembered});
        if (is_dead())
            fleet.servers[0]->kill();
        else
            make_busy();
        while (is_asked())
            send(1, 1);
        before = status_of_a();
        asked_before = at_a();

        set->assign({all[1], all[2]});
        tell_haproxy("disable server servers/s0");
        send(100);
        EXPECT_EQ(at_a(), asked_before) << "it is not in the set";

        if (is_dead()) {
            fleet.servers[0]->start();
            wait_until_it_answers(a.port());
        } else {
            make_well();
        }
        set->assign(all);
        tell_haproxy("enable server servers/s0");
    }

    bool is_asked() const {
        endpoint_status const known = status_of_a();
        return known.ejected_until == time_point::min() && known.resting_until == time_point::min();
    }

    endpoint_status before;
    std::size_t asked_before = 0;
};

TEST_P(flapping_endpoint, decision_81_is_known_as_before_when_it_comes_back) {
    leave_and_come_back(1h);
    endpoint_status const after = status_of_a();
    EXPECT_EQ(after.state, is_dead() ? breaker_state::open : breaker_state::closed);
    EXPECT_EQ(after.ejected_until, before.ejected_until);
    EXPECT_EQ(after.resting_until, before.resting_until);
    send(200);
    EXPECT_EQ(at_a(), asked_before);
    expect_that_none_failed();
}

TEST_P(flapping_endpoint, decision_81_that_is_not_remembered_begins_anew) {
    leave_and_come_back(0s);
    EXPECT_TRUE(is_asked());
    send_until_a_was_asked(asked_before + 1);
    expect_that_none_failed();
}

INSTANTIATE_TEST_SUITE_P(dead_or_resting, flapping_endpoint, testing::Bool(),
                         [](auto const& each) { return each.param ? "dead" : "resting"; });

} // namespace
} // namespace asio_retry::test
