#include "scheme.hpp"
#include "support/elements.hpp"

#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/failure_class.hpp>
#include <asio_retry/traffic/retry_budget.hpp>
#include <asio_retry/traffic/window_budget.hpp>
#include <asio_retry/virtual_time.hpp>

#include <boost/asio.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;

// The totals of Finagle's own test: so many requests at one moment, each with a retry if there is one.
TEST(scheme_G1, finagles_budget_grants_its_share) {
    auto const rows = read_csv("traffic/finagle_budget_totals.csv");
    ASSERT_EQ(rows.size(), 8u);
    for (csv_row const& row : rows) {
        window_budget budget({.ratio = number(row, "ratio"),
                              .ttl = std::chrono::seconds(whole(row, "ttl_s")),
                              .min_per_second = static_cast<std::uint32_t>(whole(row, "min_per_second"))});
        time_point const now(12h);
        double retries = 0;
        for (std::int64_t i = whole(row, "requests"); i > 0; --i) {
            (void)budget.admit(1, now);
            retries += budget.acquire(failure_kind::transient, now);
        }
        EXPECT_NEAR(retries, number(row, "retries"), number(row, "tolerance")) << row.at("ratio");
    }
}

/// Attempts per request of a client of 100 requests in a second, of whose attempts so many in ten fail.
double load_of(retry_policy const& policy, int failures_in_ten) {
    asio::io_context io;
    virtual_time time(io);
    int attempts = 0;
    constexpr int requests = 1000;
    auto const request = [&]() -> error_code {
        return ++attempts % 10 < failures_in_ten ? refusal() : error_code();
    };
    for (int i = 0; i != requests; ++i) {
        async_retry(io, request, policy, asio::detached);
        time.advance(10ms);
    }
    time.run();
    return static_cast<double>(attempts) / requests;
}

TEST(scheme_G1, retries_are_a_tenth_at_most_whatever_fails) {
    retry_policy const three = retry_policy().max_attempts(3);
    for (int const failures : {1, 2, 5, 10})
        EXPECT_LE(load_of(three.gate(std::make_shared<retry_budget>()), failures), 1.1) << failures;
    EXPECT_EQ(load_of(three, 10), 3);
}

// One of three has too much to do: another one is asked at once.
TEST(scheme_G4, part_of_the_servers_is_overloaded_and_another_is_asked_at_once) {
    asio::io_context io;
    virtual_time time(io);
    time_point const begin = time.now();
    std::array<int, 3> const statuses{503, 200, 200};
    std::array<int, 3> hits{};
    std::size_t const first = 0;
    auto const ask = [&](attempt a) {
        auto const server = static_cast<std::size_t>((first + a.number - 1) % statuses.size());
        ++hits[server];
        return statuses[server];
    };
    auto const judged = fail_if(ask, [](int status) { return judge_http(status); });
    int delivered = 0;
    async_retry(io, judged, retry_policy().backoff(constant(0s)).gate(std::make_shared<retry_budget>()),
                [&](std::exception_ptr, int status) { delivered = status; });
    time.run();
    EXPECT_EQ(delivered, 200);
    EXPECT_THAT(hits, elements(1, 1, 0));
    EXPECT_EQ(time.now(), begin);
}

/// When the attempts of an operation began that is told something by its first one.
std::vector<duration> told(std::function<void(attempt const&)> what) {
    asio::io_context io;
    virtual_time time(io);
    time_point const begin = time.now();
    std::vector<duration> began;
    auto const request = [&](attempt a) -> error_code {
        began.push_back(time.now() - begin);
        if (a.number > 1)
            return {};
        what(a);
        return refusal();
    };
    async_retry(io, request, retry_policy().backoff(constant(100ms)).jitter(no_jitter()).pushback_spread(0),
                asio::detached);
    time.run();
    return began;
}

TEST(scheme_G5, a_server_says_when_to_come_back_or_not_to) {
    std::chrono::system_clock::time_point const now(std::chrono::seconds(784111777)); // 6 Nov 1994, 08:49:37
    for (char const* text :
         {"3", "Sun, 06 Nov 1994 08:49:40 GMT", "Sunday, 06-Nov-94 08:49:40 GMT", "Sun Nov  6 08:49:40 1994"})
        EXPECT_THAT(told([&](attempt const& a) { a.heed(parse_retry_after(text, now)); }), elements(0s, 3s))
            << text;
    EXPECT_THAT(told([](attempt const& a) { a.heed(parse_retry_after_ms("250")); }), elements(0s, 250ms));
    EXPECT_THAT(told([](attempt const& a) { a.heed(parse_grpc_pushback("250")); }), elements(0s, 250ms));
    EXPECT_THAT(told([](attempt const& a) { a.heed(parse_grpc_pushback("-1")); }), elements(0s));
}

// A payment's result is pushed at the times of a table until the shop has acknowledged it.
TEST(scheme_G8, a_notification_is_pushed_by_a_schedule_until_it_is_acknowledged) {
    static constexpr std::array<duration, 6> schedule{15s, 15s, 30s, 3min, 10min, 20min};
    auto const pushing =
        retry_policy()
            .backoff([](std::uint64_t failures) -> duration {
                return schedule[static_cast<std::size_t>(std::min<std::uint64_t>(failures, schedule.size())) -
                                1];
            })
            .jitter(no_jitter())
            .max_attempts(schedule.size() + 1);
    auto const pushes = [&](std::size_t until) {
        asio::io_context io;
        virtual_time time(io);
        time_point const begin = time.now();
        std::vector<duration> at;
        auto const push = [&]() -> error_code {
            at.push_back(time.now() - begin);
            return at.size() < until ? refusal() : error_code();
        };
        async_retry(io, push, pushing, asio::detached);
        time.run();
        return at;
    };
    EXPECT_THAT(pushes(4), elements(0s, 15s, 30s, 1min));
    EXPECT_THAT(pushes(99), elements(0s, 15s, 30s, 1min, 4min, 14min, 34min));
}

TEST(scheme_G8, a_poll_becomes_rarer_while_nothing_is_new) {
    asio::io_context io;
    virtual_time time(io);
    time_point const begin = time.now();
    backoff_ticker ticker(
        io, retry_policy().backoff(exponential(1s).cap(8s)).jitter(no_jitter()).unlimited_attempts());
    std::vector<duration> polls;
    std::function<void()> const poll = [&] {
        ticker.async_wait([&](error_code ec) {
            if (ec)
                return;
            polls.push_back(time.now() - begin);
            if (polls.size() == 6)
                ticker.reset(); // something was new
            if (polls.size() < 9)
                poll();
        });
    };
    poll();
    time.run();
    EXPECT_THAT(polls, elements(0s, 1s, 3s, 7s, 15s, 23s, 24s, 26s, 30s));
}

} // namespace
} // namespace asio_retry::test
