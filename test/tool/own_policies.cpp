// Policies of one's own: in the command line, and in files.
#include "support/message_of.hpp"
#include "support/program.hpp"

#include "policy_list.hpp"

#include <asio_retry/policy_text.hpp>
#include <asio_retry/profiles.hpp>

#include <boost/json/parse.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace asio_retry::tool {
namespace {

constexpr char const two_in_text[] =
    "# ours\n"
    "checkout = exponential(base=100ms, cap=10s) full_jitter() max_attempts(5)\r\n"
    "\n"
    "  search=celery\n";
constexpr char const two_in_json[] =
    R"( {"checkout": {"exponential": {"base": "100ms", "cap": "10s"}, "full_jitter": true, "max_attempts": 5},
        "search": "celery"} )";

TEST(policy_files, are_lines_of_text_or_json) {
    for (std::string const text : {two_in_text, two_in_json}) {
        auto const all = policies_in(text, "file");
        ASSERT_EQ(all.size(), 2u) << text;
        EXPECT_EQ(all[0].name, "checkout");
        EXPECT_EQ(to_string(all[0].policy),
                  "exponential(base=100ms, factor=2, cap=10s) full_jitter() max_attempts(5)");
        EXPECT_EQ(all[1].name, "search");
        EXPECT_EQ(to_string(all[1].policy), to_string(profiles::celery()));
    }
}

TEST(policy_files, may_begin_with_a_byte_order_mark) {
    for (std::string const text : {two_in_text, two_in_json, "checkout = grpc"})
        EXPECT_EQ(policies_in("\xef\xbb\xbf" + text, "file").front().name, "checkout") << text;
}

std::string fault_in_file(std::string const& text) {
    return test::complaint_of<policy_fault>([&] { return policies_in(text, "p.conf"); }, "nothing");
}

TEST(policy_files, say_where_they_are_not_understood) {
    EXPECT_EQ(fault_in_file("a = celery\nb"), "p.conf:2:1: expected 'name = policy', found 'b'");
    EXPECT_THAT(fault_in_file("a = celery\n\nb = full_jiter()"), StartsWith("p.conf:3:5: unknown name "));
    EXPECT_EQ(fault_in_file("a ="), "p.conf:1:4: expected a policy, found nothing");
    EXPECT_EQ(fault_in_file("a = celery\na = celery"), "p.conf:2:1: a second policy with the name 'a'");
    EXPECT_THAT(fault_in_file("exponential(base=1s)"), StartsWith("p.conf:1:1: expected 'name = policy'"));
    EXPECT_EQ(fault_in_file("# nothing\n"), "p.conf:2:1: expected 'name = policy', found the end");
    EXPECT_EQ(fault_in_file("a = celery\nb = go-backoff"),
              "p.conf:2:5: expected the name of a profile, or items such as max_attempts(10), found "
              "'go-backoff'; did you mean go_backoff?");
}

TEST(policy_files, of_json_say_where_they_are_not_understood) {
    EXPECT_EQ(fault_in_file("{\"a\": {}}"), "nothing");
    EXPECT_EQ(fault_in_file("{\"a\": \"\"}"), "p.conf: at /a, byte 0: expected a policy, found nothing");
    EXPECT_EQ(fault_in_file("{}"), "p.conf: at the root: expected a policy, found none");
    EXPECT_THAT(fault_in_file("{\"a\": \n"), StartsWith("p.conf:2:1: no JSON: "));
    EXPECT_THAT(fault_in_file("{\"max_attempts\": 5}"),
                StartsWith("p.conf: at /max_attempts: expected a policy"));
    EXPECT_EQ(fault_in_file("{\"a\": {\"full_jiter\": true}}"),
              "p.conf: at /a/full_jiter: unknown name 'full_jiter'; did you mean full_jitter?");
    EXPECT_THAT(fault_in_file("{\"a\": \"celry\"}"),
                AllOf(StartsWith("p.conf: at /a, byte 0: "), EndsWith("; did you mean celery?")));
}

// JSON and SVG could not have them, and a terminal might obey them.
TEST(policy_files, decision_33_have_names_of_utf8_without_control_characters) {
    std::string const expected = "expected a name of UTF-8 without control characters, found ";
    EXPECT_EQ(fault_in_file("a = celery\n\xff = celery"), "p.conf:2:1: " + expected + "'\\xff'");
    EXPECT_EQ(fault_in_file("\x1b[2J = celery"), "p.conf:1:1: " + expected + "'\\x1b[2J'");
    EXPECT_EQ(fault_in_file(R"({"": "celery"})"),
              "p.conf: at /: expected a name of at least one character, found none");
    EXPECT_EQ(fault_in_file(R"({"a\nb": "celery"})"), "p.conf: at /a\\x0ab: " + expected + "'a\\x0ab'");
    for (std::string const name : {"b\xc3\xa9", "\xc2\xa0", "\xef\xbf\xbd"})
        EXPECT_EQ(policies_in(name + " = celery", "p.conf").front().name, name);
    expect_usage_error("explain --json \"$(printf '\\377 = celery')\"", expected + "'\\xff'");
}

// Boost.JSON would keep the last.
TEST(policy_files, have_no_key_of_json_twice) {
    EXPECT_EQ(fault_in_file(R"({"a": "celery", "b": "celery", "\u0061": "grpc"})"),
              "p.conf: at /a: a second policy with the name 'a'");
}

TEST(policy_texts, may_have_a_name) {
    EXPECT_EQ(named_policy_of("celery").name, "celery");
    EXPECT_EQ(named_policy_of("exponential(base=1s)").name, "exponential(base=1s)");
    EXPECT_EQ(named_policy_of("mine = exponential(base=1s)").name, "mine");
    EXPECT_EQ(to_string(named_policy_of("mine=celery").policy), to_string(profiles::celery()));
    for (char const* nothing : {"mine =", "", " \v", "mine = \t", "mine = full_jiter()"})
        EXPECT_THROW(named_policy_of(nothing), policy_syntax_error) << nothing;
}

TEST(policy_texts, that_are_the_argument_of_their_name_are_told_to_stand_in_parentheses) {
    EXPECT_EQ(fault_in_file("max_attempts = 3"),
              "p.conf:1:16: expected an item such as max_attempts(10), found '3'; write arguments in "
              "parentheses: max_attempts(3)");
    expect_usage_error("explain 'exponential = 100ms, cap=2s'",
                       "asio-retry: exponential: at byte 14: expected an item such as max_attempts(10), found "
                       "'100'; write arguments in parentheses: exponential(100ms, cap=2s)\n");
    for (std::string const other : {"mine = 3", "celery = 3", "max_attempts = 0", "constant = full_jiter()"})
        EXPECT_THAT(fault_in_file(other), Not(HasSubstr("parentheses"))) << other;
    EXPECT_EQ(policies_in("max_attempts = celery", "p.conf").front().name, "max_attempts");
}

class files_of_policies : public ::testing::Test {
protected:
    files_of_policies() { run_in_shell("cat > " + path_ + " <<'EOF'\n" + two_in_text + "EOF\n"); }
    ~files_of_policies() override { std::remove(path_.c_str()); }

    std::string const path_ = ::testing::TempDir() + "asio_retry_policies." + std::to_string(::getpid());
    std::string const file_ = " --file " + path_ + " ";
};

TEST_F(files_of_policies, are_explained_one_after_the_other) {
    auto const [code, table] = run("explain" + file_);
    EXPECT_EQ(code, 0);
    EXPECT_THAT(table, StartsWith("checkout\nexponential(base=100ms,"));
    EXPECT_THAT(table, HasSubstr("\n\nsearch\nexponential(base=1s,"));
    EXPECT_THAT(run("explain" + file_ + "--format csv").output, StartsWith("name,failure,"));
    EXPECT_THAT(run("explain" + file_ + "--format csv").output, HasSubstr("\nsearch,1,1000000000,"));
    boost::json::object const json = boost::json::parse(run("explain --json" + file_).output).as_object();
    ASSERT_EQ(json.size(), 2u);
    EXPECT_EQ(json.begin()->key(), "checkout");
    EXPECT_EQ(json.at("search").at("failures").as_array().size(), 3u);
    EXPECT_THAT(run("explain --format svg" + file_).output, HasSubstr(">Policies compared<"));
}

TEST_F(files_of_policies, have_one_explained_by_its_name) {
    EXPECT_THAT(run("explain search" + file_).output, StartsWith("exponential(base=1s,"));
    EXPECT_THAT(run("explain --file - search <" + path_).output, StartsWith("exponential(base=1s,"));
    outcome const unknown = run("explain serch" + file_ + "2>&1");
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_EQ(unknown.output, "asio-retry: " + path_ + ": no policy 'serch'; did you mean search?\n");
}

// Their JSON would have one key.
TEST_F(files_of_policies, are_asked_for_once_each) {
    expect_usage_error("explain search checkout search" + file_, ": a second policy with the name 'search'\n");
    expect_usage_error("explain --json 'a = celery' 'a = grpc'", ": a second policy with the name 'a'\n");
    EXPECT_EQ(run("explain --json celery 'again = celery' >/dev/null").exit_code, 0);
}

TEST(policy_texts, are_named_where_one_of_several_is_wrong) {
    expect_usage_error("explain celery 'max_attempts(0)' grpc",
                       "asio-retry: 'max_attempts(0)': at byte 0: max_attempts = 0: must be at least 1");
    expect_usage_error("explain celery ''", "asio-retry: '': at byte 0: expected a policy, found nothing\n");
    expect_usage_error("explain 'max_attempts(0)'", "asio-retry: policy: at byte 0: max_attempts = 0: ");
    expect_usage_error("explain 'mine =  max_attempts(0)'", "asio-retry: mine: at byte 8: max_attempts = 0: ");
    expect_usage_error("explain celery 'mine ='",
                       "asio-retry: mine: at byte 6: expected a policy, found nothing\n");
    expect_usage_error("explain celery 'mine = celry'", "asio-retry: mine: at byte 7: ");
}

TEST_F(files_of_policies, have_one_scale_for_their_charts) {
    std::string const charts = run("explain --format chart" + file_).output;
    std::string const scale =
        "                     0                           2 s                         4 s\n";
    EXPECT_THAT(charts.substr(0, charts.find("\nsearch")), HasSubstr(scale));
    EXPECT_THAT(charts.substr(charts.find("\nsearch")), HasSubstr(scale));
}

TEST(files_of_policies_that_are_not_there, fail) {
    for (std::string const file : {"/nonexistent", "/"}) {
        outcome const failed = run("explain --file " + file + " 2>&1");
        EXPECT_EQ(failed.exit_code, 1);
        EXPECT_EQ(failed.output, "asio-retry: " + file + ": cannot be read\n");
    }
    for (std::string const input : {"</", "<&-"}) {
        outcome const failed = run("explain --file - 2>&1 " + input);
        EXPECT_EQ(failed.exit_code, 1) << input;
        EXPECT_EQ(failed.output, "asio-retry: standard input: cannot be read\n");
    }
    outcome const empty = run("explain --file - 2>&1 </dev/null");
    EXPECT_EQ(empty.exit_code, 2);
    EXPECT_EQ(empty.output, "asio-retry: standard input:1:1: expected 'name = policy', found the end\n");
}

} // namespace
} // namespace asio_retry::tool
