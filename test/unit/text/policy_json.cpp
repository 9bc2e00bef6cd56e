#include <asio_retry/policy_json.hpp>

#include <asio_retry/profiles.hpp>

#include "support/elements.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using testing::StartsWith;

namespace json = boost::json;

retry_policy policy_in(json::string_view text) {
    return policy_from_json(json::parse(text));
}

std::string text_of(json::string_view text) {
    return to_string(policy_in(text));
}

/// What a reader of JSON says of a wrong value, behind the prefix of all messages.
template <typename Read>
std::string fault_of(Read read) {
    try {
        (void)read();
    } catch (policy_syntax_error const& fault) {
        EXPECT_EQ(fault.position(), std::string_view::npos);
        EXPECT_THAT(fault.what(), StartsWith("asio_retry: at "));
        return std::string(fault.what()).substr(std::string("asio_retry: at ").size());
    }
    ADD_FAILURE() << "accepted";
    return "";
}

std::string json_fault_in(json::string_view text) {
    return fault_of([&] { return policy_in(text); });
}

json::object grpc_example() {
    return {{"maxAttempts", 4},
            {"initialBackoff", ".1s"},
            {"maxBackoff", "1s"},
            {"backoffMultiplier", 2},
            {"retryableStatusCodes", {"UNAVAILABLE"}}};
}

grpc_retry_policy grpc_policy_with(std::string_view field, json::value const& value) {
    json::object changed = grpc_example();
    changed[{field.data(), field.size()}] = value;
    return grpc_retry_policy_from_json(changed);
}

std::string grpc_fault_with(std::string_view field, json::value const& value) {
    return fault_of([&] { grpc_policy_with(field, value); });
}

TEST(policy_json, reads_the_example) {
    EXPECT_EQ(
        text_of(R"({"exponential": {"base": "500ms", "factor": 1.5, "cap": "60s"},
                          "proportional_jitter": 0.5, "max_attempts": 10, "clamp": true})"),
        "exponential(base=500ms, factor=1.5, cap=1min) proportional_jitter(0.5) max_attempts(10) clamp()");
    EXPECT_EQ(text_of("{}"), to_string(retry_policy()));
}

TEST(policy_json, arguments_are_named_or_in_their_order_or_alone) {
    EXPECT_EQ(text_of(R"({"exponential": ["500ms", 1.5]})"),
              text_of(R"({"exponential": {"base": "500ms", "factor": 1.5}})"));
    EXPECT_EQ(text_of(R"({"exponential": "500ms"})"), text_of(R"({"exponential": {"base": "500ms"}})"));
    EXPECT_EQ(text_of(R"({"max_attempts": [4]})"), text_of(R"({"max_attempts": 4})"));
    EXPECT_EQ(text_of(R"({"max_attempts": 4.0})"), text_of(R"({"max_attempts": 4})"));
    EXPECT_EQ(text_of(R"({"clamp": true})"), text_of(R"({"clamp": {}})"));
    EXPECT_EQ(text_of(R"({"clamp": []})"), text_of(R"({"clamp": {}})"));
    EXPECT_EQ(text_of(R"({"schedule": {"cap": "3s", "delays": ["1s", "5s"]}})"),
              "schedule(1s, 5s, cap=3s) no_jitter() max_attempts(3)");
    EXPECT_EQ(text_of(R"({"chained": [{"linear": ["1s", "2s"]}, 5, {"constant": "1min"}]})"),
              text_of(R"({"chained": {"first": {"linear": {"initial": "1s", "step": "2s"}}, "failures": 5,
                                      "then": {"constant": {"value": "1min"}}}})"));
}

TEST(policy_json, a_whole_number_may_be_a_double) {
    auto const attempts = [](json::string_view text) { return policy_in(text).settings().max_attempts; };
    EXPECT_EQ(attempts(R"({"max_attempts": 99999.0})"), 99'999u);
    EXPECT_EQ(attempts(R"({"max_attempts": 100000.0})"), 100'000u);
    EXPECT_EQ(attempts(R"({"max_attempts": 9223372036854774784.0})"), 9'223'372'036'854'774'784u);
    EXPECT_EQ(json_fault_in(R"({"max_attempts": 9223372036854775808.0})"),
              "/max_attempts: expected a whole number for count of max_attempts of less than 2^63, found "
              "'9223372036854775808'");
    EXPECT_EQ(json_fault_in(R"({"max_attempts": 100000.5})"),
              "/max_attempts: expected a whole number for count of max_attempts, found '100000.5'");
    EXPECT_EQ(text_of(R"({"exponential": ["1s", 1e300]})"),
              text_of(R"({"exponential": {"base": "1s", "factor": 1e300}})"));
}

TEST(policy_json, every_item_is_written_and_read) {
    for (std::string_view const text :
         {"constant(value=5ms) no_jitter() unlimited_attempts()",
          "linear(initial=1s, step=250ms) full_jitter() max_attempts(1)",
          "exponential(base=100ms, factor=1.5, cap=20s) equal_jitter() max_attempts(9223372036854775807)",
          "stepwise_exponential(base=500ms, factor=1.5, greatest=1min) decorrelated_jitter() max_attempts(3)",
          "polynomial(base=2s, exponent=3, cap=1h) proportional_jitter(0.5) max_attempts(3)",
          "fibonacci(base=1s) proportional_jitter(0.1, beyond_cap=true) max_attempts(3)",
          "truncated_binary(growing_failures=10, greatest=10s) additive_jitter(1s, unit=1ms, cap=32s) "
          "max_attempts(3)",
          "slotted_binary(slot=51200ns, greatest_exponent=10) multiplicative_jitter(least=0.8, greatest=1.2) "
          "max_attempts(3)",
          "schedule(1s) windowed_jitter(500ms) max_attempts(3)",
          "schedule(1s) symmetric_jitter(500ms, at_least=10ms) max_attempts(3)",
          "schedule(1s) uniform_jitter(500ms) max_attempts(3)",
          "schedule(1s, 2s) log_normal_jitter(0.25) max_attempts(3)",
          "schedule(1s, 2s, cap=1s) full_jitter() max_attempts(3)",
          "chained(first=linear(initial=1s, step=1s, cap=2s), failures=5, then=schedule(1s, 2s, cap=2s)) "
          "full_jitter(unit=1s) max_attempts(3)",
          "constant(value=0s) full_jitter() max_attempts(3) max_elapsed(15min) attempt_timeout(5s) "
          "total_timeout(1h) deadline(-90s) reset_after(30s) clamp() allow_total_cancellation() "
          "retry_when_nested() wait_when_refused() priority(high) pushback_limit(30s, clamp=true) "
          "pushback_spread(0.2)",
          "constant(value=0s) full_jitter() max_attempts(3) pushback_limit(2s)",
          "constant(value=0s) full_jitter() max_attempts(3) max_waited(1min) retry_sent(false)",
          "constant(value=0s) full_jitter() max_attempts(3) rate_limit(n=100, per=1s, burst=20)",
          "constant(value=0s) full_jitter() max_attempts(3) rate_limit(n=1, per=1min) wait_when_refused()",
          "constant(value=0s) full_jitter() max_attempts(3) concurrency_limit(fixed_limit(4))",
          "constant(value=0s) full_jitter() max_attempts(3) hedge_share(0.05)",
          "constant(value=0s) full_jitter() max_attempts(3) hedge_share(0.05, burst=1)"}) {
        retry_policy const policy = parse_policy(text);
        json::value const written = policy_to_json(policy);
        EXPECT_EQ(to_string(policy_from_json(written)), text) << json::serialize(written);
        EXPECT_EQ(text_of(json::serialize(written)), text);
        EXPECT_EQ(policy_to_json(policy_from_json(written)), written);
    }
}

TEST(policy_json, decision_86_a_rate_limit_has_its_arguments_by_name_or_in_their_order) {
    EXPECT_EQ(text_of(R"({"rate_limit": [100, "1s", 20]})"),
              text_of(R"({"rate_limit": {"n": 100, "per": "1s", "burst": 20}})"));
    EXPECT_EQ(text_of(R"({"rate_limit": [100.0, "1s"]})"), to_string(parse_policy("rate_limit(100, 1s)")));
    EXPECT_EQ(json::serialize(policy_to_json(parse_policy("rate_limit(100, 1s)")).at("rate_limit")),
              R"({"n":100,"per":"1s"})");
    EXPECT_EQ(json_fault_in(R"({"rate_limit": 100})"),
              "/rate_limit: expected a duration such as 500ms for per of rate_limit, found none");
    EXPECT_EQ(
        json_fault_in(R"({"rate_limit": {"n": 1, "per": 1}})"),
        "/rate_limit/per: expected a duration such as 500ms for per of rate_limit, found '1'; did you mean "
        "\"1s\"?");
    EXPECT_EQ(json_fault_in(R"({"rate_limit": [-1, "1s"]})"),
              "/rate_limit: rate_limit.n = -1: must be positive");
    EXPECT_EQ(json_fault_in(R"({"rate_limit": [{"n": 1, "per": "1s"}]})"),
              "/rate_limit/0: expected an object with one key, the name of a backoff, found "
              "'{\"n\":1,\"per\":\"1s\"}'");
}

TEST(policy_json, fixed_limits_and_shares_of_hedges) {
    auto const json_of = [](char const* text, char const* item) {
        return json::serialize(policy_to_json(parse_policy(text)).at(item));
    };
    EXPECT_EQ(json_of("concurrency_limit(fixed_limit(4))", "concurrency_limit"),
              R"({"algorithm":{"fixed_limit":4}})");
    EXPECT_EQ(text_of(R"({"concurrency_limit": {"algorithm": {"fixed_limit": {"n": 4}}}})"),
              text_of(R"({"concurrency_limit": [{"fixed_limit": 4}]})"));
    EXPECT_EQ(policy_to_json(parse_policy("hedge_share(0.05)")).at("hedge_share").as_double(), 0.05);
    EXPECT_EQ(text_of(R"({"hedge_share": 0.05})"), text_of(R"({"hedge_share": {"share": 0.05, "burst": 10}})"));
    EXPECT_EQ(text_of(R"({"hedge_share": [0.05, 1]})"), to_string(parse_policy("hedge_share(0.05, 1)")));
    EXPECT_EQ(json_fault_in(R"({"concurrency_limit": 4})"),
              "/concurrency_limit: expected a limit such as fixed_limit(4) for algorithm of concurrency_limit, "
              "found '4'");
    EXPECT_EQ(json_fault_in(R"({"concurrency_limit": [{"fixed_limit": 0}]})"),
              "/concurrency_limit/0/fixed_limit: fixed_limit.n = 0: must be positive");
    EXPECT_EQ(json_fault_in(R"({"concurrency_limit": [{"gradient": 4}]})"),
              "/concurrency_limit/0/gradient: expected fixed_limit, found 'gradient'");
    EXPECT_EQ(json_fault_in(R"({"hedge_share": 5})"),
              "/hedge_share: hedge_share.share = 5: must be in [0.000001, 1]");
    EXPECT_EQ(json_fault_in(R"({"hedge_share": "5%"})"),
              "/hedge_share: expected a number for share of hedge_share, found '\"5%\"'");
    EXPECT_EQ(json_fault_in(R"({"hedge_share": 0.05, "rate_limit": [1, "1s"]})"),
              "/rate_limit: expected no second gate, found 'rate_limit'");
}

TEST(policy_json, a_negative_zero_is_zero) {
    EXPECT_EQ(to_string(parse_policy("pushback_spread(-0)")), to_string(retry_policy().pushback_spread(0)));
    EXPECT_EQ(text_of(R"({"pushback_spread": -0.0})"), to_string(retry_policy().pushback_spread(0)));
}

TEST(policy_json, a_profile_comes_first_wherever_it_stands) {
    EXPECT_EQ(text_of(R"({"max_attempts": 9, "unix_connect": true})"), to_string(profiles::unix_connect(9)));
    EXPECT_EQ(text_of(R"({"unix_connect": {}, "max_attempts": 9})"), to_string(profiles::unix_connect(9)));
    EXPECT_EQ(json_fault_in(R"({"unix_connect": true, "celery": true})"),
              "/celery: expected no second profile, found 'celery'");
}

TEST(policy_json, an_earlier_name_is_read_until_0_5_and_written_anew) {
    json::object const written = policy_to_json(policy_in(R"({"set_up_within": "10s"})")).as_object();
    EXPECT_EQ(written.at("setup_timeout"), json::value("10s"));
    EXPECT_FALSE(written.contains("set_up_within"));
    EXPECT_THAT(json_fault_in(R"({"set_up_within": "10s", "setup_timeout": "10s"})"),
                testing::HasSubstr("expected no second setup_timeout"));
}

TEST(policy_json, is_written_in_short) {
    auto const written = [](std::string_view text) {
        return json::serialize(policy_to_json(parse_policy(text)));
    };
    EXPECT_EQ(written(""), R"({"exponential":{"base":"100ms","factor":2,"cap":"20s"},"full_jitter":true,)"
                           R"("max_attempts":3})");
    EXPECT_EQ(written("schedule(1s, 2s) proportional_jitter(0.5) unlimited_attempts() max_elapsed(90s)"),
              R"({"schedule":["1s","2s"],"proportional_jitter":5E-1,"unlimited_attempts":true,)"
              R"("max_elapsed":"90s"})");
    EXPECT_EQ(written("first_at_once(schedule(1s, 2s, cap=2s)) proportional_jitter(1, unit=1s)"),
              R"({"chained":{"first":{"constant":{"value":"0s","cap":"0s"}},"failures":1,)"
              R"("then":{"schedule":{"cap":"2s","delays":["1s","2s"]}}},)"
              R"("proportional_jitter":{"fraction":1,"unit":"1s"},"max_attempts":3})");
}

TEST(policy_json, a_priority_is_a_string) {
    retry_policy const policy = retry_policy().priority(request_priority::low);
    EXPECT_EQ(policy_to_json(policy).at("priority"), json::value("low"));
    EXPECT_EQ(
        json_fault_in(R"({"priority": "lo"})"),
        "/priority: expected high, normal or low for rank of priority, found '\"lo\"'; did you mean low?");
}

TEST(policy_json, any_failure_is_a_key) {
    retry_policy const policy = retry_policy().retry_if(any_failure);
    EXPECT_EQ(to_string(policy_from_json(policy_to_json(policy))), to_string(policy));
    EXPECT_EQ(policy_to_json(policy).at("any_failure"), json::value(true));
}

TEST(policy_json, decision_89_without_a_jitter_each_backoff_has_its_own) {
    EXPECT_EQ(text_of(R"({"constant": "1s"})"), "constant(value=1s) no_jitter() max_attempts(3)");
    json::value const mixed =
        policy_to_json(retry_policy().backoff(schedule({1s})).when(failure_kind::timeout, exponential(1s)));
    EXPECT_FALSE(mixed.as_object().contains("no_jitter"));
    EXPECT_EQ(policy_to_json(policy_from_json(mixed)), mixed);
}

TEST(policy_json, decision_50_rules_of_kinds_are_lists) {
    retry_policy const policy = retry_policy()
                                    .retry_if(failure_kind::timeout, failure_kind::overloaded)
                                    .when(failure_kind::timeout, constant(1s))
                                    .when(failure_kind::throttled, constant(2s))
                                    .max_attempts_when(failure_kind::overloaded, 2);
    json::value const written = policy_to_json(policy);
    EXPECT_EQ(
        json::serialize(written),
        R"({"exponential":{"base":"100ms","factor":2,"cap":"20s"},"max_attempts":3,)"
        R"("retry_if":["timeout","overloaded"],)"
        R"("when":[{"kind":"timeout","backoff":{"constant":{"value":"1s"}}},{"kind":"throttled","backoff":{"constant":{"value":"2s"}}}],)"
        R"("max_attempts_when":[{"kind":"overloaded","count":2}]})");
    EXPECT_EQ(to_string(policy_from_json(written)), to_string(policy));
    retry_policy const one = retry_policy().retry_if(failure_kind::throttled);
    EXPECT_EQ(policy_to_json(one).at("retry_if"), json::value("throttled"));
    EXPECT_EQ(to_string(policy_from_json(policy_to_json(one))), to_string(one));
    EXPECT_EQ(text_of(R"({"when": {"kind": "timeout", "backoff": {"constant": "1s"}}})"),
              to_string(retry_policy().when(failure_kind::timeout, constant(1s))));
    EXPECT_EQ(json_fault_in(R"({"retry_if": "timout"})"),
              "/retry_if: expected a kind of failure such as timeout for each kind of retry_if, found "
              "'\"timout\"'; did you mean timeout?");
    EXPECT_EQ(json_fault_in(R"({"when": [{"kind": "timeout"}]})"),
              "/when/0: expected a backoff for backoff of when, found none");
}

TEST(policy_json, rules_of_failures_are_lists_and_cannot_be_read) {
    auto const refused = [](error_code const&) { return true; };
    retry_policy const policy =
        retry_policy().when(refused, constant(1s)).max_attempts_when(refused, 2).when(refused, constant(2s));
    EXPECT_EQ(
        boost::json::serialize(policy_to_json(policy)),
        R"({"exponential":{"base":"100ms","factor":2,"cap":"20s"},"max_attempts":3,)"
        R"("when":[{"predicate":"<callable>","backoff":{"constant":{"value":"1s"}}},{"predicate":"<callable>","backoff":{"constant":{"value":"2s"}}}],)"
        R"("max_attempts_when":[{"predicate":"<callable>","count":2}]})");
    EXPECT_EQ(json_fault_in(R"({"when": [{"predicate": "<callable>", "backoff": {"constant": "1s"}}]})"),
              "/when/0: when stands for a callable, and a callable cannot be read from text");
    EXPECT_EQ(json_fault_in(R"({"max_attempts_when": [{"predicate": "<callable>", "count": 2}]})"),
              "/max_attempts_when/0: max_attempts_when stands for a callable, and a callable cannot be read "
              "from text");
}

TEST(policy_json, callables_have_a_stand_in_and_cannot_be_read) {
    json::value const written = policy_to_json(
        retry_policy().backoff([](std::uint64_t) { return duration(1s); }).retry_if([](error_code) {
            return true;
        }));
    EXPECT_EQ(json::serialize(written),
              R"({"custom_backoff":"<callable>","full_jitter":true,"max_attempts":3,"retry_if":"<callable>"})");
    EXPECT_EQ(fault_of([&] { return policy_from_json(written); }),
              "/custom_backoff: custom_backoff stands for a callable, and a callable cannot be read from text");
    EXPECT_EQ(json_fault_in(R"({"retry_if": "<callable>"})"),
              "/retry_if: retry_if stands for a callable, and a callable cannot be read from text");
}

TEST(policy_json, faults_are_named_by_their_path) {
    EXPECT_EQ(json_fault_in("[]"), "the root: expected an object, found '[]'");
    EXPECT_EQ(
        json_fault_in(R"({"exponential": {"base": "500m"}})"),
        "/exponential/base: expected a unit (ns, us, ms, s, min or h), found 'm'; did you mean min or ms?");
    EXPECT_EQ(json_fault_in(R"({"exponential": {"base": "1.s"}})"),
              "/exponential/base: expected a digit behind the point, found '1.s'");
    EXPECT_EQ(json_fault_in("{\"constant\": \"1\xce\xbcs\"}"),
              "/constant: expected a unit (ns, us, ms, s, min or h), found '\\xce\\xbcs'; did you mean us?");
    EXPECT_EQ(json_fault_in(R"({"exponential": {"base": 500}})"),
              "/exponential/base: expected a duration such as 500ms for base of exponential, found '500'; did "
              "you mean "
              "\"500s\"?");
    EXPECT_EQ(json_fault_in(R"({"attempt_timeout": 5})"),
              "/attempt_timeout: expected a duration such as 500ms for greatest of attempt_timeout, found '5'; "
              "did you mean \"5s\"?");
    EXPECT_EQ(
        json_fault_in(R"({"schedule": ["1s", 2]})"),
        "/schedule/1: expected a duration such as 500ms for each delay of schedule, found '2'; did you mean "
        "\"2s\"?");
    EXPECT_EQ(
        json_fault_in(R"({"schedule": {"delays": ["1s", 2]}})"),
        "/schedule/delays/1: expected a duration such as 500ms for each delay of schedule, found '2'; did you "
        "mean \"2s\"?");
    EXPECT_EQ(json_fault_in(R"({"schedule": {"delays": "1s"}})"),
              "/schedule/delays: expected an array, found '\"1s\"'");
    EXPECT_EQ(json_fault_in(R"({"constant": {"delays": ["1s"]}})"),
              "/constant/delays: expected a number, a string, true, false or an object, found '[\"1s\"]'");
    EXPECT_EQ(json_fault_in(R"({"max_attempts": 0.5})"),
              "/max_attempts: expected a whole number for count of max_attempts, found '0.5'");
    EXPECT_EQ(json_fault_in(R"({"max_attempts": 18446744073709551615})"),
              "/max_attempts: expected a whole number for count of max_attempts of less than 2^63, found "
              "'18446744073709551615'");
    EXPECT_EQ(json_fault_in(R"({"exponential": ["1"]})"),
              "/exponential/0: expected a unit (ns, us, ms, s, min or h), found the end");
    EXPECT_EQ(json_fault_in(R"({"constant": "10 s"})"),
              "/constant: expected no space between a number and its unit, found '10 s'");
    EXPECT_EQ(json_fault_in(R"({"clamp": [0.25, "x", true]})"),
              "/clamp/0: expected no further argument of clamp, found '0.25'");
    EXPECT_EQ(json_fault_in(R"({"constant": {"value": [3.5, "x"]}})"),
              "/constant/value: expected a number, a string, true, false or an object, found '[3.5,\"x\"]'");
    EXPECT_EQ(json_fault_in(R"({"exponential": {"factor": 2}})"),
              "/exponential: expected a duration such as 500ms for base of exponential, found none");
    EXPECT_EQ(json_fault_in(R"({"exponential": {"bse": "1s"}})"),
              "/exponential/bse: expected a parameter of exponential (base, factor, cap), found 'bse'; did you "
              "mean base?");
    EXPECT_EQ(json_fault_in(R"({"exponential": ["1s", 0.5]})"),
              "/exponential: exponential.factor = 0.5: must be a finite number of at least 1");
    EXPECT_EQ(json_fault_in(R"({"first_at_once": {"constant": "1s"}})"),
              "/first_at_once/constant: expected a parameter of first_at_once (then, cap), found 'constant'");
    EXPECT_EQ(json_fault_in(R"({"first_at_once": {"then": {"constant": "-1s"}}})"),
              "/first_at_once/then/constant: constant = -1s: must not be negative");
    EXPECT_EQ(json_fault_in(R"({"first_at_once": {"then": {"constant": "1s", "linear": "1s"}}})"),
              "/first_at_once/then: expected an object with one key, the name of a backoff, found "
              "'{\"constant\":\"1s\",\"linear\":\"1s\"}'");
    EXPECT_EQ(json_fault_in(R"({"first_at_once": {"then": {}}})"),
              "/first_at_once/then: expected an object with one key, the name of a backoff, found '{}'");
    EXPECT_EQ(json_fault_in(R"({"clamp": false})"), "/clamp: expected true or no such key, found 'false'");
    EXPECT_EQ(json_fault_in(R"({"retry_snt": false})"),
              "/retry_snt: unknown name 'retry_snt'; did you mean retry_sent?");
    EXPECT_EQ(json_fault_in(R"({"max_attempts": false})"),
              "/max_attempts: expected a whole number for count of max_attempts, found none");
    EXPECT_EQ(json_fault_in(R"({"celery": false})"), "/celery: expected true or no such key, found 'false'");
    EXPECT_EQ(json_fault_in(R"({"clamp": null})"),
              "/clamp: expected a number, a string, true, false or an object, found 'null'");
    EXPECT_THAT(json_fault_in(R"({"a/b~c": 1})"),
                StartsWith("/a~1b~0c: unknown name 'a/b~c'; expected the name of "));
    EXPECT_EQ(json_fault_in(R"({"constant": "1s", "linear": ["1s", "1s"]})"),
              "/linear: expected no second backoff, found 'linear'");
    EXPECT_EQ(json_fault_in(R"({"max_attempts": 2, "unlimited_attempts": true})"),
              "/unlimited_attempts: expected no second max_attempts, found 'unlimited_attempts'");
}

TEST(policy_json, a_number_in_quotation_marks_is_no_number) {
    std::string const marks = "; write it without quotation marks";
    EXPECT_EQ(json_fault_in(R"({"max_attempts": "10"})"),
              "/max_attempts: expected a whole number for count of max_attempts, found '\"10\"'" + marks);
    EXPECT_EQ(json_fault_in(R"({"exponential": ["1s", "1.5"]})"),
              "/exponential/1: expected a number for factor of exponential, found '\"1.5\"'" + marks);
    EXPECT_EQ(json_fault_in(R"({"retry_sent": "false"})"),
              "/retry_sent: expected true or false for allowed of retry_sent, found '\"false\"'" + marks);
    EXPECT_EQ(json_fault_in(R"({"max_attempts": "10s"})"),
              "/max_attempts: expected a whole number for count of max_attempts, found '\"10s\"'");
    EXPECT_EQ(json_fault_in(R"({"max_attempts": "five"})"),
              "/max_attempts: expected a whole number for count of max_attempts, found '\"five\"'");
    EXPECT_EQ(json_fault_in(R"({"max_attempts": ""})"),
              "/max_attempts: expected a whole number for count of max_attempts, found '\"\"'");
}

/// A message that may stand in a log: one line of printable ASCII, not too long.
void expect_harmless(std::string const& message) {
    EXPECT_LE(message.size(), 1000u);
    EXPECT_TRUE(std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20 && c < 0x7f; }))
        << message;
}

TEST(policy_json, decision_33_a_fault_shows_no_key_or_value_as_it_came) {
    json::string const hostile("a\n\x1b[2J\0\xff\"'", 10), huge(1 << 16, 'x');
    EXPECT_THAT(fault_of([&] { return policy_from_json(json::object{{hostile, 1}}); }),
                StartsWith("/a\\x0a\\x1b[2J\\x00\\xff\"': unknown name 'a\\x0a\\x1b[2J\\x00\\xff\"''; expected "
                           "the name of "));
    EXPECT_THAT(fault_of([&] { return policy_from_json(json::object{{huge, 1}}); }),
                StartsWith("/" + std::string(40, 'x') + "...: unknown name '" + std::string(40, 'x') +
                           "...'; expected the name of "));
    auto const exponential = [](json::object const& inside) { return json::object{{"exponential", inside}}; };
    for (json::string const& bad : {hostile, huge}) {
        json::object const inside{{bad, {{bad, "1s"}}}};
        for (json::object const& wrong :
             {json::object{{bad, bad}}, json::object{{bad, {{bad, bad}}}}, json::object{{bad, {bad, bad}}},
              json::object{{"max_attempts", bad}}, json::object{{"max_attempts", {{bad, 1}}}},
              json::object{{"schedule", {{"delays", bad}}}}, json::object{{"celery", {{bad, 1}}}},
              json::object{{"first_at_once", inside}}, exponential({{bad, 1}}), exponential({{"base", bad}}),
              exponential({{"base", '<' + std::string(bad)}}), exponential({{"base", inside}}),
              exponential(inside), exponential({{"base", {{"constant", inside}}}})})
            expect_harmless(fault_of([&] { return policy_from_json(wrong); }));
        for (std::string_view const field :
             {"maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes"}) {
            expect_harmless(grpc_fault_with(field, bad));
            expect_harmless(grpc_fault_with(field, {bad}));
            expect_harmless(grpc_fault_with(field, json::string(std::string(bad) + "s")));
        }
    }
}

TEST(policy_json, numbers_that_are_none_are_refused) {
    for (double const value :
         {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THAT(fault_of([&] { return policy_from_json(json::object{{"proportional_jitter", value}}); }),
                    StartsWith("/proportional_jitter: expected a number, "));
}

TEST(policy_json, sixteen_backoffs_may_stand_inside_one_another) {
    auto const nested = [](int depth) {
        json::object shape{{"constant", "1s"}};
        for (int i = 1; i != depth; ++i)
            shape = json::object{{"first_at_once", json::object{{"then", shape}}}};
        return shape;
    };
    EXPECT_EQ(policy_from_json(nested(16)).settings().backoff.ceiling(16), 1s);
    EXPECT_THAT(fault_of([&] { return policy_from_json(nested(17)); }),
                testing::EndsWith("/then/constant: more than 16 backoffs inside one another"));
}

TEST(grpc_retry_policy, reads_the_example_of_the_specification) {
    grpc_retry_policy const read = grpc_retry_policy_from_json(grpc_example());
    EXPECT_EQ(to_string(read.policy),
              "exponential(base=100ms, factor=2, cap=1s) multiplicative_jitter(least=0.8, "
              "greatest=1.2, beyond_cap=true) max_attempts(4)");
    EXPECT_THAT(read.retryable_status_codes, elements("UNAVAILABLE"));
}

// min(100ms * 2^(n - 1), 1s) * [0.8, 1.2]
TEST(grpc_retry_policy, delays_are_those_of_the_specification) {
    retry_policy const policy = grpc_retry_policy_from_json(grpc_example()).policy;
    backoff const& shape = policy.settings().backoff;
    jitter const& kind = policy.settings().jitter;
    std::vector<duration> least, greatest;
    for (std::uint64_t n = 1; n != 6; ++n) {
        auto const range = kind.range({n, shape.ceiling(n), shape.base(), shape.cap(), shape.base()});
        least.push_back(range->least);
        greatest.push_back(range->greatest);
    }
    EXPECT_THAT(least, elements(80ms, 160ms, 320ms, 640ms, 800ms));
    EXPECT_THAT(greatest, elements(120ms, 240ms, 480ms, 960ms, 1200ms)) << "beyond maxBackoff";
}

TEST(grpc_retry_policy, more_than_five_attempts_are_five) {
    EXPECT_EQ(grpc_policy_with("maxAttempts", 2).policy.settings().max_attempts, 2u);
    EXPECT_EQ(grpc_policy_with("maxAttempts", 5.0).policy.settings().max_attempts, 5u);
    EXPECT_EQ(grpc_policy_with("maxAttempts", 100000.0).policy.settings().max_attempts, 5u);
    EXPECT_EQ(grpc_policy_with("maxAttempts", "1e5").policy.settings().max_attempts, 5u);
    EXPECT_EQ(grpc_policy_with("maxAttempts", 6).policy.settings().max_attempts, 5u);
    EXPECT_EQ(grpc_policy_with("maxAttempts", 4294967295).policy.settings().max_attempts, 5u);
}

TEST(grpc_retry_policy, an_initial_backoff_above_the_greatest_is_the_greatest) {
    backoff const shape = grpc_policy_with("initialBackoff", "3s").policy.settings().backoff;
    EXPECT_EQ(shape.ceiling(1), 1s);
    EXPECT_EQ(shape.ceiling(9), 1s);
}

TEST(grpc_retry_policy, status_codes_have_names_and_numbers) {
    EXPECT_THAT(
        grpc_policy_with("retryableStatusCodes", {"ABORTED", 14, 1, 16, 10, "ABORTED"}).retryable_status_codes,
        elements("ABORTED", "UNAVAILABLE", "CANCELLED", "UNAUTHENTICATED"));
}

// A6: "the integer form or the case-insensitive string form".
TEST(grpc_retry_policy, peers_status_codes_have_names_in_any_case) {
    EXPECT_THAT(
        grpc_policy_with("retryableStatusCodes", {"unavailable", "Aborted", "dAta_lOss", "UNAVAILABLE", 14})
            .retryable_status_codes,
        elements("UNAVAILABLE", "ABORTED", "DATA_LOSS"));
}

// gRPC's RetryParserTest.
TEST(grpc_retry_policy, peers_numbers_may_stand_in_quotation_marks) {
    auto const second_delay = [](json::value const& multiplier) {
        return grpc_policy_with("backoffMultiplier", multiplier).policy.settings().backoff.ceiling(2);
    };
    EXPECT_EQ(second_delay("1.6"), 160ms);
    EXPECT_EQ(second_delay("1.6"), second_delay(1.6));
    EXPECT_EQ(second_delay("2"), 200ms);
    EXPECT_EQ(second_delay("16e-1"), 160ms);
    EXPECT_EQ(grpc_policy_with("maxAttempts", "3").policy.settings().max_attempts, 3u);
    EXPECT_EQ(grpc_policy_with("maxAttempts", "900").policy.settings().max_attempts, 5u);
}

TEST(grpc_retry_policy, other_fields_say_nothing) {
    EXPECT_NO_THROW(grpc_policy_with("perAttemptRecvTimeout", "1s"));
}

TEST(grpc_retry_policy, what_the_specification_requires_is_required) {
    EXPECT_EQ(fault_of([] { grpc_retry_policy_from_json("4"); }),
              "the root: expected an object, found '\"4\"'");
    for (std::string_view const field :
         {"maxAttempts", "initialBackoff", "maxBackoff", "backoffMultiplier", "retryableStatusCodes"}) {
        json::object incomplete = grpc_example();
        incomplete.erase({field.data(), field.size()});
        EXPECT_EQ(fault_of([&] { grpc_retry_policy_from_json(incomplete); }),
                  "/" + std::string(field) + ": expected a value, found none");
    }
    for (json::value const& count :
         {json::value(1), json::value(-3), json::value(2.5), json::value("1"), json::value("4x")})
        EXPECT_EQ(grpc_fault_with("maxAttempts", count).substr(0, 55),
                  "/maxAttempts: expected a whole number of at least 2, fo");
    for (std::string_view const field : {"initialBackoff", "maxBackoff"}) {
        std::string const expected =
            "/" + std::string(field) + ": expected a positive number of seconds such as \"0.5s\", found ";
        EXPECT_EQ(grpc_fault_with(field, "0s"), expected + "'\"0s\"'");
        EXPECT_EQ(grpc_fault_with(field, "-1s"), expected + "'\"-1s\"'");
        EXPECT_EQ(grpc_fault_with(field, "100ms"), expected + "'\"100ms\"'");
        EXPECT_EQ(grpc_fault_with(field, "1"), expected + "'\"1\"'");
        EXPECT_EQ(grpc_fault_with(field, ""), expected + "'\"\"'");
        EXPECT_EQ(grpc_fault_with(field, 1), expected + "'1'");
        EXPECT_EQ(grpc_fault_with(field, "0.0000000001s"),
                  "/" + std::string(field) + ": expected a whole number of nanoseconds, found '0.0000000001s'");
        EXPECT_EQ(grpc_fault_with(field, "1.2.3s").substr(0, field.size() + 13),
                  "/" + std::string(field) + ": expected a");
    }
    EXPECT_EQ(grpc_fault_with("backoffMultiplier", 0),
              "/backoffMultiplier: expected a positive number, found '0'");
    EXPECT_EQ(grpc_fault_with("backoffMultiplier", -2),
              "/backoffMultiplier: expected a positive number, found '-2'");
    for (json::string_view const text :
         {"", "-2", "0", "two", "2x", "0x2", "1.", "NaN", "Infinity", "true", "[2]"})
        EXPECT_EQ(grpc_fault_with("backoffMultiplier", json::string(text)),
                  "/backoffMultiplier: expected a positive number, found '\"" + std::string(text) + "\"'");
    std::string const codes = "/retryableStatusCodes: expected an array of at least one status code, found ";
    EXPECT_EQ(grpc_fault_with("retryableStatusCodes", json::array()), codes + "'[]'");
    EXPECT_EQ(grpc_fault_with("retryableStatusCodes", "ABORTED"), codes + "'\"ABORTED\"'");
}

TEST(grpc_retry_policy, a_multiplier_that_shrinks_is_refused) {
    EXPECT_EQ(grpc_fault_with("backoffMultiplier", 0.5),
              "/backoffMultiplier: expected at least 1 (no backoff of this library shrinks), found '0.5'");
    EXPECT_EQ(grpc_policy_with("backoffMultiplier", 1).policy.settings().backoff.ceiling(9), 100ms);
}

TEST(grpc_retry_policy, unknown_status_codes_are_refused) {
    std::string const expected =
        "/retryableStatusCodes/1: expected a status code of gRPC other than OK, by name or number, found ";
    for (json::string_view const name : {"unavailabl", "unavailables", "UNAV\xc1ILABLE", "", "14", "ok"})
        EXPECT_THAT(grpc_fault_with("retryableStatusCodes", {14, json::string(name)}), StartsWith(expected));
    EXPECT_EQ(grpc_fault_with("retryableStatusCodes", {14, "OK"}), expected + "'\"OK\"'");
    for (json::value const& number : {json::value(0), json::value(17), json::value(-1), json::value(true)})
        EXPECT_EQ(grpc_fault_with("retryableStatusCodes", {14, number}),
                  expected + "'" + std::string(json::serialize(number)) + "'");
}

} // namespace
} // namespace asio_retry::test
