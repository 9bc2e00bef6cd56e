#include <asio_retry/policy_json.hpp>
#include <asio_retry/policy_text.hpp>
#include <asio_retry/profiles.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include <exception>
#include <string>

namespace asio_retry::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string complaint_about(std::string const& text) {
    return complaint_of([&] { return parse_policy(text); });
}
std::string complaint_about_json(std::string const& text) {
    return complaint_of([&] { return policy_from_json(boost::json::parse(text)); });
}

TEST(nearest_name, a_slip_of_a_name_is_asked_about) {
    EXPECT_THAT(complaint_about("exponental(100ms)"),
                EndsWith(": unknown name 'exponental'; did you mean exponential?"));
    EXPECT_THAT(complaint_about("exponental"), EndsWith("found 'exponental'; did you mean exponential?"));
    EXPECT_THAT(complaint_about(" max_atempts "), EndsWith("found 'max_atempts'; did you mean max_attempts?"));
    EXPECT_THAT(complaint_about("clamp() exponental max_attempts(3)"),
                EndsWith("expected '(', found 'max_attempts'; did you mean exponential?"));
    EXPECT_THAT(complaint_about("exponential"), EndsWith("expected '(', found the end"));
    EXPECT_THAT(complaint_about("Exponential(100ms)"), EndsWith("did you mean exponential?"));
    EXPECT_THAT(complaint_about("ful_jitter()"), EndsWith("did you mean full_jitter?"));
    EXPECT_THAT(complaint_about("max_attempt(3)"), EndsWith("did you mean max_attempts?"));
    EXPECT_THAT(complaint_about("cellery()"), EndsWith("did you mean celery?"));
    EXPECT_THAT(complaint_about("exponential(100ms, facter=2)"), EndsWith("did you mean factor?"));
    EXPECT_THAT(complaint_about("exponential(100ms, ca=20s)"), EndsWith("did you mean cap?"));
    EXPECT_THAT(complaint_about("exponential(100mss)"), EndsWith("did you mean ms?"));
    EXPECT_THAT(complaint_about("constant(1S)"), EndsWith("did you mean s?"));
    EXPECT_THAT(complaint_about("chained(linnear(1s, 1s), 5, constant(1s))"), EndsWith("did you mean linear?"));
}

TEST(nearest_name, a_slip_in_json_is_asked_about_too) {
    EXPECT_THAT(complaint_about_json(R"({"max_atempts": 3})"), EndsWith("did you mean max_attempts?"));
    EXPECT_THAT(complaint_about_json(R"({"constant": "1sss"})"), Not(HasSubstr("did you mean")));
    EXPECT_THAT(complaint_about_json(R"({"exponential": {"bas": "1s"}})"), EndsWith("did you mean base?"));
    EXPECT_THAT(complaint_of([] {
                    return grpc_retry_policy_from_json(boost::json::parse(
                        R"({"maxAttempts": 3, "initialBackoff": "1s", "maxBackoff": "9s",
                            "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVALABLE"]})"));
                }),
                EndsWith("did you mean UNAVAILABLE?"));
}

TEST(nearest_name, what_is_not_near_is_not_guessed) {
    for (char const* unlike : {"backoff(1s)", "x()", "exponential(1fortnights)", "constant(1s, value=3)",
                               "exponential(100ms, q=2)", "sleep_between_tries(1s)"})
        EXPECT_THAT(complaint_about(unlike), Not(HasSubstr("did you mean"))) << unlike;
    EXPECT_THAT(complaint_about(std::string(1000, 'e') + "()"), Not(HasSubstr("did you mean")));
}

TEST(nearest_name, a_slip_of_a_bare_name_of_a_profile_is_asked_about) {
    EXPECT_EQ(complaint_about("celry"),
              "asio_retry: at byte 0: expected the name of a profile, or items such as max_attempts(10), found "
              "'celry'; did you mean celery?");
    EXPECT_THAT(complaint_about("  go-backoff\n"),
                AllOf(HasSubstr("at byte 2: "), EndsWith("found 'go-backoff'; did you mean go_backoff?")));
    EXPECT_THAT(complaint_about("AWS_full_jiter"), EndsWith("did you mean aws_full_jitter?"));
    EXPECT_THAT(complaint_about("celry max_attempts(3)"), EndsWith("did you mean celery?"));
    for (char const* unlike : {"clamp", "full_jitter", "exponential", "", " "})
        EXPECT_THAT(complaint_about(unlike), Not(HasSubstr("did you mean"))) << unlike;
}

TEST(policy_text, the_bare_name_of_a_profile_is_a_policy) {
    EXPECT_EQ(to_string(parse_policy(" celery\n")), to_string(profiles::celery()));
    for (profiles::profile const& one : profiles::all()) {
        EXPECT_EQ(to_string(parse_policy(one.name)), to_string(one.make())) << one.name;
        EXPECT_EQ(to_string(parse_policy(std::string(one.name) + "()")), to_string(one.make())) << one.name;
    }
}

} // namespace
} // namespace asio_retry::test
