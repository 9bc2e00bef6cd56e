#include <asio_retry/policy_json.hpp>

#include "support/message_of.hpp"

#include <asio_retry/policy_book.hpp>
#include <asio_retry/profiles.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

std::vector<std::string> names_in(std::string_view text) {
    std::vector<std::string> names;
    for (named_policy const& each : policies_from_json(text))
        names.push_back(each.name);
    return names;
}

std::string fault_in_file(std::string_view text) {
    return complaint_of<policy_syntax_error>([&] { return policies_from_json(text); });
}

TEST(policies_from_json, are_objects_and_texts_in_their_order) {
    auto const all = policies_from_json(
        R"json( {"checkout": {"exponential": {"base": "100ms", "cap": "10s"}, "max_attempts": 5},
                 "b": "celery() max_attempts(7)", "a": {}} )json");
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].name, "checkout");
    EXPECT_EQ(to_string(all[0].policy),
              "exponential(base=100ms, factor=2, cap=10s) full_jitter() max_attempts(5)");
    EXPECT_EQ(all[1].name, "b");
    EXPECT_EQ(to_string(all[1].policy), to_string(profiles::celery().max_attempts(7)));
    EXPECT_EQ(all[2].name, "a");
    EXPECT_EQ(to_string(all[2].policy), to_string(retry_policy()));
}

TEST(policies_from_json, may_begin_with_a_byte_order_mark) {
    EXPECT_THAT(names_in("\xef\xbb\xbf{\"a\": \"celery\"}\r\n"), ElementsAre("a"));
}

TEST(policies_from_json, say_line_and_column_where_the_text_is_no_json) {
    try {
        (void)policies_from_json("\xef\xbb\xbf{\"\xc3\xa9\": \"celery\",\n  \"b\" \"grpc\"}");
        FAIL();
    } catch (policy_syntax_error const& fault) {
        EXPECT_THAT(fault.what(), StartsWith("asio_retry: at line 2, column 7: no JSON: "));
        EXPECT_EQ(fault.position(), 26u);
        EXPECT_EQ(fault.line(), 2u);
        EXPECT_EQ(fault.column(), 7u);
    }
    EXPECT_THAT(fault_in_file(""), StartsWith("asio_retry: at line 1, column 1: no JSON: "));
    EXPECT_THAT(fault_in_file("{\"a\": \"cel"), StartsWith("asio_retry: at line 1, column 11: no JSON: "));
    EXPECT_THAT(fault_in_file("{\"a\": \"celery\"}\n x"),
                StartsWith("asio_retry: at line 2, column 2: no JSON: "));
    EXPECT_THAT(fault_in_file("{\"\xff\": \"celery\"}"),
                StartsWith("asio_retry: at line 1, column 3: no JSON: "));
}

TEST(policies_from_json, say_the_path_to_a_fault) {
    EXPECT_EQ(fault_in_file("[]"), "asio_retry: at the root: expected an object of policies, found '[]'");
    EXPECT_EQ(fault_in_file("{}"), "asio_retry: at the root: expected a policy, found none");
    EXPECT_EQ(fault_in_file(R"({"a/b": 5})"),
              "asio_retry: at /a~1b: expected a policy, which is an object or a text, after its name");
    EXPECT_EQ(fault_in_file(R"({"a": {"full_jiter": true}})"),
              "asio_retry: at /a/full_jiter: unknown name 'full_jiter'; did you mean full_jitter?");
    EXPECT_THAT(fault_in_file(R"({"a": {"exponential": {"bas": "1s"}}})"),
                StartsWith("asio_retry: at /a/exponential/bas: "));
    EXPECT_EQ(fault_in_file(R"json({"a": "celery() max_attempts(0)"})json"),
              "asio_retry: at /a, byte 9: max_attempts = 0: must be at least 1; see unlimited_attempts()");
    EXPECT_EQ(fault_in_file(R"({"a": " "})"), "asio_retry: at /a, byte 1: expected a policy, found nothing");
    EXPECT_EQ(fault_in_file(R"({"": "celery"})"),
              "asio_retry: at /: expected a name of at least one character, found none");
    EXPECT_EQ(fault_in_file(R"({"a\nb": "celery"})"),
              "asio_retry: at /a\\x0ab: expected a name of UTF-8 without control characters, found 'a\\x0ab'");
}

// Boost.JSON would keep the last.
TEST(policies_from_json, have_no_key_twice) {
    EXPECT_EQ(fault_in_file(R"({"a": "celery", "b": "celery", "\u0061": "grpc"})"),
              "asio_retry: at /a: a second policy with the name 'a'");
    EXPECT_EQ(fault_in_file(R"({"a": {"max_attempts": 3, "clamp": true, "max_attempts": 7}})"),
              "asio_retry: at /a: the key 'max_attempts' is twice in one object");
    EXPECT_EQ(fault_in_file(
                  R"({"a": {"chained": [{"constant": "1s"}, 2, {"constant": {"cap": "1s", "cap": "2s"}}]}})"),
              "asio_retry: at /a: the key 'cap' is twice in one object");
    std::string const one = R"({"max_attempts": 3, "constant": {"value": "1s", "cap": "2s"}})";
    EXPECT_THAT(names_in("{\"a\": " + one + ", \"max_attempts\": " + one + "}"),
                ElementsAre("a", "max_attempts"));
}

TEST(policies_from_json, make_a_book_and_reload_it) {
    policy_book book(policies_from_json(R"({"a": "celery", "b": {}})"));
    book.reload(policies_from_json(R"({"b": "grpc", "a": {"max_attempts": 7}})"));
    EXPECT_EQ(book["a"].settings().max_attempts, 7u);
    EXPECT_EQ(complaint_of<policy_syntax_error>([&] {
                  book.reload(policies_from_json(R"({"a": "celery"})"));
                  return 0;
              }),
              "asio_retry: at a list of policies: expected a policy 'b', because a reload removes none");
    EXPECT_EQ(book["a"].settings().max_attempts, 7u);
}

} // namespace
} // namespace asio_retry::test
