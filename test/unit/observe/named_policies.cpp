#include <asio_retry/observe/log_observer.hpp>
#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/observe/retry_traces.hpp>
#include <asio_retry/retry_machine.hpp>

#include "support/exposition_parser.hpp"
#include "support/refuses.hpp"
#include "support/script.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

// What logs, metrics and traces make of `retry_policy::name`.

namespace asio_retry::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char const* begun_operations = "asio_retry_operations_total";

/// One operation with one retry.
void play_named(std::shared_ptr<retry_observer> observer, std::string const& name) {
    retry_policy const policy = endless_every_100ms().observe(std::move(observer));
    machine_script script(name.empty() ? policy : policy.name(name));
    script.start();
    script.fail(2ms);
    script.wake(102ms);
    script.machine.on_success(script.begin + 103ms);
}

/// A hedge whose second attempt wins.
void hedge_named(std::shared_ptr<retry_observer> observer, std::string const& name) {
    hedge_script script(hedge_policy(10ms).observe(std::move(observer)).name(name));
    script.start();
    script.go_on(10);
    script.succeed(2, 12);
    script.complete_late(1, 12);
}

// --- logs

struct lines_of_names {
    std::vector<log_line> lines;
    std::shared_ptr<retry_observer> observer =
        log_observer([this](log_line const& line) { lines.push_back(line); }, log_level::debug);
};

TEST(named_policies, begin_the_lines_of_a_log) {
    lines_of_names log;
    play_named(log.observer, "orders.get");
    ASSERT_EQ(log.lines.size(), 2u);
    EXPECT_EQ(log.lines[0].policy, "orders.get");
    std::string const operation = "operation " + std::to_string(log.lines[0].operation) + ", ";
    EXPECT_EQ(to_string(log.lines[0]),
              "orders.get, " + operation + "attempt 1: No route to host; retry in 100 ms");
    EXPECT_EQ(to_string(log.lines[1]), "orders.get, " + operation + "attempt 2: succeeded after 103 ms");

    hedge_named(log.observer, "search");
    EXPECT_THAT(to_string(log.lines.at(2)),
                AllOf(testing::StartsWith("search, operation "), HasSubstr("began")));
    play_named(log.observer, "");
    EXPECT_EQ(log.lines.at(4).policy, "");
    EXPECT_TRUE(to_string(log.lines.at(4)).starts_with("operation ")) << to_string(log.lines.at(4));
}

// A sink may keep a line for another thread, when the policy is gone.
TEST(named_policies, are_owned_by_the_line) {
    lines_of_names log;
    {
        std::string const name(100, 'n');
        play_named(log.observer, name);
    }
    EXPECT_EQ(log.lines.front().policy, std::string(100, 'n'));
}

// --- metrics

exposition_parser parsed_metrics(retry_metrics const& metrics, std::string_view common = {}) {
    exposition_parser result(metrics.prometheus(common));
    EXPECT_EQ(result.fault, "");
    return result;
}

std::set<std::string> values_of_policy(exposition_parser const& text) {
    std::set<std::string> all;
    for (auto const& [series, value] : text.samples)
        if (auto const label = series.second.find("policy"); label != series.second.end())
            all.insert(label->second);
    return all;
}

TEST(named_policies, have_their_own_lines_of_metrics) {
    auto const metrics = std::make_shared<retry_metrics>();
    play_named(metrics, "orders.get");
    play_named(metrics, "orders.get");
    hedge_named(metrics, "search");
    play_named(metrics, "");
    machine_script running(endless_every_100ms().observe(metrics).name("orders.get"));
    running.start();

    auto const text = parsed_metrics(*metrics);
    exposition_parser::labels const succeeded = {{"reason", "succeeded"}, {"retried", "true"}};
    auto const of = [](std::string const& name, exposition_parser::labels more = {}) {
        more.emplace("policy", name);
        return more;
    };
    EXPECT_EQ(text.value(begun_operations, of("orders.get", succeeded)), 2);
    EXPECT_EQ(text.value(begun_operations, of("search", succeeded)), 1);
    EXPECT_EQ(text.value(begun_operations, succeeded), 1) << "without a name there is no label";
    EXPECT_EQ(text.value("asio_retry_attempts_total", of("orders.get", {{"outcome", "transient"}})), 2);
    EXPECT_EQ(text.value("asio_retry_attempts_total", of("search", {{"outcome", "abandoned"}})), 1);
    EXPECT_EQ(text.value("asio_retry_retries_total", of("orders.get")), 2);
    EXPECT_EQ(text.value("asio_retry_retries_total", of("search")), 0);
    EXPECT_EQ(text.value("asio_retry_hedges_total", of("search")), 1);
    EXPECT_EQ(text.value("asio_retry_refused_total", of("search")), 0);
    EXPECT_EQ(text.value("asio_retry_pending", of("orders.get")), 1);
    EXPECT_EQ(text.value("asio_retry_pending"), 0);
    EXPECT_EQ(text.value("asio_retry_delay_seconds_count", of("orders.get")), 2);
    EXPECT_EQ(text.value("asio_retry_attempt_seconds_bucket", of("orders.get", {{"le", "0.004"}})), 4);
    EXPECT_THAT(values_of_policy(text), ElementsAre("orders.get", "search"));
    EXPECT_EQ(text.samples.size(), 3 * (18u + 7u + 4u + 2u * 12u)) << "each name has every series";

    retry_counts const all = metrics->counts();
    EXPECT_EQ(all.operations, 5u);
    EXPECT_EQ(all.succeeded_after_retry, 4u);
    EXPECT_EQ(all.retries, 3u);
    EXPECT_EQ(all.hedges, 1u);
    EXPECT_EQ(all.abandoned, 1u);
    EXPECT_EQ(all.pending, 1u);
    EXPECT_EQ(all.failures[std::size_t(failure_kind::transient)], 3u);
    EXPECT_EQ(all.ended[std::size_t(stop_reason::succeeded)], 4u);
}

TEST(named_policies, are_escaped_in_labels) {
    auto const metrics = std::make_shared<retry_metrics>();
    play_named(metrics, R"(a "b" \n)");
    EXPECT_THAT(metrics->prometheus("zone=\"x\""),
                HasSubstr(R"(asio_retry_retries_total{zone="x",policy="a \"b\" \\n"} 1)"));
    EXPECT_THAT(values_of_policy(parsed_metrics(*metrics)), ElementsAre(R"(a "b" \n)"));
}

TEST(named_policies, after_64_names_are_counted_as_other) {
    auto const metrics = std::make_shared<retry_metrics>();
    for (int turn = 0; turn != 2; ++turn)
        for (int i = 0; i != 70; ++i)
            play_named(metrics, "name " + std::to_string(i));
    auto const text = parsed_metrics(*metrics);
    EXPECT_EQ(values_of_policy(text).size(), 65u);
    EXPECT_EQ(text.value("asio_retry_retries_total", {{"policy", "name 0"}}), 2);
    EXPECT_EQ(text.value("asio_retry_retries_total", {{"policy", "name 63"}}), 2);
    EXPECT_EQ(text.value("asio_retry_retries_total", {{"policy", "name 64"}}), std::nullopt);
    EXPECT_EQ(text.value("asio_retry_retries_total", {{"policy", "other"}}), 12);
    EXPECT_EQ(metrics->counts().retries, 140u);
}

// A policy of that name has no second line, which Prometheus would refuse.
TEST(named_policies, called_other_are_counted_with_the_others) {
    auto const metrics = std::make_shared<retry_metrics>();
    play_named(metrics, "other");
    EXPECT_THAT(values_of_policy(parsed_metrics(*metrics)), ElementsAre("other"));
    for (int i = 0; i != 65; ++i)
        play_named(metrics, "name " + std::to_string(i));
    EXPECT_EQ(parsed_metrics(*metrics).value("asio_retry_retries_total", {{"policy", "other"}}), 2);
}

TEST(named_policies, take_the_common_label_of_that_name) {
    auto const metrics = std::make_shared<retry_metrics>();
    metrics->add_gauge("depth", "Jobs.", {{"policy", "mail"}}, [] { return 1.0; });
    play_named(metrics, "");
    EXPECT_NO_THROW((void)retry_metrics().prometheus(R"(policy="all")")) << "without names it is free";
    play_named(metrics, "orders");
    auto const write = [&] { return metrics->prometheus(R"(policy="all")"); };
    EXPECT_THAT(calling(write), refuses("retry_metrics.labels", "policy", "must not be the label"));
    EXPECT_EQ(parsed_metrics(*metrics).value("depth", {{"policy", "mail"}}), 1);
}

// The conventions of gRPC and OpenTelemetry know no such label: their lines count all operations.
TEST(named_policies, are_no_label_of_foreign_names) {
    auto const metrics = std::make_shared<retry_metrics>(metrics_options{.grpc = true, .open_telemetry = true});
    play_named(metrics, "orders");
    play_named(metrics, "search");
    machine_script running(endless_every_100ms().observe(metrics).name("orders"));
    running.start();
    auto const text = parsed_metrics(*metrics);
    EXPECT_EQ(text.value("grpc_client_call_retries_count"), 2);
    EXPECT_EQ(text.value("http_client_request_duration_seconds_count"), 2);
    EXPECT_EQ(text.value("http_client_request_duration_seconds_count", {{"error_type", "transient"}}), 2);
    EXPECT_EQ(text.value("http_client_active_requests"), 1);
}

TEST(named_policies, of_many_threads_get_one_place_each) {
    auto const metrics = std::make_shared<retry_metrics>();
    std::vector<std::thread> threads;
    for (int t = 0; t != 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i != 200; ++i)
                play_named(metrics, "name " + std::to_string(i % 80));
        });
    std::string text;
    for (int i = 0; i != 20; ++i)
        text = metrics->prometheus();
    for (std::thread& each : threads)
        each.join();
    auto const parsed = parsed_metrics(*metrics);
    EXPECT_EQ(values_of_policy(parsed).size(), 65u);
    double retries = 0;
    for (auto const& [series, value] : parsed.samples)
        retries += series.first == "asio_retry_retries_total" ? value : 0;
    EXPECT_EQ(retries, 800);
    EXPECT_EQ(metrics->counts().retries, 800u);
    EXPECT_EQ(metrics->counts().pending, 0u);
}

// --- traces

/// The names of the spans that have ended, each with the attribute asio_retry.policy.
std::vector<std::string> names_of_spans(retry_traces& traces) {
    std::vector<std::string> all;
    boost::json::value const text = boost::json::parse(traces.otlp_json());
    for (auto const& span : text.at_pointer("/resourceSpans/0/scopeSpans/0/spans").as_array()) {
        std::string found(span.at("name").as_string());
        for (auto const& each : span.at("attributes").as_array())
            if (each.at("key").as_string() == "asio_retry.policy")
                found.append("; ").append(each.at_pointer("/value/stringValue").as_string());
        all.push_back(found);
    }
    return all;
}

TEST(named_policies, end_the_names_of_spans) {
    auto const traces = std::make_shared<retry_traces>();
    play_named(traces, "orders.get");
    EXPECT_THAT(names_of_spans(*traces),
                ElementsAre("attempt orders.get; orders.get", "attempt orders.get; orders.get",
                            "retry orders.get; orders.get"));
    hedge_named(traces, "a \"b\" \\");
    EXPECT_THAT(names_of_spans(*traces),
                ElementsAre("attempt a \"b\" \\; a \"b\" \\", "attempt a \"b\" \\; a \"b\" \\",
                            "hedge a \"b\" \\; a \"b\" \\"));
    play_named(traces, "");
    EXPECT_THAT(names_of_spans(*traces), ElementsAre("attempt", "attempt", "retry"));
}

} // namespace
} // namespace asio_retry::test
