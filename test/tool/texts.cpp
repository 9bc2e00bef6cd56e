// What stands around the figures: lines, tables and escaped texts.
#include "text_layout.hpp"
#include "xml_text.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace asio_retry::tool {
namespace {

TEST(wrapped_text, breaks_between_words) {
    EXPECT_EQ(wrapped("one two three", 8), "one two\nthree");
    EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three");
    EXPECT_EQ(wrapped("one two three", 8, 2, 5), "one\n  two\n  three");
    EXPECT_EQ(wrapped("extraordinary", 4), "extraordinary");
    EXPECT_EQ(wrapped("a line\nand another", 80), "a line and another");
    EXPECT_EQ(wrapped("one\n\ntwo", 80), "one\n\ntwo");
    EXPECT_EQ(wrapped("such as\n  a b  c\nand so on", 80), "such as\n  a b  c\nand so on");
    EXPECT_EQ(wrapped("░░ ░░ ░", 5), "░░ ░░\n░");
    EXPECT_EQ(wrapped("", 5), "");
}

TEST(text_tables, leave_out_what_matters_least) {
    text_table table;
    table.add_column("name", text_table::side::left, 6, 9);
    table.add_column("much", text_table::side::right, 10, 2);
    table.add_column("less", text_table::side::right, 10, 1);
    table.add_row({"é", "1", "2"});
    auto const in = [&](std::size_t width) {
        std::ostringstream out;
        table.print(out, {width, false, false});
        return out.str();
    };
    EXPECT_EQ(in(no_limit), "name        much      less\né              1         2\n");
    EXPECT_EQ(in(26), in(no_limit));
    EXPECT_EQ(in(25), "name  much  less\né        1     2\n");
    EXPECT_EQ(in(15), "name  much\né        1\n(no room for\nless, which\n--format csv\nhas)\n");
    EXPECT_EQ(in(1).substr(0, 5), "name\n");
}

TEST(wrapped_text, begins_with_whole_letters) {
    EXPECT_EQ(first_letters("a\xC3\xA9z", 9), "a\xC3\xA9z");
    EXPECT_EQ(first_letters("a\xC3\xA9z", 3), "a\xC3\xA9");
    EXPECT_EQ(first_letters("a\xC3\xA9z", 2), "a");
    EXPECT_EQ(first_letters("\xE2\x82\xAC", 2), "");
}

TEST(xml_texts, have_only_what_xml_can_have) {
    std::string const unknown = "\xEF\xBF\xBD";
    EXPECT_EQ(xml_escaped("a<b>&\"\t\n"), "a&lt;b&gt;&amp;\"\t\n");
    EXPECT_EQ(xml_escaped("x\x01y\x1f"), "x" + unknown + "y" + unknown);
    EXPECT_EQ(xml_escaped(std::string_view("\0", 1)), unknown);
    for (char const* const letter : {"\xC3\xA9", "\xE2\x82\xAC", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBD",
                                     "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
        EXPECT_EQ(xml_escaped(letter), letter);
    for (char const* const none :
         {"\x80", "\xC3", "\xC0\x80", "\xE2\x82", "\xE0\x80\x80", "\xED\xA0\x80", "\xEF\xBF\xBE",
          "\xEF\xBF\xBF", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xFF"}) {
        std::string expected;
        for (std::size_t i = 0; none[i] != '\0'; ++i)
            expected += unknown;
        EXPECT_EQ(xml_escaped(none), expected);
    }
    EXPECT_EQ(xml_escaped("\xC3z\xC3\xA9"), unknown + "z\xC3\xA9");
}

} // namespace
} // namespace asio_retry::tool
