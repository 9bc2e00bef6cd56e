#include <asio_retry/observe/retry_metrics.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/exposition_parser.hpp"
#include "support/refuses.hpp"

#include <cstdint>
#include <string>

namespace asio_retry::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

void end_operation(retry_metrics& metrics, std::uint64_t attempts, bool is_hedge, duration delay = {}) {
    observation event;
    event.what = observation::kind::ended;
    event.attempt = attempts;
    event.is_hedge = is_hedge;
    event.delay = delay;
    metrics.on_event(event);
}

void end_attempt(retry_metrics& metrics, failure_kind kind, duration took) {
    observation event;
    event.what = observation::kind::attempt_began;
    metrics.on_event(event);
    event.what = observation::kind::attempt_ended;
    event.failure = kind;
    event.took = took;
    metrics.on_event(event);
}

TEST(foreign_names, are_there_only_if_asked_for) {
    std::string const plain = retry_metrics().prometheus();
    EXPECT_EQ(retry_metrics(metrics_options{}).prometheus(), plain);
    EXPECT_THAT(plain, Not(HasSubstr("grpc_")));
    EXPECT_THAT(plain, Not(HasSubstr("http_")));
    std::string const grpc = retry_metrics(metrics_options{.grpc = true}).prometheus();
    std::string const http = retry_metrics(metrics_options{.open_telemetry = true}).prometheus();
    EXPECT_THAT(grpc, Not(HasSubstr("http_")));
    EXPECT_THAT(http, Not(HasSubstr("grpc_")));
    EXPECT_TRUE(grpc.starts_with(plain) && http.starts_with(plain)) << "ours stay as they are";
}

// gRFC A96: at the end of the call, and never a zero. To the letter.
TEST(foreign_names, of_grpc_count_retries_and_hedges_of_a_call) {
    retry_metrics metrics({.grpc = true});
    for (std::uint64_t const attempts : {0u, 1u, 2u, 2u, 7u})
        end_operation(metrics, attempts, false);
    end_operation(metrics, 1, true);
    end_operation(metrics, 4, true);
    EXPECT_THAT(metrics.prometheus("grpc_target=\"dns:///orders\""),
                HasSubstr("# HELP grpc_client_call_retries Retries of a call, of calls that were retried.\n"
                          "# TYPE grpc_client_call_retries histogram\n"
                          "grpc_client_call_retries_bucket{grpc_target=\"dns:///orders\",le=\"1\"} 2\n"
                          "grpc_client_call_retries_bucket{grpc_target=\"dns:///orders\",le=\"2\"} 2\n"
                          "grpc_client_call_retries_bucket{grpc_target=\"dns:///orders\",le=\"3\"} 2\n"
                          "grpc_client_call_retries_bucket{grpc_target=\"dns:///orders\",le=\"4\"} 2\n"
                          "grpc_client_call_retries_bucket{grpc_target=\"dns:///orders\",le=\"5\"} 2\n"
                          "grpc_client_call_retries_bucket{grpc_target=\"dns:///orders\",le=\"+Inf\"} 3\n"
                          "grpc_client_call_retries_sum{grpc_target=\"dns:///orders\"} 8\n"
                          "grpc_client_call_retries_count{grpc_target=\"dns:///orders\"} 3\n"
                          "# HELP grpc_client_call_hedges Hedges of a call, of calls that were hedged.\n"
                          "# TYPE grpc_client_call_hedges histogram\n"
                          "grpc_client_call_hedges_bucket{grpc_target=\"dns:///orders\",le=\"1\"} 0\n"
                          "grpc_client_call_hedges_bucket{grpc_target=\"dns:///orders\",le=\"2\"} 0\n"
                          "grpc_client_call_hedges_bucket{grpc_target=\"dns:///orders\",le=\"3\"} 1\n"));
}

TEST(foreign_names, of_grpc_measure_the_delay_of_a_call) {
    retry_metrics metrics({.grpc = true});
    duration const us = 1us;
    for (duration const delay :
         {0 * us, 10 * us, 10 * us + 1ns, 300 * us, duration(100s), duration(100s) + 1ns})
        end_operation(metrics, 2, false, delay);
    end_operation(metrics, 3, true, 65ms);
    end_operation(metrics, 1, false, 7ms); // it has waited for a gate, and has no retry
    end_operation(metrics, 0, false, 7ms);
    exposition_parser const parsed(metrics.prometheus());
    EXPECT_EQ(parsed.fault, "");
    std::string const name = "grpc_client_call_retry_delay_seconds";
    auto const at_most = [&](char const* bound) { return parsed.value(name + "_bucket", {{"le", bound}}); };
    // The latencies of gRFC A66, all of them.
    double const expected[] = {0, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,
                               3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5};
    char const* const bounds[] = {
        "0",     "1e-05", "5e-05", "0.0001", "0.0003", "0.0006", "0.0008", "0.001", "0.002", "0.003", "0.004",
        "0.005", "0.006", "0.008", "0.01",   "0.013",  "0.016",  "0.02",   "0.025", "0.03",  "0.04",  "0.05",
        "0.065", "0.08",  "0.1",   "0.13",   "0.16",   "0.2",    "0.25",   "0.3",   "0.4",   "0.5",   "0.65",
        "0.8",   "1",     "2",     "5",      "10",     "20",     "50",     "100"};
    for (std::size_t i = 0; i != std::size(bounds); ++i)
        EXPECT_EQ(at_most(bounds[i]), expected[i]) << bounds[i];
    EXPECT_EQ(at_most("+Inf"), 6);
    EXPECT_NEAR(parsed.value(name + "_sum").value(), 200.06532, 1e-6);
    EXPECT_THAT(metrics.prometheus(), HasSubstr("# TYPE " + name + " histogram\n"));
}

// An attempt is a request. A success has no error.type, as the convention asks.
TEST(foreign_names, of_open_telemetry_measure_requests) {
    retry_metrics metrics({.open_telemetry = true});
    end_attempt(metrics, failure_kind::none, 5ms);
    end_attempt(metrics, failure_kind::none, 6ms);
    end_attempt(metrics, failure_kind::timeout, 10s);
    observation event;
    event.what = observation::kind::attempt_began;
    metrics.on_event(event);
    end_attempt(metrics, failure_kind::overloaded, 20s);
    std::string const text = metrics.prometheus();
    exposition_parser const parsed(text);
    EXPECT_EQ(parsed.fault, "");
    std::string const name = "http_client_request_duration_seconds";
    double expected = 1;
    for (char const* bound : {"0.005", "0.01", "0.025", "0.05", "0.075", "0.1", "0.25", "0.5", "0.75", "1",
                              "2.5", "5", "7.5", "10"}) {
        EXPECT_EQ(parsed.value(name + "_bucket", {{"le", bound}}), expected) << bound;
        expected = 2;
    }
    EXPECT_EQ(parsed.value(name + "_bucket", {{"error_type", "timeout"}, {"le", "7.5"}}), 0);
    EXPECT_EQ(parsed.value(name + "_bucket", {{"error_type", "timeout"}, {"le", "10"}}), 1);
    EXPECT_EQ(parsed.value(name + "_bucket", {{"error_type", "overloaded"}, {"le", "10"}}), 0);
    EXPECT_EQ(parsed.value(name + "_count", {{"error_type", "overloaded"}}), 1);
    for (char const* kind : {"permanent", "transient", "throttled"})
        EXPECT_EQ(parsed.value(name + "_count", {{"error_type", kind}}), 0) << kind;
    EXPECT_EQ(parsed.value(name + "_sum"), 0.011);
    EXPECT_EQ(parsed.value("http_client_active_requests"), 1);
    EXPECT_THAT(text,
                HasSubstr("# HELP http_client_request_duration_seconds Duration of HTTP client requests, each "
                          "attempt for itself.\n# TYPE http_client_request_duration_seconds histogram\n"
                          "http_client_request_duration_seconds_bucket{le=\"0.005\"} 1\n"));
}

// A program may have its own metrics of these names, as long as this object writes none.
TEST(foreign_names, are_taken_only_if_asked_for) {
    for (bool const is_on : {false, true})
        for (char const* name : {"grpc_client_call_retries", "grpc_client_call_hedges_bucket",
                                 "grpc_client_call_retry_delay_seconds_sum",
                                 "http_client_request_duration_seconds_count", "http_client_active_requests"}) {
            retry_metrics metrics({.grpc = is_on, .open_telemetry = is_on});
            auto const add = [&] { metrics.add_gauge(name, [] { return 1.; }); };
            if (is_on)
                EXPECT_THAT(calling(add), refuses("retry_metrics.gauge", std::string(name, 10),
                                                  "must be a name that is not taken"));
            else
                EXPECT_NO_THROW(add()) << name;
        }
}

} // namespace
} // namespace asio_retry::test
