#include <asio_retry/policy_text.hpp>

#include "support/message_of.hpp"

#include <asio_retry/profiles.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace asio_retry::test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

/// The names and the texts of all policies.
std::vector<std::string> read(std::string_view text) {
    std::vector<std::string> all;
    for (named_policy const& each : parse_policies(text))
        all.push_back(each.name + " = " + to_string(each.policy));
    return all;
}

struct place {
    std::size_t position, line, column;
    bool operator==(place const&) const = default;
    friend void PrintTo(place const& p, std::ostream* out) {
        *out << "byte " << p.position << ", line " << p.line << ", column " << p.column;
    }
};

/// The place of the fault; also looks whether the message says it.
place place_of_fault(std::string_view text) {
    try {
        (void)parse_policies(text);
    } catch (policy_syntax_error const& fault) {
        EXPECT_THAT(fault.what(), testing::StartsWith("asio_retry: at line " + std::to_string(fault.line()) +
                                                      ", column " + std::to_string(fault.column()) + ": "));
        return {fault.position(), fault.line(), fault.column()};
    }
    return {};
}

std::string fault_in_lines(std::string_view text) {
    return complaint_of<policy_syntax_error>([&] { return parse_policies(text); });
}

std::string const celery = to_string(profiles::celery()), grpc_text = to_string(profiles::grpc());

TEST(policy_lines, are_names_and_policies_in_their_order) {
    EXPECT_THAT(
        read("# ours\n"
             "search = celery\r\n"
             "\n"
             "   # of the shop\n"
             "  checkout=exponential( base=100ms, cap=10s)  max_attempts(5)  "),
        ElementsAre("search = " + celery,
                    "checkout = exponential(base=100ms, factor=2, cap=10s) full_jitter() max_attempts(5)"));
}

TEST(policy_lines, may_begin_with_a_byte_order_mark_and_need_no_last_end) {
    EXPECT_THAT(read("\xef\xbb\xbf"
                     "a = celery"),
                ElementsAre("a = " + celery));
    EXPECT_THAT(read("\xef\xbb\xbf# ours\na = celery\n\n"), ElementsAre("a = " + celery));
}

TEST(policy_lines, have_names_of_almost_any_characters) {
    for (std::string const name :
         {"a", "/orders/v2", "b\xc3\xa9", "\xc2\xa0", "\xef\xbf\xbd", "7", "a#b", "max_attempts"})
        EXPECT_THAT(read(name + " = celery"), ElementsAre(name + " = " + celery));
}

TEST(policy_lines, say_line_and_column_of_a_fault) {
    std::tuple<std::string, place> const faults[] = {
        {"", {0, 1, 1}},
        {"\xef\xbb\xbf", {3, 1, 1}},
        {" \r\n\t", {4, 2, 2}},
        {"# nothing\n", {10, 2, 1}},
        {"a", {0, 1, 1}},
        {"  a", {2, 1, 3}},
        {"a = celery\n\n  b\n", {14, 3, 3}},
        {"a =", {3, 1, 4}},
        {"a = \t\nb = celery", {3, 1, 4}},
        {" = celery", {1, 1, 2}},
        {"a b = celery", {0, 1, 1}},
        {"a = celery\nb = celery max_attempts(5)", {22, 2, 12}},
        {"a = max_attempts(0)", {4, 1, 5}},
        {"a = full_jitter() max_attempts(x)", {31, 1, 32}},
        {"a = max_attempts(5", {18, 1, 19}},
        {"a = max_attempts(", {17, 1, 18}},
        {"\xef\xbb\xbf"
         "a = nonsense()",
         {7, 1, 5}},
        {"a = celery\r\nb = nonsense()\r\n", {16, 2, 5}},
        {"a = celery\nb = grpc\n a = celery", {21, 3, 2}},
    };
    for (auto const& [text, where] : faults)
        EXPECT_EQ(place_of_fault(text), where) << text;
}

// The line has two characters more in bytes than on a screen.
TEST(policy_lines, count_columns_in_characters_and_the_position_in_bytes) {
    EXPECT_EQ(place_of_fault("# \xc3\xa9\n\xc3\xa9t\xc3\xa9 = nonsense()"), (place{13, 2, 7}));
}

TEST(policy_lines, refuse_names_that_are_not_utf8_or_have_control_characters) {
    std::string const expected = "expected a name of UTF-8 without control characters, found ";
    std::tuple<std::string, std::string, place> const names[] = {
        {"\xff", "'\\xff'", {0, 1, 1}},
        {"ab\xc3", "'ab\\xc3'", {2, 1, 3}},
        {"\xc3\xa9\xed\xa0\x80", "'\\xc3\\xa9\\xed\\xa0\\x80'", {2, 1, 2}},
        {"\x1b[2J", "'\\x1b[2J'", {0, 1, 1}},
        {"a\x7f", "'a\\x7f'", {1, 1, 2}},
        {"a\xc2\x9bm", "'a\\xc2\\x9bm'", {1, 1, 2}},
        {"a\xc2\x80", "'a\\xc2\\x80'", {1, 1, 2}},
        {"a\xef\xbf\xbe", "'a\\xef\\xbf\\xbe'", {1, 1, 2}},
        {"a\xef\xbf\xbf", "'a\\xef\\xbf\\xbf'", {1, 1, 2}},
        {std::string("\0", 1), "'\\x00'", {0, 1, 1}},
    };
    for (auto const& [name, shown, where] : names) {
        EXPECT_EQ(place_of_fault(name + " = celery"), where) << shown;
        EXPECT_THAT(fault_in_lines(name + " = celery"), EndsWith(expected + shown));
    }
}

TEST(golden, faults_of_policy_lines_are_told_in_these_words) {
    EXPECT_EQ(fault_in_lines("a = celery\nb"),
              "asio_retry: at line 2, column 1: expected 'name = policy', found 'b'");
    EXPECT_EQ(fault_in_lines("\n"), "asio_retry: at line 2, column 1: expected 'name = policy', found the end");
    EXPECT_EQ(fault_in_lines("a = celery\na = grpc"),
              "asio_retry: at line 2, column 1: a second policy with the name 'a'");
    EXPECT_EQ(fault_in_lines("a = "), "asio_retry: at line 1, column 4: expected a policy, found nothing");
    EXPECT_EQ(fault_in_lines("a = full_jiter()"),
              "asio_retry: at line 1, column 5: unknown name 'full_jiter'; did you mean full_jitter?");
}

TEST(policy_lines, tell_users_who_write_the_argument_of_an_item_to_use_parentheses) {
    EXPECT_THAT(fault_in_lines("max_attempts = 3"),
                EndsWith("; write arguments in parentheses: max_attempts(3)"));
    for (std::string const other : {"mine = 3", "celery = 3", "max_attempts = 0", "constant = full_jiter()"})
        EXPECT_THAT(fault_in_lines(other), Not(HasSubstr("parentheses"))) << other;
}

TEST(policy_lines, tell_users_of_json_what_reads_it) {
    EXPECT_THAT(fault_in_lines("\n{\"a\": \"celery\"}"), EndsWith("; policies_from_json reads JSON"));
    EXPECT_THAT(fault_in_lines("{ a = celery"), EndsWith("; policies_from_json reads JSON"));
    EXPECT_THAT(fault_in_lines("a = {}"), Not(HasSubstr("JSON")));
}

TEST(policy_lines, leave_the_place_out_of_the_error_of_one_policy) {
    try {
        (void)parse_policy("max_attempts(0)");
        FAIL();
    } catch (policy_syntax_error const& fault) {
        EXPECT_EQ(fault.line(), 0u);
        EXPECT_EQ(fault.column(), 0u);
    }
}

} // namespace
} // namespace asio_retry::test
