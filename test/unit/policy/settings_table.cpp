#include <asio_retry/retry_policy.hpp>

#include "support/matches.hpp"
#include "support/places.hpp"

#include <asio_retry/policy_text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
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

// The defaults as doc/concepts.md says them.
std::map<std::string, std::string> defaults() {
    retry_settings const& s = retry_policy().settings();
    std::string shape = to_string(s.backoff);
    bool const is_usual = shape == "exponential(base=100ms, factor=2, cap=20s)";
    bool const retries_as_usual = !s.retry_if;
    return {
        {"backoff", is_usual ? "`exponential(100ms).cap(20s)`" : shape},
        {"jitter", "`" + to_string(s.jitter) + "`"},
        {"reset_after", presence(s.reset_after)},
        {"max_attempts", s.max_attempts ? std::to_string(*s.max_attempts) : "none"},
        {"unlimited_attempts", flag(!s.max_attempts)},
        {"max_elapsed", presence(s.max_elapsed)},
        {"max_waited", presence(s.max_waited)},
        {"attempt_timeout", presence(s.attempt_timeout)},
        {"setup_timeout", presence(s.setup_timeout)},
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
        {"priority", "`request_priority::" + std::string(to_string(s.priority)) + "`"},
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
        {"name", presence(!s.name.empty())},
    };
}

std::set<std::string> setters_of_the_class() {
    std::string const header = content_of("include/asio_retry/retry_policy.hpp");
    auto const begin = header.find(" retry_policy {\n");
    std::string const members = header.substr(begin, header.find("\nprivate:") - begin);
    std::set<std::string> names;
    for (auto const& setter :
         test::all_matches(members, R"(\n {4}(?!\[\[deprecated)[^/\n]*\bretry_policy (\w+)\()"))
        names.insert(setter[1]);
    return names;
}

std::map<std::string, std::string> rows_of_the_page() {
    std::map<std::string, std::string> rows;
    std::string const page = content_of("doc/concepts.md");
    for (auto const& row : test::all_matches(page, R"(\n\| `(\w+)\([^`]*\)` \| ([^|]*) \|)"))
        rows.emplace(row[1], row[2]);
    return rows;
}

TEST(settings_table, has_a_row_for_every_setter) {
    std::set<std::string> rows;
    for (auto const& [name, said] : rows_of_the_page())
        rows.insert(name);
    EXPECT_THAT(rows, testing::ContainerEq(setters_of_the_class()));
}

TEST(settings_table, says_what_the_defaults_are) {
    EXPECT_THAT(rows_of_the_page(), testing::ContainerEq(defaults()));
}

TEST(settings_table, names_every_hook) {
    std::string const page = content_of("doc/concepts.md");
    std::string const header = content_of("include/asio_retry/retry_policy.hpp");
    std::size_t hooks = 0;
    for (auto const& hook : test::all_matches(header, R"(\bretry_policy (on_\w+)\()")) {
        EXPECT_THAT(page, testing::HasSubstr("| `" + hook[1] + "` | `void(retry_event const&)`"));
        ++hooks;
    }
    EXPECT_GT(hooks, 0u);
}

using named_options = std::map<std::string, std::map<std::string, std::string>>;

// A default of a header as the page says it.
std::string as_on_the_page(std::string const& type, std::string const& value) {
    if (auto const seconds = test::all_matches(value, R"(^std::chrono::seconds\((\d+)\)$)"); !seconds.empty())
        return seconds[0][1] + " s";
    if (!value.empty())
        return value;
    return type.starts_with("std::optional") || type.starts_with("std::function") ? "none" : "0 s";
}

named_options options_of_the_headers() {
    named_options all;
    std::filesystem::directory_iterator const folder(test::file_of_project("include/asio_retry/traffic"));
    for (auto const& file : folder) {
        std::string const header = content_of("include/asio_retry/traffic/" + file.path().filename().string());
        for (auto const& options :
             test::all_matches(header, R"(\nstruct (\w+_options) \{\n([^}]*(?:\{[^}]*\}[^}]*)*)\n\};)")) {
            // of a line `type name = value; ///< comment`, whose value may be on the next one
            std::string const member =
                R"(\n? {4}(std::function<[^;]*>|[\w:<>]+)\s+(\w+)(?:\{\}|\s*=\s*([^;]*));)";
            for (auto const& each : test::all_matches(options[2], member))
                all[options[1]][each[2]] = as_on_the_page(each[1], each[3]);
        }
    }
    return all;
}

named_options options_of_the_page() {
    named_options all;
    std::istringstream page(content_of("doc/concepts.md"));
    std::string options;
    for (std::string line; std::getline(page, line);)
        if (line.starts_with("#"))
            options = line.starts_with("### ") ? line.substr(4) : std::string();
        else if (auto const row = test::all_matches(line, R"(^\| `(\w+)` \| ([^|]*) \|)");
                 !options.empty() && !row.empty())
            all[options][row[0][1]] = row[0][2];
    return all;
}

TEST(settings_table, has_the_options_of_all_gates_with_their_defaults) {
    auto const all = options_of_the_headers();
    EXPECT_FALSE(all.empty());
    EXPECT_THAT(options_of_the_page(), testing::ContainerEq(all));
}

} // namespace
