#include <asio_retry/observe/retry_metrics.hpp>

#include <asio_retry/retry_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/exposition_parser.hpp"
#include "support/recording_gate.hpp"
#include "support/script.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

namespace asio_retry::test {
namespace {

using labels = exposition_parser::labels;
using testing::AllOf;
using testing::HasSubstr;

class metrics : public testing::Test {
protected:
    /// One operation of 0 to any number of failures, 2 ms each.
    void play(int failures, retry_policy const& policy = endless_every_100ms()) {
        machine_script script(policy.observe(observed));
        script.start();
        duration now{};
        for (int i = 0; i != failures; ++i) {
            script.fail(now += 2ms);
            script.wake(now += 100ms);
        }
        script.machine.on_success(script.begin + now + 2ms);
    }

    exposition_parser parse(std::string_view common = {}) const {
        text = observed->prometheus(common);
        exposition_parser result(text);
        EXPECT_EQ(result.fault, "");
        return result;
    }

    std::shared_ptr<retry_metrics> observed = std::make_shared<retry_metrics>();
    std::string mutable text;
};

TEST_F(metrics, of_nothing_are_zero) {
    EXPECT_EQ(observed->counts(), retry_counts());
    auto const parsed = parse();
    for (auto const& [series, value] : parsed.samples)
        EXPECT_EQ(value, 0) << series.first;
    EXPECT_EQ(parsed.samples.size(), 18u + 7u + 4u + 2u * 12u) << "every series is there from the beginning";
}

TEST_F(metrics, count_operations_and_attempts) {
    play(0);
    play(0);
    play(3);
    std::optional<machine_script> running(std::in_place, endless_every_100ms().observe(observed));
    running->start();
    running->fail(2ms, detail::timed_out_error());

    retry_counts expected;
    expected.operations = 4;
    expected.succeeded_at_once = 2;
    expected.succeeded_after_retry = 1;
    expected.attempts = 7;
    expected.retries = 3;
    expected.pending = 1;
    expected.ended[0] = 3;
    expected.failures[0] = 3;
    expected.failures[std::size_t(failure_kind::transient)] = 3;
    expected.failures[std::size_t(failure_kind::timeout)] = 1;
    EXPECT_EQ(observed->counts(), expected);

    running.reset();
    expected.pending = 0;
    expected.ended[std::size_t(stop_reason::cancelled)] = 1;
    EXPECT_EQ(observed->counts(), expected);

    auto const parsed = parse();
    std::string const operations = "asio_retry_operations_total", attempts = "asio_retry_attempts_total";
    EXPECT_EQ(parsed.value(operations, {{"reason", "succeeded"}, {"retried", "false"}}), 2);
    EXPECT_EQ(parsed.value(operations, {{"reason", "succeeded"}, {"retried", "true"}}), 1);
    EXPECT_EQ(parsed.value(operations, {{"reason", "cancelled"}, {"retried", "false"}}), 1);
    EXPECT_EQ(parsed.value(attempts, {{"outcome", "success"}}), 3);
    EXPECT_EQ(parsed.value(attempts, {{"outcome", "transient"}}), 3);
    EXPECT_EQ(parsed.value(attempts, {{"outcome", "timeout"}}), 1);
    EXPECT_EQ(parsed.value("asio_retry_retries_total"), 3);
    EXPECT_EQ(parsed.value("asio_retry_pending"), 0);
}

// An attempt after the first is a retry, or in an operation that hedges a hedge.
TEST_F(metrics, count_hedges_and_retries_apart) {
    observation event;
    event.what = observation::kind::attempt_began;
    for (bool const is_hedge : {false, true, true})
        for (event.attempt = 1; event.attempt != 4; ++event.attempt) {
            event.is_hedge = is_hedge;
            observed->on_event(event);
        }
    EXPECT_EQ(observed->counts().attempts, 9u);
    EXPECT_EQ(observed->counts().retries, 2u);
    EXPECT_EQ(observed->counts().hedges, 4u);
    auto const parsed = parse();
    EXPECT_EQ(parsed.value("asio_retry_retries_total"), 2);
    EXPECT_EQ(parsed.value("asio_retry_hedges_total"), 4);
}

/// The operation is cancelled in its first attempt.
void leave(std::shared_ptr<retry_metrics> const& observed) {
    machine_script cancelled(endless_every_100ms().observe(observed));
    cancelled.start();
    cancelled.machine.cancel();
    cancelled.fail(1ms);
}

/// The second attempt of a hedge wins, and the first is cancelled.
void beat(std::shared_ptr<retry_metrics> const& observed) {
    hedge_script hedged(hedge_policy(10ms).observe(observed));
    hedged.start();
    hedged.go_on(10);
    hedged.succeed(2, 11);
    hedged.fail(1, 12, verdict::failure(detail::aborted_error()));
}

// Nobody has heard what the server would have answered. So they are no failures.
TEST_F(metrics, decision_82_attempts_that_are_abandoned_have_an_outcome_of_their_own) {
    leave(observed);
    beat(observed);
    machine_script answered(endless_every_100ms().observe(observed));
    answered.start();
    answered.fail(1ms, verdict::failure(permanent(unreachable())));
    retry_counts const seen = observed->counts();
    EXPECT_EQ(seen.attempts, 4u);
    EXPECT_EQ(seen.abandoned, 2u);
    EXPECT_EQ(seen.failures, (std::array<std::uint64_t, 6>{1, 1}));
    auto const parsed = parse();
    EXPECT_EQ(parsed.value("asio_retry_attempts_total", {{"outcome", "abandoned"}}), 2);
    EXPECT_EQ(parsed.value("asio_retry_attempts_total", {{"outcome", "permanent"}}), 1);
    EXPECT_EQ(parsed.value("asio_retry_attempts_total", {{"outcome", "success"}}), 1);
}

TEST_F(metrics, decision_82_attempts_that_are_abandoned_have_no_error_type) {
    observed = std::make_shared<retry_metrics>(metrics_options{.grpc = false, .open_telemetry = true});
    leave(observed);
    beat(observed);
    auto const parsed = parse();
    EXPECT_EQ(parsed.value("http_client_request_duration_seconds_count"), 3);
    EXPECT_EQ(parsed.value("http_client_request_duration_seconds_count", {{"error_type", "permanent"}}), 0);
    EXPECT_EQ(parsed.value("http_client_active_requests"), 0);
}

TEST_F(metrics, count_what_gates_refuse) {
    auto const gate = std::make_shared<recording_gate>();
    gate->refusals = {5s, std::nullopt};
    gate->grants = {false};
    machine_script script(endless_every_100ms().gate(gate).observe(observed).wait_when_refused());
    script.start();
    script.wake(5100ms);
    script.fail(5101ms);
    EXPECT_EQ(observed->counts().refused, 2u);
    EXPECT_EQ(parse().value("asio_retry_refused_total"), 2);
}

// A bound belongs to the bucket below it.
TEST_F(metrics, delays_and_lengths_are_histograms) {
    duration const ms = 1ms;
    for (duration const took :
         {0 * ms, ms, ms + 1ns, 256 * ms, 65536 * ms, 65536 * ms + 1ns, duration::max()}) {
        observation event;
        event.what = observation::kind::attempt_ended;
        event.took = took;
        observed->on_event(event);
    }
    play(2);
    auto const parsed = parse();
    auto const at_most = [&](std::string const& bound) {
        return parsed.value("asio_retry_attempt_seconds_bucket", {{"le", bound}});
    };
    EXPECT_EQ(at_most("0.001"), 2);
    EXPECT_EQ(at_most("0.004"), 3 + 3);
    EXPECT_EQ(at_most("0.016"), 3 + 3);
    EXPECT_EQ(at_most("0.064"), 3 + 3);
    EXPECT_EQ(at_most("0.256"), 4 + 3);
    EXPECT_EQ(at_most("1.024"), 4 + 3);
    EXPECT_EQ(at_most("4.096"), 4 + 3);
    EXPECT_EQ(at_most("16.384"), 4 + 3);
    EXPECT_EQ(at_most("65.536"), 5 + 3);
    EXPECT_EQ(at_most("+Inf"), 7 + 3);
    EXPECT_NEAR(parsed.value("asio_retry_attempt_seconds_sum").value(), 9223372036.9 + 131.3, 1);
    EXPECT_EQ(parsed.value("asio_retry_delay_seconds_bucket", {{"le", "0.064"}}), 0);
    EXPECT_EQ(parsed.value("asio_retry_delay_seconds_bucket", {{"le", "0.256"}}), 2);
    EXPECT_EQ(parsed.value("asio_retry_delay_seconds_sum"), 0.2);
    EXPECT_EQ(parsed.value("asio_retry_delay_seconds_count"), 2);
}

TEST_F(metrics, every_line_has_the_labels_that_are_given) {
    play(1);
    auto const parsed = parse(R"(service="orders",zone="a")");
    for (auto const& [series, value] : parsed.samples)
        EXPECT_TRUE(series.second.contains("service") && series.second.contains("zone")) << series.first;
    EXPECT_EQ(parsed.value("asio_retry_retries_total", {{"service", "orders"}, {"zone", "a"}}), 1);
}

TEST_F(metrics, values_of_labels_are_escaped) {
    auto const shown = [&](std::string const& value) {
        std::string const of = "peer=\"" + value + '"';
        auto const parsed = parse(of);
        for (auto const& [series, unused] : parsed.samples)
            if (series.first == "asio_retry_pending")
                return series.second.at("peer");
        return std::string("no such line");
    };
    EXPECT_EQ(shown(""), "");
    EXPECT_EQ(shown("a b, c{}=#"), "a b, c{}=#");
    EXPECT_EQ(shown("two\nlines"), "two\nlines");
    EXPECT_EQ(shown(R"(two\nlines)"), "two\nlines");
    EXPECT_EQ(shown(R"(a \"b\" c)"), R"(a "b" c)");
    EXPECT_EQ(shown(R"(a "b" c)"), R"(a "b" c)");
    EXPECT_EQ(shown("x\"} 1\nb 2\n#"), "x\"} 1\nb 2\n#") << "no line of its own";
    EXPECT_EQ(shown(R"(C:\data\\x)"), R"(C:\data\x)");
    EXPECT_EQ(shown("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    EXPECT_EQ(shown(std::string("\0\x01\x7f", 3)), std::string("\0\x01\x7f", 3));
}

TEST_F(metrics, refuse_labels_that_are_none) {
    for (std::string_view const bad : {"orders",
                                       "service",
                                       "service=",
                                       "service=orders",
                                       "service=\"",
                                       "service=\"orders",
                                       "=\"x\"",
                                       "1a=\"x\"",
                                       "a:b=\"x\"",
                                       "a b=\"x\"",
                                       "__name__=\"x\"",
                                       " a=\"x\"",
                                       "a=\"x\",",
                                       ",a=\"x\"",

                                       "a=\"x\",a=\"y\"",
                                       "reason=\"x\"",
                                       "retried=\"x\"",
                                       "outcome=\"x\"",
                                       "le=\"1\"",
                                       "error_type=\"x\"",
                                       "a=\"x\\\"",
                                       "a=\"\xff\"",
                                       "a=\"\xc0\xaf\"",
                                       "a=\"\xed\xa0\x80\"",
                                       "a=\"\xf4\x90\x80\x80\"",
                                       "a=\"\xe2\x82\"",
                                       "\xc3\xa9=\"x\""})
        try {
            (void)observed->prometheus(bad);
            ADD_FAILURE() << bad;
        } catch (std::invalid_argument const& e) {
            EXPECT_THAT(e.what(), testing::StartsWith("asio_retry: retry_metrics.labels = "));
            EXPECT_THAT(e.what(), HasSubstr(": must ")) << bad;
            for (char const c : std::string_view(e.what()))
                EXPECT_TRUE(' ' <= c && c < 0x7f) << "what came from elsewhere is shown escaped";
        }
}

TEST_F(metrics, refuse_labels_that_are_not_utf_8) {
    for (std::string const bad : {"\x80", "\xe0\x80\x80", "\xe2\x82x", "\xf0\x80\x80\x80", "\xf0\x9fx\x80",
                                  "\xf0\x9f\x98x", "\xf5\x80\x80\x80"})
        EXPECT_THROW((void)observed->prometheus("a=\"" + bad + '"'), std::invalid_argument) << bad;
}

TEST_F(metrics, have_gauges) {
    double balance = 0.5;
    observed->add_gauge("orders:budget_2", [&] { return balance; });
    observed->add_gauge("helped", "Says \\ and\nmore.", [] { return 1.; });
    EXPECT_THAT(observed->prometheus(), HasSubstr("# HELP helped Says \\\\ and\\nmore.\n"));
    observed->add_gauge("strange", [] { return std::numeric_limits<double>::quiet_NaN(); });
    observed->add_gauge("_low", [] { return -std::numeric_limits<double>::infinity(); });
    observed->add_gauge("tiny", [] { return 1e-300; });
    EXPECT_EQ(parse().value("orders:budget_2"), 0.5);
    balance = 7;
    auto const parsed = parse("a=\"b\"");
    EXPECT_EQ(parsed.value("orders:budget_2", {{"a", "b"}}), 7);
    EXPECT_TRUE(std::isnan(parsed.value("strange", {{"a", "b"}}).value()));
    EXPECT_EQ(parsed.value("_low", {{"a", "b"}}), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(parsed.value("tiny", {{"a", "b"}}), 1e-300);
}

// As Go writes them: a bound of a bucket is a label, and is compared as text.
TEST_F(metrics, write_numbers_as_libraries_of_prometheus_do) {
    double value = 0;
    observed->add_gauge("number", [&] { return value; });
    std::pair<double, char const*> const numbers[] = {{0, "0"},
                                                      {0.0001, "0.0001"},
                                                      {0.0003, "0.0003"},
                                                      {0.00001, "1e-05"},
                                                      {5e-5, "5e-05"},
                                                      {100000, "100000"},
                                                      {1e20, "100000000000000000000"},
                                                      {1e21, "1e+21"},
                                                      {-0.25, "-0.25"},
                                                      {0.1 + 0.2, "0.30000000000000004"},
                                                      {-1e-7, "-1e-07"}};
    for (auto const& [number, written] : numbers) {
        value = number;
        EXPECT_THAT(observed->prometheus(), testing::EndsWith(std::string("\nnumber ") + written + "\n"));
    }
}

TEST_F(metrics, a_gauge_keeps_what_it_remembers) {
    observed->add_gauge("texts", [count = 0.]() mutable { return ++count; });
    EXPECT_EQ(parse().value("texts"), 1);
    EXPECT_EQ(parse().value("texts"), 2);
}

TEST_F(metrics, refuse_gauges_without_a_name_or_a_function) {
    auto const one = [] { return 1.; };
    observed->add_gauge("mine", one);
    for (char const* bad : {"", "1a", "a b", "a-b", "a{b=\"c\"}", "a\n", "caf\xc3\xa9", "mine",
                            "asio_retry_pending", "asio_retry_operations_total", "asio_retry_hedges_total",
                            "asio_retry_delay_seconds", "asio_retry_delay_seconds_bucket",
                            "asio_retry_attempt_seconds_sum", "asio_retry_attempt_seconds_count"})
        try {
            observed->add_gauge(bad, one);
            ADD_FAILURE() << bad;
        } catch (std::invalid_argument const& e) {
            EXPECT_THAT(e.what(),
                        AllOf(testing::StartsWith("asio_retry: retry_metrics.gauge = "), HasSubstr(": must ")));
            for (char const c : std::string_view(e.what()))
                EXPECT_TRUE(' ' <= c && c < 0x7f) << bad;
        }
    EXPECT_THROW(observed->add_gauge("empty", nullptr), std::invalid_argument);
    EXPECT_THROW(observed->add_gauge("empty", std::function<double()>()), std::invalid_argument);
    EXPECT_EQ(parse().samples.size(), 53u + 1u);
}

TEST_F(metrics, refuse_help_that_is_not_utf_8) {
    std::function<double()> const one = [] { return 1.; };
    for (std::string const bad : {"\xff", "half of \xc3", "\xf0\x9f\x98"})
        EXPECT_THROW(observed->add_gauge("helped", bad, one), std::invalid_argument) << bad;
    observed->add_gauge("helped", "gr\xc3\xbc\xc3\x9f", one);
    EXPECT_THAT(observed->prometheus(), HasSubstr("# HELP helped gr\xc3\xbc\xc3\x9f\n"));
}

// It is called without a lock, and what it throws is nobody else's loss.
TEST_F(metrics, a_gauge_may_do_anything) {
    bool throws = true;
    observed->add_gauge("reentrant", [&]() -> double {
        if (throws)
            throw 7;
        observed->add_gauge("another", [] { return 2.; });
        return static_cast<double>(observed->prometheus("within=\"it\"").size() > 0);
    });
    EXPECT_THROW((void)observed->prometheus(), int);
    throws = false;
    EXPECT_THROW((void)observed->prometheus(), std::invalid_argument)
        << "the name is taken when it calls itself";
    EXPECT_EQ(observed->counts(), retry_counts());
}

// What a dashboard reads, to the letter.
TEST_F(metrics, are_this_text) {
    play(1);
    EXPECT_THAT(
        observed->prometheus(R"(service="orders")"),
        AllOf(HasSubstr("# HELP asio_retry_retries_total Attempts after the first of an operation, except "
                        "hedges.\n"
                        "# TYPE asio_retry_retries_total counter\n"
                        "asio_retry_retries_total{service=\"orders\"} 1\n"),
              HasSubstr("asio_retry_operations_total{service=\"orders\",reason=\"succeeded\",retried="
                        "\"true\"} 1\n"),
              HasSubstr("asio_retry_attempt_seconds_bucket{service=\"orders\",le=\"+Inf\"} 2\n"
                        "asio_retry_attempt_seconds_sum{service=\"orders\"} 0.004\n"
                        "asio_retry_attempt_seconds_count{service=\"orders\"} 2\n")));
}

// The parser is not one that accepts everything.
TEST(exposition_parser, finds_what_is_wrong) {
    for (std::string_view const bad :
         {"a 1", "a 1\n", "# TYPE a counter\na 1\na 2\n", "# TYPE a counter\na -1\n",
          "# TYPE a counter\na{b=\"\n\"} 1\n", "# TYPE a gauge\na{b=\"\\x\"} 1\n",
          "# TYPE a gauge\na{b=\"1\",b=\"2\"} 1\n", "# TYPE a gauge\na one\n",
          "# TYPE a gauge\n# TYPE a gauge\n", "# TYPE a thing\n", "# TYPE a gauge\n# TYPE b gauge\na 1\n",
          "# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
          "# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
          "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_count 1\n",
          "# TYPE a histogram\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 2\n", "# TYPE a histogram\n"})
        EXPECT_NE(exposition_parser(bad).fault, "") << bad;
    EXPECT_EQ(exposition_parser("# HELP a b\n# TYPE a gauge\na{b=\"\\\"\\\\\\n\"} +Inf\n").fault, "");
}

} // namespace
} // namespace asio_retry::test
