// A backoff or jitter that returns a negative duration ends the operation, and says which one and how much.
#include <asio_retry/async_retry.hpp>
#include <asio_retry/backoff_ticker.hpp>
#include <asio_retry/observe/log_observer.hpp>
#include <asio_retry/retry.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/with_report.hpp>

#include "support/in_virtual_time.hpp"
#include "support/manual_waits.hpp"
#include "support/message_of.hpp"
#include "support/scripted_operation.hpp"

#include <boost/asio.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

struct negative {
    error code;
    std::string message;
    retry_policy policy;
};

/// Refuses all attempts.
struct refusing_gate final : retry_gate {
    admission admit(std::uint64_t, time_point) noexcept override { return {time_point::max(), refused()}; }
};

class negative_results : public testing::TestWithParam<negative>, protected in_virtual_time {
protected:
    retry_report report;

    static retry_policy policy() { return GetParam().policy; }
    void expect_named() const {
        EXPECT_EQ(report.hook_exceptions, 1u);
        EXPECT_EQ(message_of(report.hook_exception), GetParam().message);
        EXPECT_EQ(report.reason, stop_reason::not_retryable);
    }
};

TEST_P(negative_results, decision_04_end_an_operation_with_a_code) {
    int calls = 0;
    error_code ended;
    async_retry(io, with_report([&] { return ++calls, refused(); }, report), policy(),
                [&](error_code ec) { ended = ec; });
    time.run();
    EXPECT_EQ(ended, GetParam().code);
    EXPECT_EQ(calls, 1);
    expect_named();
}

TEST_P(negative_results, decision_04_end_a_coroutine_with_the_exception) {
    auto const fails = []() -> asio::awaitable<void> {
        throw boost::system::system_error(refused());
        co_return;
    };
    std::string said;
    run([&]() -> asio::awaitable<void> {
        try {
            co_await async_retry(with_report(fails, report), policy());
        } catch (std::invalid_argument const& thrown) {
            said = thrown.what();
        }
    });
    EXPECT_EQ(said, GetParam().message);
    expect_named();
}

TEST_P(negative_results, decision_04_end_a_blocking_operation) {
    manual_waits waits;
    EXPECT_EQ(retry(with_report([] { return refused(); }, report), policy(), waits), GetParam().code);
    expect_named();
    auto const throws = []() -> int { throw boost::system::system_error(refused()); };
    EXPECT_EQ(complaint_of<std::invalid_argument>([&] { return retry(throws, policy(), waits); }),
              GetParam().message);
}

TEST_P(negative_results, decision_04_end_the_wait_for_a_gate) {
    error_code ended;
    async_retry(io, with_report([] { return refused(); }, report),
                policy().gate(std::make_shared<refusing_gate>()).wait_when_refused(),
                [&](error_code ec) { ended = ec; });
    time.run();
    EXPECT_EQ(ended, GetParam().code);
    expect_named();
}

TEST_P(negative_results, decision_04_end_a_wait_of_a_ticker) {
    backoff_ticker ticker(io, policy());
    std::vector<error_code> ticks;
    for (int i = 0; i != 2; ++i) {
        ticker.async_wait([&](error_code ec) { ticks.push_back(ec); });
        time.run();
    }
    EXPECT_THAT(ticks, testing::ElementsAre(error_code(), error_code(GetParam().code)));
}

TEST_P(negative_results, decision_04_are_logged) {
    std::vector<std::string> lines;
    auto const log = log_observer([&](log_line const& line) { lines.push_back(to_string(line)); });
    async_retry(io, [] { return refused(); }, policy().observe(log), [](error_code) {});
    time.run();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find(GetParam().message), std::string::npos) << lines[0];
}

TEST(negative_delays, decision_04_of_a_rule_end_an_operation) {
    asio::io_context io;
    retry_report report;
    auto const always = [](error_code) { return true; };
    auto const policy = retry_policy().when(always, [](std::uint64_t) { return duration(-1ns); });
    error_code ended;
    async_retry(io, with_report([] { return refused(); }, report), policy, [&](error_code ec) { ended = ec; });
    io.run();
    EXPECT_EQ(ended, error::backoff_threw);
    EXPECT_EQ(message_of(report.hook_exception), "asio_retry: backoff = -1ns: must not be negative");
}

INSTANTIATE_TEST_SUITE_P(
    all, negative_results,
    testing::Values(negative{error::backoff_threw, "asio_retry: backoff = -5ms: must not be negative",
                             retry_policy().backoff([](std::uint64_t) { return duration(-5ms); })},
                    negative{error::jitter_threw, "asio_retry: jitter = -2s: must not be negative",
                             retry_policy().jitter([](backoff_step, random&) { return duration(-2s); })}),
    [](auto const& of) { return std::to_string(of.index); });

} // namespace
} // namespace asio_retry::test
