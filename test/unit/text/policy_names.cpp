#include <asio_retry/policy_book.hpp>
#include <asio_retry/policy_json.hpp>
#include <asio_retry/policy_text.hpp>

#include "support/message_of.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The name of a policy in texts, in JSON and in books.

namespace asio_retry::test {
namespace {

/// What parse_policy says, behind the prefix of all messages.
std::string complaint_about_named(std::string_view text) {
    return complaint_of<policy_syntax_error>([&] { return parse_policy(text); }).substr(sizeof "asio_retry:");
}

std::string complaint_about_named_json(std::string_view text) {
    auto const read = [&] { return policy_from_json(boost::json::parse({text.data(), text.size()})); };
    return complaint_of<policy_syntax_error>(read).substr(sizeof "asio_retry:");
}

TEST(policy_names, are_written_and_read) {
    std::string const rest = " exponential(base=100ms, factor=2, cap=20s) full_jitter() max_attempts(3)";
    std::vector<std::pair<std::string, std::string>> const names = {
        {"orders.get", R"(name("orders.get"))"},
        {R"(a "b" \c\)", R"(name("a \"b\" \\c\\"))"},
        {"5s", R"(name("5s"))"},
        {"timeout", R"(name("timeout"))"},
        {"high", R"(name("high"))"},
        {"<callable>", R"(name("<callable>"))"},
        {"Zo\u00eb (1) = {x}", "name(\"Zo\u00eb (1) = {x}\")"},
        {std::string(128, 'a'), "name(\"" + std::string(128, 'a') + "\")"},
    };
    for (auto const& [name, text] : names) {
        retry_policy const policy = retry_policy().name(name);
        EXPECT_EQ(to_string(policy), text + rest);
        EXPECT_EQ(parse_policy(to_string(policy)).settings().name, name);
        auto const json = policy_to_json(policy);
        EXPECT_EQ(json.at("name"), boost::json::value(name));
        EXPECT_EQ(policy_from_json(boost::json::parse(boost::json::serialize(json))).settings().name, name);
    }
    EXPECT_EQ(to_string(retry_policy()), rest.substr(1)) << "without a name there is no such item";
    EXPECT_FALSE(policy_to_json(retry_policy()).as_object().contains("name"));
}

TEST(policy_names, stand_anywhere_behind_a_profile) {
    EXPECT_EQ(parse_policy(R"(celery() max_attempts(5) name( text = "orders" ))").settings().name, "orders");
    EXPECT_EQ(parse_policy(R"(name("orders") max_attempts(5))").settings().max_attempts, 5u);
    EXPECT_EQ(policy_from_json(boost::json::parse(R"({"name": ["orders"]})")).settings().name, "orders");
    EXPECT_EQ(policy_from_json(boost::json::parse(R"({"name": {"text": "5s"}})")).settings().name, "5s");
}

TEST(policy_names, that_are_none_are_refused_with_field_value_and_rule) {
    EXPECT_EQ(complaint_about_named(R"(clamp() name(""))"),
              R"(at byte 8: name = "": must have at least one character)");
    EXPECT_EQ(complaint_about_named("name(\"a\nb\")"),
              R"(at byte 0: name = "a\x0ab": must be UTF-8 without control characters)");
    EXPECT_EQ(complaint_about_named("name(\"" + std::string(129, 'a') + "\")"),
              "at byte 0: name = \"" + std::string(40, 'a') + "...\": must have at most 128 bytes");
    EXPECT_EQ(complaint_about_named_json(R"({"name": ""})"),
              R"(at /name: name = "": must have at least one character)");
    EXPECT_EQ(complaint_about_named_json(R"({"name": "a\u0000b"})"),
              R"(at /name: name = "a\x00b": must be UTF-8 without control characters)");
}

TEST(policy_names, that_are_written_wrongly_are_refused_where_they_stand) {
    EXPECT_EQ(complaint_about_named("name(orders.get)"),
              "at byte 5: expected a value, found 'orders'; write the name in quotation marks");
    EXPECT_EQ(complaint_about_named("name(5)"),
              "at byte 5: expected a text in quotation marks for text of name, found '5'");
    EXPECT_EQ(complaint_about_named("name(timeout)"),
              "at byte 5: expected a text in quotation marks for text of name, found 'timeout'");
    EXPECT_EQ(complaint_about_named("name()"),
              "at byte 5: expected a text in quotation marks for text of name, found none");
    EXPECT_EQ(complaint_about_named(R"(name="orders.get")"),
              R"(at byte 4: expected '(', found '='; write arguments in parentheses: name("orders.get"))");
    EXPECT_EQ(complaint_about_named(R"(name("a") name("b"))"),
              "at byte 10: expected no second name, found 'name'");
    EXPECT_EQ(complaint_about_named(R"(name("a)"), "at byte 7: expected '\"' behind the text, found the end");
    EXPECT_EQ(complaint_about_named(R"(name("a\n"))"),
              R"(at byte 8: expected '"' or '\' behind a backslash, found 'n')");
    EXPECT_EQ(complaint_about_named("name(\"a\\"),
              "at byte 8: expected '\"' or '\\' behind a backslash, found the end");
    EXPECT_EQ(complaint_about_named(R"(constant("5s"))"),
              R"(at byte 9: expected a duration such as 500ms for value of constant, found '"5s"'; )"
              "write it without quotation marks");
    EXPECT_EQ(complaint_about_named_json(R"({"name": 5})"),
              "at /name: expected a text in quotation marks for text of name, found '5'");
    EXPECT_EQ(complaint_about_named_json(R"({"name": true})"),
              "at /name: expected a text in quotation marks for text of name, found none");
}

TEST(policy_names, in_a_book_are_the_keys) {
    policy_book book("orders = max_attempts(5)\nsearch = name(\"search.all\") max_attempts(7)\n");
    EXPECT_EQ(book["orders"].settings().name, "orders");
    EXPECT_EQ(book["search"].settings().name, "search.all") << "a name of its own stays";
    book.reload("orders = name(\"orders.get\")\nsearch = clamp()\nusers = clamp()");
    EXPECT_EQ(book["orders"].settings().name, "orders.get");
    EXPECT_EQ(book["search"].settings().name, "search");
    EXPECT_EQ(book.find("users")->settings().name, "users");
    book.for_each([](std::string const& key, retry_policy const& policy) {
        EXPECT_TRUE(policy.settings().name.starts_with(key)) << to_string(policy);
    });
    policy_book const listed(policies_from_json(R"json({"a = (b)": "clamp()", "c": {"name": "d"}})json"));
    EXPECT_EQ(listed["a = (b)"].settings().name, "a = (b)");
    EXPECT_EQ(listed["c"].settings().name, "d");
}

// parse_policies gives the policies as the text has them: a program may list them, and write them again.
TEST(policy_names, in_a_list_are_those_of_the_texts) {
    auto const all = parse_policies("orders = clamp()\nsearch = name(\"s\")");
    EXPECT_EQ(all.at(0).policy.settings().name, "");
    EXPECT_EQ(all.at(1).policy.settings().name, "s");
}

TEST(policy_names, of_a_book_have_the_same_rule) {
    std::string const longest(128, 'a');
    EXPECT_EQ(policy_book(longest + " = clamp()")[longest].settings().name, longest);
    EXPECT_EQ(complaint_of<policy_syntax_error>([&] { return parse_policies(longest + "b = clamp()"); }),
              "asio_retry: at line 1, column 1: expected a name of at most 128 bytes, found '" +
                  std::string(40, 'a') + "...'");
    std::vector<named_policy> const listed = {{"a\xe2\x80\xa8z", retry_policy()}};
    EXPECT_EQ(complaint_of<policy_syntax_error>([&] { return (policy_book(listed), 0); }),
              "asio_retry: at a list of policies: expected a name of UTF-8 without control characters, found "
              "'a\\xe2\\x80\\xa8z'");
}

} // namespace
} // namespace asio_retry::test
