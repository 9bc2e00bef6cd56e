#include <asio_retry/retry_policy.hpp>

#include "support/matches.hpp"
#include "support/places.hpp"

#include <asio_retry/policy_text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

namespace {

using namespace asio_retry;

std::string content_of(std::string const& file) {
    std::ifstream stream(test::file_of_project(file));
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string flag(bool set) {
    return set ? "on" : "off";
}

template <typename T>
std::string presence(T const& field) {
    return field ? "set" : "none";
}

std::string number(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

// What the README says of each, of the policy that nobody has changed.
std::map<std::string, std::string> defaults() {
    retry_settings const& s = retry_policy().settings();
    std::string shape = to_string(s.backoff);
    bool const is_usual = shape == "exponential(base=100ms, factor=2, cap=20s)";
    bool const retries_as_usual = s.retry_if.index() == 0;
    return {
        {"backoff", is_usual ? "`exponential(100ms).cap(20s)`" : shape},
        {"jitter", "`" + to_string(s.jitter) + "`"},
        {"reset_after", presence(s.reset_after)},
        {"max_attempts", s.max_attempts ? std::to_string(*s.max_attempts) : "none"},
        {"unlimited_attempts", flag(!s.max_attempts)},
        {"max_elapsed", presence(s.max_elapsed)},
        {"max_waited", presence(s.max_waited)},
        {"attempt_timeout", presence(s.attempt_timeout)},
        {"set_up_within", presence(s.set_up_within)},
        {"idle_timeout", presence(s.idle_timeout)},
        {"total_timeout", presence(s.total_timeout)},
        {"deadline", presence(s.deadline)},
        {"clamp", flag(s.clamp)},
        {"deliver_at_once", flag(s.deliver_at_once)},
        {"retry_if",
         retries_as_usual ? "all but `operation_aborted`, certificate and protocol failures" : "set"},
        {"when", presence(!s.rules.empty())},
        {"max_attempts_when", presence(!s.rules.empty())},
        {"retry_sent", s.retry_sent ? "true" : "false"},
        {"allow_total_cancellation", flag(s.allow_total_cancellation)},
        {"retry_when_nested", flag(s.retry_when_nested)},
        {"nested_in", s.is_nested ? "set" : "none"},
        {"gate", presence(s.gate)},
        {"wait_when_refused", flag(s.wait_when_refused)},
        {"classify", s.classify ? "set" : "`asio_retry::classify`"},
        {"pushback_limit",
         s.pushback_limit == std::chrono::minutes(1) && s.over_pushback_limit == over_limit::stop
             ? "`1min`, `over_limit::stop`"
             : "changed"},
        {"pushback_spread", number(s.pushback_spread)},
        {"on_retry", presence(s.on_retry)},
        {"on_success", presence(s.on_success)},
        {"on_give_up", presence(s.on_give_up)},
        {"observe", presence(s.observer)},
    };
}

std::set<std::string> setters_of_the_class() {
    std::string const header = content_of("include/asio_retry/retry_policy.hpp");
    auto const begin = header.find(" retry_policy {\n");
    std::string const members = header.substr(begin, header.find("\nprivate:") - begin);
    std::set<std::string> names;
    for (auto const& setter : test::all_matches(members, R"(\n {4}[^/\n]*\bretry_policy (\w+)\()"))
        names.insert(setter[1]);
    return names;
}

std::map<std::string, std::string> rows_of_the_readme() {
    std::map<std::string, std::string> rows;
    for (auto const& row : test::all_matches(content_of("README.md"), R"(\n\| `(\w+)\([^`]*\)` \| ([^|]*) \|)"))
        rows.emplace(row[1], row[2]);
    return rows;
}

TEST(settings_table, has_a_row_for_every_setter) {
    std::set<std::string> rows;
    for (auto const& [name, said] : rows_of_the_readme())
        rows.insert(name);
    EXPECT_THAT(rows, testing::ContainerEq(setters_of_the_class()));
    EXPECT_GT(rows.size(), 20u);
}

TEST(settings_table, says_what_the_defaults_are) {
    EXPECT_THAT(rows_of_the_readme(), testing::ContainerEq(defaults()));
}

} // namespace
