#include <asio_retry/observe/retry_traces.hpp>

#include <asio_retry/async_hedge.hpp>
#include <asio_retry/async_retry.hpp>
#include <asio_retry/fail_if.hpp>
#include <asio_retry/observe/retry_metrics.hpp>
#include <asio_retry/retry_machine.hpp>
#include <asio_retry/traffic/rate_limit.hpp>
#include <asio_retry/virtual_time.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>

#include "support/csv.hpp"
#include "support/elements.hpp"
#include "support/recording_gate.hpp"
#include "support/script.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace asio_retry::test {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

constexpr std::string_view parent_field = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

trace_options seeded(double sampled = 1) {
    return {.service = "orders",
            .sampled = sampled,
            .seed = 7,
            .epoch = std::chrono::sys_time<std::chrono::nanoseconds>(1'000'000s)};
}

/// The spans that have ended.
std::vector<json::object> spans_of(retry_traces& traces) {
    std::vector<json::object> all;
    json::value const text = json::parse(traces.otlp_json(1'000'000));
    for (json::value const& resource : text.at("resourceSpans").as_array())
        for (json::value const& scope : resource.at("scopeSpans").as_array())
            for (json::value const& span : scope.at("spans").as_array())
                all.push_back(span.as_object());
    return all;
}

std::string text_at(json::object const& span, std::string_view key) {
    auto const* const found = span.if_contains(key);
    return found ? std::string(found->as_string()) : "";
}

/// The value of an attribute as text; empty if there is none.
std::string attribute(json::object const& of, std::string_view key) {
    for (json::value const& each : of.at("attributes").as_array())
        if (each.at("key").as_string() == key) {
            json::object const& value = each.at("value").as_object();
            return value.begin()->value().is_string() ? std::string(value.begin()->value().as_string())
                                                      : json::serialize(value.begin()->value());
        }
    return "";
}

std::vector<std::string> event_names(json::object const& span) {
    std::vector<std::string> names;
    for (json::value const& each : span.at("events").as_array())
        names.emplace_back(each.at("name").as_string());
    return names;
}

std::string message(json::object const& span) {
    auto const* const status = span.if_contains("status");
    return status ? std::string(status->at("message").as_string()) : "";
}

/// The machine of one operation whose second attempt succeeds.
void play_a_retry(std::shared_ptr<retry_observer> observer) {
    machine_script script(endless_every_100ms().observe(std::move(observer)));
    script.start();
    script.fail(3ms);
    script.wake(103ms);
    script.machine.on_success(script.begin + 110ms);
}

TEST(retry_traces, have_a_span_for_the_operation_and_one_for_each_attempt) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    play_a_retry(traces);
    EXPECT_EQ(traces->ended(), 3u);
    auto const spans = spans_of(*traces);
    ASSERT_EQ(spans.size(), 3u);
    json::object const &first = spans[0], &second = spans[1], &whole = spans[2];
    EXPECT_EQ(text_at(whole, "name"), "retry");
    EXPECT_EQ(text_at(first, "name"), "attempt");
    EXPECT_EQ(text_at(whole, "parentSpanId"), "");
    for (json::object const* attempt : {&first, &second}) {
        EXPECT_EQ(text_at(*attempt, "parentSpanId"), text_at(whole, "spanId"));
        EXPECT_EQ(text_at(*attempt, "traceId"), text_at(whole, "traceId"));
        EXPECT_EQ(attempt->at("kind"), 3);
    }
    EXPECT_EQ(whole.at("kind"), 1);
    EXPECT_EQ(text_at(whole, "traceId").size(), 32u);
    EXPECT_EQ(text_at(whole, "spanId").size(), 16u);
    EXPECT_NE(text_at(first, "spanId"), text_at(second, "spanId"));
    // It begins an hour after time_point().
    EXPECT_EQ(text_at(whole, "startTimeUnixNano"), "1003600000000000");
    EXPECT_EQ(text_at(whole, "endTimeUnixNano"), "1003600110000000");
    EXPECT_EQ(text_at(first, "endTimeUnixNano"), "1003600003000000");
    EXPECT_EQ(text_at(second, "startTimeUnixNano"), "1003600103000000");
    EXPECT_EQ(message(first), unreachable().message());
    EXPECT_EQ(first.at("status").at("code"), 2);
    EXPECT_EQ(attribute(first, "error.type"), "generic:" + std::to_string(unreachable().value()));
    EXPECT_EQ(attribute(first, "asio_retry.attempt"), "1");
    EXPECT_EQ(attribute(first, "http.request.resend_count"), "");
    EXPECT_EQ(attribute(second, "http.request.resend_count"), "1");
    EXPECT_FALSE(second.if_contains("status"));
    EXPECT_FALSE(whole.if_contains("status"));
    EXPECT_EQ(attribute(whole, "asio_retry.attempts"), "2");
    EXPECT_EQ(attribute(whole, "asio_retry.reason"), "succeeded");
    EXPECT_THAT(event_names(whole), elements("wait"));
    json::object const& wait = whole.at("events").at(0).as_object();
    EXPECT_EQ(attribute(wait, "asio_retry.delay"), "1E-1");
    EXPECT_EQ(attribute(wait, "asio_retry.message"), unreachable().message());
    EXPECT_EQ(traces->ended(), 0u);
    EXPECT_EQ(traces->otlp_json(), R"({"resourceSpans":[]})");
}

TEST(retry_traces, name_the_cause) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    auto const ends_with = [&](verdict const& failure) {
        machine_script script(endless_every_100ms().max_attempts(1).observe(traces));
        script.start();
        script.fail(3ms, failure);
        return spans_of(*traces);
    };
    auto spans = ends_with(verdict::failure(std::make_exception_ptr(std::runtime_error("no \"route\"\n\x01"))));
    EXPECT_EQ(message(spans[0]), "no \"route\"\n\x01");
    EXPECT_EQ(attribute(spans[0], "error.type"), "exception");
    EXPECT_THAT(event_names(spans[0]), elements("exception"));
    EXPECT_EQ(attribute(spans[0].at("events").at(0).as_object(), "exception.message"), "no \"route\"\n\x01");
    EXPECT_EQ(message(spans[1]), "no \"route\"\n\x01");
    EXPECT_EQ(attribute(spans[1], "asio_retry.reason"), "attempts");

    spans = ends_with(verdict::rejected(judge_http(503, "1")));
    EXPECT_EQ(message(spans[0]), "HTTP 503, retry after 1 s");
    EXPECT_EQ(attribute(spans[0], "error.type"), "503");
    EXPECT_EQ(attribute(spans[0], "http.response.status_code"), "503");
    EXPECT_EQ(attribute(spans[1], "http.response.status_code"), "503");

    std::string bad("\xc3\xa9\xff");
    bad.append(1030, 'x').insert(1023, "\xc3\xa9");
    spans = ends_with(verdict::failure(std::make_exception_ptr(std::runtime_error(bad))));
    EXPECT_EQ(message(spans[0]), "\xc3\xa9\xef\xbf\xbd" + std::string(1020, 'x')) << "shortened, and UTF-8";
}

TEST(retry_traces, tell_what_stopped_an_attempt) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    {
        machine_script script(endless_every_100ms().max_attempts(1).attempt_timeout(50ms).observe(traces));
        script.start();
        script.expire(0ms, 51ms);
    }
    auto spans = spans_of(*traces);
    EXPECT_EQ(message(spans[0]), "attempt timed out after 50 ms");
    EXPECT_EQ(attribute(spans[0], "asio_retry.stopped"), "attempt_timeout");
    {
        machine_script script(endless_every_100ms().observe(traces));
        script.start();
        script.machine.cancel();
        script.fail(1ms, detail::aborted_error());
    }
    spans = spans_of(*traces);
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_EQ(attribute(spans[0], "asio_retry.stopped"), "cancellation");
    EXPECT_FALSE(spans[0].if_contains("status")) << "a cancellation is no error";
    EXPECT_FALSE(spans[1].if_contains("status"));
    EXPECT_EQ(attribute(spans[1], "asio_retry.reason"), "cancelled");
}

TEST(retry_traces, call_no_attempt_a_failure_that_metrics_call_abandoned) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    auto const metrics = std::make_shared<retry_metrics>();
    machine_script script(endless_every_100ms().observe(all_observers({traces, metrics})));
    script.start();
    script.fail(1ms, detail::aborted_error()); // the program has closed its socket
    auto const spans = spans_of(*traces);
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_EQ(metrics->counts().abandoned, 1u);
    EXPECT_FALSE(spans[0].if_contains("status"));
    EXPECT_TRUE(spans[1].if_contains("status")) << "the operation has not succeeded";
}

TEST(retry_traces, tell_of_refusals) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    machine_script script(endless_every_100ms().gate(std::make_shared<counting_tokens>(0)).observe(traces));
    script.start();
    script.fail(3ms);
    auto const spans = spans_of(*traces);
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_THAT(event_names(spans[1]), elements("refused"));
    json::object const& refusal = spans[1].at("events").at(0).as_object();
    EXPECT_EQ(attribute(refusal, "asio_retry.gate"), "gate");
    EXPECT_EQ(attribute(refusal, "asio_retry.message"), "gate refused the retry");
}

TEST(retry_traces, tell_of_waits_for_gates) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    auto const limit = std::make_shared<rate_limit>(1, 1s);
    EXPECT_EQ(limit->admit(1, time_point(1h)).until, time_point(1h));
    machine_script script(endless_every_100ms().gate(limit).wait_when_refused().observe(traces));
    script.start();
    script.wake(1s);
    script.machine.on_success(script.begin + 1s);
    auto const spans = spans_of(*traces);
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_THAT(event_names(spans[1]), elements("held"));
    json::object const& wait = spans[1].at("events").at(0).as_object();
    EXPECT_EQ(attribute(wait, "asio_retry.gate"), "rate_limit");
    EXPECT_EQ(attribute(wait, "asio_retry.message"), "rate_limit lets the attempt begin in 1 s");
}

TEST(retry_traces, have_overlapping_spans_of_a_hedge) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    hedge_script script(hedge_policy(20ms).observe(traces));
    script.start();
    script.go_on(20);
    script.succeed(2, 30);
    script.drop(1, 31);
    auto const spans = spans_of(*traces);
    ASSERT_EQ(spans.size(), 3u);
    EXPECT_EQ(attribute(spans[0], "asio_retry.attempt"), "2");
    EXPECT_EQ(attribute(spans[1], "asio_retry.attempt"), "1");
    EXPECT_EQ(attribute(spans[1], "asio_retry.stopped"), "beaten");
    EXPECT_FALSE(spans[1].if_contains("status"));
    EXPECT_EQ(text_at(spans[2], "name"), "hedge");
    EXPECT_THAT(event_names(spans[2]), elements("hedge"));
}

TEST(retry_traces, decision_68_have_the_same_ids_with_the_same_seed) {
    auto const ids_with = [](std::uint64_t seed) {
        trace_options options = seeded();
        options.seed = seed;
        asio::io_context io(1);
        virtual_time time(io);
        auto const traces = std::make_shared<retry_traces>(options);
        std::vector<std::string> sent;
        int fails = 2;
        auto const operation = [&](attempt const& which) {
            sent.push_back(traces->traceparent(which));
            return fails-- > 0 ? unreachable() : error_code();
        };
        async_retry(io, operation, endless_every_100ms().observe(traces), asio::detached);
        time.run();
        for (json::object const& span : spans_of(*traces))
            sent.push_back(text_at(span, "traceId") + text_at(span, "spanId"));
        return sent;
    };
    auto const once = ids_with(7);
    ASSERT_EQ(once.size(), 7u);
    EXPECT_EQ(once, ids_with(7));
    EXPECT_NE(once, ids_with(8));
    for (std::size_t i = 0; i != 3; ++i)
        EXPECT_EQ(once[i], "00-" + once[3 + i].substr(0, 32) + "-" + once[3 + i].substr(32) + "-01");
    EXPECT_EQ(std::set<std::string>(once.begin(), once.end()).size(), 7u);
}

TEST(golden, decision_68_ids_of_spans) {
    std::size_t compared = 0;
    std::string seed, operation;
    std::shared_ptr<retry_traces> traces;
    std::vector<json::object> spans; // of the attempts, and then of the operation
    for (csv_row const& row : read_csv("span_ids.csv")) {
        if (std::exchange(seed, row.at("seed")) != row.at("seed")) {
            trace_options options = seeded();
            options.seed = std::stoull(seed);
            traces = std::make_shared<retry_traces>(options);
            operation.clear();
        }
        if (std::exchange(operation, row.at("operation")) != row.at("operation")) {
            play_a_retry(traces);
            spans = spans_of(*traces);
        }
        std::size_t const attempt = std::stoul(row.at("attempt"));
        json::object const& span = attempt == 0 ? spans.back() : spans.at(attempt - 1);
        EXPECT_EQ(text_at(span, "traceId"), row.at("trace_id"));
        EXPECT_EQ(text_at(span, "spanId"), row.at("span_id"));
        ++compared;
    }
    EXPECT_EQ(compared, 18u);
}

TEST(retry_traces, decision_68_sample_a_share) {
    auto const traces = std::make_shared<retry_traces>(seeded(0.25));
    int sampled = 0;
    for (std::uint64_t operation = 1; operation <= 100'000; ++operation) {
        bool const wanted = traces->wants(operation);
        sampled += wanted;
        EXPECT_EQ(wanted, traces->wants(operation));
    }
    EXPECT_NEAR(sampled, 25'000, 5 * std::sqrt(100'000 * 0.25 * 0.75));
    EXPECT_FALSE(retry_traces(seeded(0)).wants(1));
    EXPECT_TRUE(retry_traces(seeded(1)).wants(1));
}

TEST(retry_traces, propagate_that_an_operation_is_not_sampled) {
    auto const traces = std::make_shared<retry_traces>(seeded(0));
    asio::io_context io(1);
    std::vector<std::string> sent;
    auto const operation = [&](attempt const& which) {
        EXPECT_EQ(which.operation(), 0u);
        sent.push_back(traces->traceparent(which));
    };
    async_retry(io, operation, endless_every_100ms().observe(traces), asio::detached);
    async_retry(io, operation, endless_every_100ms().observe(traces), asio::detached);
    io.run();
    ASSERT_EQ(sent.size(), 2u);
    for (std::string const& field : sent) {
        EXPECT_EQ(field.size(), 55u);
        EXPECT_TRUE(field.ends_with("-00")) << field;
    }
    EXPECT_NE(sent[0], sent[1]);
    EXPECT_EQ(traces->ended(), 0u);
    EXPECT_EQ(traces->dropped(), 0u);
}

TEST(retry_traces, continue_the_trace_of_a_request) {
    auto const traces = std::make_shared<retry_traces>(seeded(0));
    auto const request = traces->request(parent_field);
    asio::io_context io(1);
    std::string sent;
    auto const operation = [&](attempt const& which) { sent = request->traceparent(which); };
    async_retry(io, operation, retry_policy().observe(request), asio::detached);
    io.run();
    auto const spans = spans_of(*traces);
    ASSERT_EQ(spans.size(), 2u) << "the request is sampled";
    EXPECT_EQ(text_at(spans[1], "traceId"), "0af7651916cd43dd8448eb211c80319c");
    EXPECT_EQ(text_at(spans[1], "parentSpanId"), "b7ad6b7169203331");
    EXPECT_EQ(spans[1].at("flags"), 0x301) << "sampled, and its parent is elsewhere";
    EXPECT_EQ(spans[0].at("flags"), 0x101);
    EXPECT_EQ(sent, "00-0af7651916cd43dd8448eb211c80319c-" + text_at(spans[0], "spanId") + "-01");

    std::string unsampled(parent_field);
    unsampled.back() = '0';
    auto const other = traces->request(unsampled);
    EXPECT_FALSE(other->wants(1));
    EXPECT_EQ(other->traceparent(attempt()), unsampled) << "nobody takes part";
}

// What follows the known part of a later version is anything, and must not reach the next server's fields.
TEST(retry_traces, decision_68_pass_an_unsampled_trace_on_as_version_00) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    std::string unsampled(parent_field);
    unsampled.back() = '0';
    for (std::string const& field :
         {' ' + unsampled + '\t', "01" + unsampled.substr(2), "01" + unsampled.substr(2) + "-x\r\nHost: other"})
        EXPECT_EQ(traces->request(field)->traceparent(attempt()), unsampled);
}

// Malformed fields begin a trace of their own.
TEST(retry_traces, decision_68_read_a_traceparent_as_W3C_says) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    auto const continues = [&](std::string_view field) {
        return traces->request(field)->traceparent(attempt()).starts_with(
            "00-0af7651916cd43dd8448eb211c80319c-");
    };
    std::string const good(parent_field);
    EXPECT_TRUE(continues(good));
    EXPECT_TRUE(continues(" " + good + "\t"));
    EXPECT_TRUE(continues("01" + good.substr(2)));
    EXPECT_TRUE(continues("01" + good.substr(2) + "-more"));
    EXPECT_TRUE(continues(good.substr(0, 53) + "03")) << "other flags";
    EXPECT_FALSE(continues(good + "-more")) << "version 00 has one length";
    EXPECT_FALSE(continues("01" + good.substr(2) + "x"));
    EXPECT_FALSE(continues("ff" + good.substr(2)));
    EXPECT_FALSE(continues("0x" + good.substr(2)));
    EXPECT_FALSE(continues(""));
    for (std::size_t i = 0; i != good.size(); ++i) {
        std::string bad = good;
        bad[i] = 'G';
        EXPECT_FALSE(continues(bad)) << bad;
        EXPECT_FALSE(continues(good.substr(0, i))) << i;
    }
    std::string upper = good;
    upper[4] = 'A';
    EXPECT_FALSE(continues(upper));
    EXPECT_FALSE(continues("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
    EXPECT_FALSE(continues("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"));
}

TEST(retry_traces, decision_68_keep_a_bounded_number_of_spans) {
    trace_options options = seeded();
    options.greatest = 4;
    auto const traces = std::make_shared<retry_traces>(options);
    play_a_retry(traces); // three spans
    play_a_retry(traces); // the fourth, and two attempts too many
    play_a_retry(traces); // no room at all
    EXPECT_EQ(traces->ended(), 4u);
    EXPECT_EQ(traces->dropped(), 5u);
    EXPECT_EQ(spans_of(*traces).size(), 4u);
    play_a_retry(traces);
    EXPECT_EQ(spans_of(*traces).size(), 3u) << "there is room again";
    EXPECT_EQ(traces->dropped(), 5u);
}

// A policy observes all operations, and the handler of a request adds its own observer.
TEST(retry_traces, decision_68_of_two_observers_of_one_operation_are_made_once) {
    trace_options options = seeded();
    options.greatest = 4;
    auto const traces = std::make_shared<retry_traces>(options);
    auto const request = traces->request(parent_field);
    std::vector<std::shared_ptr<retry_observer>> const several[]{
        {traces, request}, {request, traces}, {traces, traces}, {request, request}};
    for (auto const& observers : several)
        for (int i = 0; i != 10; ++i) {
            play_a_retry(all_observers(observers));
            auto const spans = spans_of(*traces);
            ASSERT_EQ(spans.size(), 3u);
            bool const is_of_request = observers[0] != observers[1] || observers[0] == request;
            for (json::object const& span : spans)
                EXPECT_EQ(text_at(span, "traceId") == parent_field.substr(3, 32), is_of_request);
            EXPECT_EQ(text_at(spans[2], "parentSpanId") == parent_field.substr(36, 16), is_of_request);
            EXPECT_EQ(text_at(spans[0], "parentSpanId"), text_at(spans[2], "spanId"));
            std::size_t const times = observers[0] == observers[1] ? 2 : 1;
            EXPECT_EQ(event_names(spans[2]).size(), times) << "it waits once";
        }
    EXPECT_EQ(traces->dropped(), 0u);
}

TEST(retry_traces, decision_68_keep_a_bounded_number_of_events) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    {
        machine_script script(endless_every_100ms().observe(traces));
        script.start();
        for (int i = 0; i != 200; ++i) {
            script.fail(i * 1ms);
            script.wake(i * 1ms);
        }
    }
    auto const spans = spans_of(*traces);
    ASSERT_EQ(spans.size(), 202u);
    EXPECT_EQ(spans.back().at("events").as_array().size(), 128u);
    EXPECT_EQ(spans.back().at("droppedEventsCount"), 72);
}

TEST(retry_traces, are_taken_in_parts) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    for (int i = 0; i != 10; ++i)
        play_a_retry(traces);
    std::size_t parts = 0;
    std::set<std::string> ids;
    for (; traces->ended() != 0; ++parts) {
        json::value const text = json::parse(traces->otlp_json(7));
        for (json::value const& span :
             text.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array())
            ids.emplace(span.at("spanId").as_string());
    }
    EXPECT_EQ(parts, 5u);
    EXPECT_EQ(ids.size(), 30u);
}

TEST(retry_traces, refuse_options_that_make_no_sense) {
    auto const refusal = [](trace_options const& options) -> std::string {
        try {
            retry_traces const traces(options);
        } catch (std::invalid_argument const& e) {
            return e.what();
        }
        return "";
    };
    EXPECT_THAT(refusal({.sampled = 1.5}), testing::HasSubstr("retry_traces.sampled"));
    EXPECT_THAT(refusal({.sampled = std::nan("")}), testing::HasSubstr("retry_traces.sampled"));
    EXPECT_THAT(refusal({.greatest = 0}), testing::HasSubstr("retry_traces.greatest"));
    EXPECT_THAT(refusal({.service = "\xff"}), testing::HasSubstr("retry_traces.service"));
}

TEST(retry_traces, count_everything_on_four_threads) {
    auto const traces = std::make_shared<retry_traces>(seeded());
    std::vector<std::thread> threads;
    for (int i = 0; i != 4; ++i)
        threads.emplace_back([&] {
            for (int k = 0; k != 500; ++k)
                play_a_retry(traces);
        });
    std::size_t taken = 0;
    for (auto& each : threads)
        each.join();
    while (traces->ended() != 0)
        taken += spans_of(*traces).size();
    EXPECT_EQ(taken, 6000u);
    EXPECT_EQ(traces->dropped(), 0u);
}

} // namespace
} // namespace asio_retry::test
