// What stands around the figures: lines, tables, JSON to read, the manual page and what completes command
// lines.
#include "program.hpp"

#include "command_table.hpp"
#include "json_text.hpp"
#include "nearest.hpp"
#include "text_layout.hpp"
#include "xml_text.hpp"

#include <boost/json/parse.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace asio_retry::tool {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

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
    EXPECT_EQ(in(15), "name  much\né        1\n(no room for\nless, which\n--json has)\n");
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

TEST(json_texts, are_to_be_read) {
    auto const text = [](char const* json) {
        std::ostringstream out;
        write_json(out, boost::json::parse(json));
        return out.str();
    };
    EXPECT_EQ(text(R"({"b":0.5,"a":[1,-2,null,true],"c":{}})"),
              "{\n  \"b\": 0.5,\n  \"a\": [1, -2, null, true],\n  \"c\": {}\n}\n");
    EXPECT_EQ(text(R"([{"x":1,"y":"a\"b"},{"x":2}])"),
              "[\n  {\"x\": 1, \"y\": \"a\\\"b\"},\n  {\"x\": 2}\n]\n");
    EXPECT_EQ(text("[]"), "[]\n");
    std::string const longest = "{\"" + std::string(110, 'k') + "\":1}";
    EXPECT_THAT(text(longest.c_str()), HasSubstr("{\n  \"kkk"));
    for (std::string const words :
         {"explain celery --draws 5 --failure-probability 0.3", "profiles",
          "simulate occ --clients 2 --trials 2", "simulate rounds", "simulate load"}) {
        std::string const json = run(words + " --json").output;
        std::ostringstream again;
        write_json(again, boost::json::parse(json));
        EXPECT_EQ(json, again.str()) << words;
    }
}

TEST(suggestions, are_near) {
    EXPECT_EQ(distance_of("explian", "explain"), 1u);
    EXPECT_EQ(distance_of("", "abc"), 3u);
    EXPECT_EQ(distance_of("kitten", "sitting"), 3u);
    EXPECT_EQ(did_you_mean("sede", {"seed", "draws"}), ": did you mean seed?");
    EXPECT_EQ(did_you_mean("xyzzy", {"seed", "draws"}), "");
    EXPECT_EQ(did_you_mean("", {"a"}), "");
    EXPECT_EQ(did_you_mean(std::string(100'000, 'x'), {"seed"}), "");
}

TEST(manual, has_every_command_and_option_as_help_has) {
    std::string const manual = run("manual").output;
    for (command_entry const& command : commands()) {
        EXPECT_THAT(manual, HasSubstr("\n.SS \"asio\\-retry " + command.name)) << command.name;
        for (option_entry const& option : command.options) {
            EXPECT_THAT(run("help " + command.name).output, HasSubstr("  --" + option.name)) << command.name;
            std::string name = "\\-\\-" + option.name;
            if (std::size_t const dash = name.find('-', 5); dash != std::string::npos)
                name.insert(dash, "\\");
            EXPECT_THAT(manual, HasSubstr(name)) << option.name;
        }
    }
    EXPECT_THAT(run("help explain").output, HasSubstr("TERM is dumb"));
    for (char const* const section : {"NAME", "SYNOPSIS", "EXAMPLES", "\"EXIT STATUS\"", "\"ENVIRONMENT\""})
        EXPECT_THAT(manual, HasSubstr(std::string("\n.SH ") + section + "\n"));
}

TEST(manual, has_examples_that_run) {
    for (example const& each : examples()) {
        ASSERT_EQ(each.line.find("asio-retry "), 0u);
        std::string line = each.line.substr(11);
        if (line.find("policies.conf") != std::string::npos)
            line = "explain --file - --format svg <<'EOF'\nmine = celery\nEOF\n";
        if (line.starts_with("simulate occ"))
            line += " --trials 2 --clients 2";
        EXPECT_EQ(run(line + (line.ends_with('\n') ? "" : " >/dev/null")).exit_code, 0) << each.line;
    }
}

/// What bash offers for a command line, whose last word is to be completed.
std::vector<std::string> completed_by_bash(std::vector<std::string> const& words) {
    std::string line =
        "exec bash --norc -c 'eval \"$(" + program() +
        " completion bash)\"; compopt() { echo \"compopt $*\"; }; COMP_WORDS=(\"$@\"); "
        "COMP_CWORD=$(($# - 1)); _asio_retry asio-retry; printf \"%s\\n\" \"${COMPREPLY[@]}\"' - asio-retry";
    for (std::string const& word : words)
        line += " '" + word + "'";
    std::istringstream lines(run_in_shell(line + " 2>&1").output);
    std::vector<std::string> found;
    for (std::string each; std::getline(lines, each);)
        if (!each.empty())
            found.push_back(each);
    return found;
}

TEST(completion, completes_commands_options_and_values_in_bash) {
    EXPECT_THAT(completed_by_bash({"expl"}), ElementsAre("explain"));
    EXPECT_THAT(completed_by_bash({""}),
                IsSupersetOf({"explain", "profiles", "simulate", "help", "completion"}));
    EXPECT_THAT(completed_by_bash({"--v"}), ElementsAre("--version"));
    EXPECT_THAT(completed_by_bash({"simulate", "o"}), ElementsAre("occ"));
    EXPECT_THAT(completed_by_bash({"help", "pro"}), ElementsAre("profiles"));
    EXPECT_THAT(completed_by_bash({"help", "simulate", "am"}), ElementsAre("amplification"));
    EXPECT_THAT(completed_by_bash({"explain", "--fai"}), ElementsAre("--failures", "--failure-probability"));
    EXPECT_THAT(completed_by_bash({"explain", "go_"}), Each(HasSubstr("go_")));
    EXPECT_THAT(completed_by_bash({"explain", "go_backo"}), ElementsAre("go_backoff"));
    EXPECT_THAT(completed_by_bash({"explain", "celery", "--format", "c"}), ElementsAre("chart", "csv"));
    EXPECT_THAT(completed_by_bash({"explain", "celery", "--format", "=", "js"}), ElementsAre("json"));
    EXPECT_THAT(completed_by_bash({"explain", "celery", "--color", "="}),
                ElementsAre("auto", "always", "never"));
    EXPECT_THAT(completed_by_bash({"profiles", "--format", ""}), ElementsAre("table", "csv", "json"));
    EXPECT_THAT(completed_by_bash({"simulate", "occ", "--tr"}), ElementsAre("--trials"));
    EXPECT_THAT(completed_by_bash({"simulate", "occ", "--trials", ""}), IsEmpty());
    EXPECT_THAT(completed_by_bash({"explain", "--file", "/et"}), ElementsAre("compopt -o filenames", "/etc"));
    EXPECT_THAT(completed_by_bash({"completion", "z"}), ElementsAre("zsh"));
    EXPECT_THAT(completed_by_bash({"simulate", "load", "cel"}), IsEmpty());
}

TEST(completion, knows_every_option_of_the_table) {
    for (command_entry const& command : commands()) {
        std::vector<std::string> words;
        std::istringstream names(command.name);
        for (std::string word; names >> word;)
            words.push_back(word);
        words.emplace_back("--");
        std::vector<std::string> expected{"--help"};
        for (option_entry const& option : command.options)
            expected.push_back("--" + option.name);
        if (command.name != "help") {
            EXPECT_THAT(completed_by_bash(words), ::testing::UnorderedElementsAreArray(expected))
                << command.name;
        }
    }
}

// What it does in a zsh is tested by completion.zsh, where there is one.
TEST(completion, is_for_zsh_what_it_is_for_bash) {
    std::string const zsh = run("completion zsh").output;
    EXPECT_EQ(zsh.find("#compdef asio-retry\n"), 0u);
    for (command_entry const& command : commands())
        for (option_entry const& option : command.options)
            EXPECT_THAT(zsh, HasSubstr("--" + option.name)) << command.name;
    EXPECT_THAT(zsh, HasSubstr("$command == help && $words[3] == simulate"));
}

} // namespace
} // namespace asio_retry::tool
