#include <asio_retry/pushback.hpp>

#include "support/csv.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;
using wall_time = std::chrono::system_clock::time_point;

pushback const nothing;

wall_time at(std::chrono::year_month_day day, duration time = {}) {
    return wall_time(std::chrono::sys_days(day)) + std::chrono::duration_cast<wall_time::duration>(time);
}

wall_time const this_noon = at(std::chrono::year(2026) / 11 / 22, 12h);

TEST(pushback, is_nothing_or_a_delay_or_never) {
    EXPECT_FALSE(nothing);
    EXPECT_FALSE(nothing.forbids());
    EXPECT_EQ(nothing.delay(), 0ns);

    EXPECT_TRUE(pushback::after(3s));
    EXPECT_FALSE(pushback::after(3s).forbids());
    EXPECT_EQ(pushback::after(3s).delay(), 3s);
    EXPECT_TRUE(pushback::after(0s));
    EXPECT_EQ(pushback::after(duration::max()).delay(), duration::max());

    EXPECT_TRUE(pushback::never());
    EXPECT_TRUE(pushback::never().forbids());
    EXPECT_EQ(pushback::never().delay(), 0ns);

    EXPECT_EQ(pushback::after(1s), pushback::after(1000ms));
    EXPECT_NE(pushback::after(0s), nothing);
    EXPECT_NE(pushback::never(), nothing);
}

TEST(pushback, refuses_a_negative_delay) {
    EXPECT_THAT(calling([] { (void)pushback::after(-1ns); }),
                testing::ThrowsMessage<std::invalid_argument>(
                    "asio_retry: pushback.after = -1ns: must not be negative"));
}

// What Go's integer parsing and http.ParseTime say of the same text at the same time.
TEST(golden, decision_29_retry_after_is_read_as_go_reads_it) {
    auto const rows = read_csv("traffic/retry_after.csv");
    ASSERT_EQ(rows.size(), 296u);
    for (csv_row const& row : rows) {
        duration const since(std::stoll(row.at("now_unix_ns")));
        wall_time const now(std::chrono::duration_cast<wall_time::duration>(since));
        // A clock of microseconds, libc++'s, is that much earlier, and a date to come then later.
        bool const is_date = row.at("text").find(':') != std::string::npos;
        duration const cut = is_date ? since - now.time_since_epoch() : 0ns;
        pushback expected = nothing;
        if (row.at("says") == "after") {
            duration const delay(std::stoll(row.at("delay_ns")));
            expected = pushback::after(delay > 0ns ? delay + cut : delay);
        }
        if (row.at("text") == "1.5") // Go has whole seconds alone
            expected = pushback::after(1500ms);
        pushback const said = parse_retry_after(row.at("text"), now);
        EXPECT_EQ(said, expected) << row.at("text") << " is read as " << said.delay().count();
    }
}

TEST(decision_29, all_three_dates_are_read) {
    for (char const* text : {"Sun, 22 Nov 2026 12:00:05 GMT", "Sunday, 22-Nov-26 12:00:05 GMT",
                             "Sun Nov 22 12:00:05 2026", " \tSun, 22 Nov 2026 12:00:05 GMT\t "})
        EXPECT_EQ(parse_retry_after(text, this_noon), pushback::after(5s)) << text;
    EXPECT_EQ(parse_retry_after("Sun Nov  8 12:00:05 2026", this_noon), pushback::after(0s));
    EXPECT_EQ(parse_retry_after("Sun Nov 08 12:00:05 2026", this_noon), pushback::after(0s));
}

TEST(decision_29, the_name_of_the_day_is_not_compared_with_the_date) {
    EXPECT_EQ(parse_retry_after("Mon, 22 Nov 2026 12:00:05 GMT", this_noon), pushback::after(5s));
}

TEST(decision_29, a_date_is_exact_to_the_nanosecond) {
    EXPECT_EQ(parse_retry_after("Sun, 22 Nov 2026 12:00:01 GMT", this_noon + 1us), pushback::after(1s - 1us));
    EXPECT_EQ(parse_retry_after("Sun, 22 Nov 2026 12:00:01 GMT", this_noon + 1s), pushback::after(0s));
    EXPECT_EQ(parse_retry_after("Sun, 22 Nov 2026 12:00:01 GMT", this_noon + 2s), pushback::after(0s));
}

TEST(decision_29, dates_too_far_away_to_be_counted_are_held) {
    EXPECT_EQ(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", this_noon), pushback::after(duration::max()));
    EXPECT_EQ(parse_retry_after("Fri, 31 Dec 9999 23:59:59 GMT", wall_time::min()),
              pushback::after(duration::max()));
    EXPECT_EQ(parse_retry_after("Sat, 01 Jan 0000 00:00:00 GMT", wall_time::max()), pushback::after(0s));
    // 292 years and some days: 2^63 - 1 ns is 9223372036.854775807 s
    wall_time const epoch;
    EXPECT_EQ(parse_retry_after("Fri, 11 Apr 2262 23:47:16 GMT", epoch), pushback::after(9223372036s));
    EXPECT_EQ(parse_retry_after("Fri, 11 Apr 2262 23:47:17 GMT", epoch), pushback::after(duration::max()));
    EXPECT_EQ(parse_retry_after("Fri, 11 Apr 2262 23:47:17 GMT", epoch + 500ms),
              pushback::after(9223372036s + 500ms));
}

TEST(decision_29, a_two_digit_year_is_at_most_50_years_ahead) {
    auto const year_of = [](std::string const& year, wall_time now) {
        return parse_retry_after("Sunday, 01-Jan-" + year + " 00:00:00 GMT", now);
    };
    EXPECT_EQ(year_of("76", this_noon), parse_retry_after("Sun, 01 Jan 2076 00:00:00 GMT", this_noon));
    EXPECT_EQ(year_of("77", this_noon), pushback::after(0s)) << "1977";
    EXPECT_EQ(year_of("26", this_noon), pushback::after(0s));
    EXPECT_EQ(year_of("27", this_noon), parse_retry_after("Sun, 01 Jan 2027 00:00:00 GMT", this_noon));
    EXPECT_EQ(year_of("00", at(std::chrono::year(2099) / 12 / 31, 24h - 1s)), pushback::after(1s));
    EXPECT_EQ(year_of("00", at(std::chrono::year(1999) / 12 / 31, 24h - 1s)), pushback::after(1s));
}

TEST(decision_29, a_two_digit_year_is_counted_from_the_year_that_it_is_before_1970_too) {
    EXPECT_EQ(
        parse_retry_after("Wednesday, 01-Jan-20 00:00:00 GMT", at(std::chrono::year(1969) / 12 / 31, 12h)),
        pushback::after(0s));
}

TEST(decision_29, a_leap_second_is_the_one_after_it) {
    wall_time const new_years_eve = at(std::chrono::year(2016) / 12 / 31);
    EXPECT_EQ(parse_retry_after("Sat, 31 Dec 2016 23:59:60 GMT", new_years_eve), pushback::after(24h));
    EXPECT_EQ(parse_retry_after("Sat, 31 Dec 2016 23:59:61 GMT", new_years_eve), nothing);
}
TEST(decision_29, any_date_that_can_be_counted_is_in_the_past_at_the_end_of_time) {
    EXPECT_EQ(parse_retry_after("Fri, 31 Dec 2100 23:59:59 GMT", wall_time::max()), pushback::after(0s));
}
TEST(decision_29, what_is_no_number_and_no_date_says_nothing) {
    for (char const* text : {
             "",
             " ",
             "-1",
             "+1",
             "1,5",
             "5s",
             "5 5",
             "0x5",
             "1e3",
             "soon",
             "\n5",
             "5\n",
             "5\v",
             "sun, 22 Nov 2026 12:00:05 GMT",
             "Sun, 22 nov 2026 12:00:05 GMT",
             "Sun, 22 Nov 2026 12:00:05 gmt",
             "Sun, 22 Nov 2026 12:00:05 UTC",
             "Sun, 22 Nov 2026 12:00:05 GMT+1",
             "Sun, 22 Nov 2026 12:00:05",
             "Sun, 22 Nov 2026 12:00:05 GMT x",
             "Sun,  22 Nov 2026 12:00:05 GMT",
             "Sun, 2 Nov 2026 12:00:05 GMT",
             "Sun, 00 Nov 2026 12:00:05 GMT",
             "Sun, 31 Nov 2026 12:00:05 GMT",
             "Sun, 29 Feb 2027 12:00:05 GMT",
             "Sun, 22 Nov 2026 24:00:00 GMT",
             "Sun, 22 Nov 2026 12:60:00 GMT",
             "Sun, 22 Nov 2026 12:00:60 GMT",
             "Sun, 22 Nov 2026 22:59:60 GMT",
             "Sun, 22 Nov 2026 23:58:60 GMT",
             "Sun, 22 Nov 12026 12:00:05 GMT",
             "Sun, 22 Nov 26 12:00:05 GMT",
             "Sun, 22-Nov-26 12:00:05 GMT",
             "Sunday, 22-Nov-2026 12:00:05 GMT",
             "Sunday, 22 Nov 26 12:00:05 GMT",
             "Sun Nov 22 12:00:05 2026 GMT",
             "Sun Nov 8 12:00:05 2026",
             "Sun Nov 22 12:00:05 26",
             "Sunday Nov 22 12:00:05 2026",
             "2026-11-22T12:00:05Z",
             "22 Nov 2026 12:00:05 GMT",
         })
        EXPECT_EQ(parse_retry_after(text, this_noon), nothing) << text;
    EXPECT_EQ(parse_retry_after(std::string_view("5\0", 2), this_noon), nothing);
    EXPECT_TRUE(parse_retry_after("Tue, 29 Feb 2028 12:00:05 GMT", this_noon)) << "but a leap day is a day";
}

TEST(decision_29, every_digit_is_checked_before_a_number_is_held) {
    EXPECT_EQ(parse_retry_after("99999999999999999999999999999999", this_noon),
              pushback::after(duration::max()));
    EXPECT_EQ(parse_retry_after("9999999999999999999999999999999x", this_noon), nothing);
    EXPECT_EQ(parse_retry_after("9223372036854775807", this_noon), pushback::after(duration::max()));
    EXPECT_EQ(parse_retry_after("9223372036854775808", this_noon), pushback::after(duration::max()));
}

TEST(decision_29, milliseconds_are_read) {
    EXPECT_EQ(parse_retry_after_ms("0"), pushback::after(0s));
    EXPECT_EQ(parse_retry_after_ms(" 1500\t"), pushback::after(1500ms));
    EXPECT_EQ(parse_retry_after_ms("9223372036854"), pushback::after(9223372036854ms));
    EXPECT_EQ(parse_retry_after_ms("9223372036855"), pushback::after(duration::max()));
    EXPECT_EQ(parse_retry_after_ms("99999999999999999999"), pushback::after(duration::max()));
    for (char const* text : {"", " ", "-1", "+1", "1s", "1 5", "Sun, 22 Nov 2026 12:00:05 GMT"})
        EXPECT_EQ(parse_retry_after_ms(text), nothing) << text;
}

constexpr char const* no_decimals[] = {"",    " ",    ".",    ".5",   "5.",  "-1.5", "+1.5", "1.-5", "1.5.5",
                                       "1,5", "1.5s", "1. 5", "1 .5", "1e3", "0x5",  "inf",  "nan",  "Sun, 22"};

TEST(decision_52, milliseconds_may_have_a_fraction) {
    EXPECT_EQ(parse_retry_after_ms("1500.5"), pushback::after(1500500us));
    EXPECT_EQ(parse_retry_after_ms("\t0.000001 "), pushback::after(1ns));
    EXPECT_EQ(parse_retry_after_ms("0.0000010"), pushback::after(1ns));
    EXPECT_EQ(parse_retry_after_ms("0.00000000000000000000000000001"), pushback::after(1ns)) << "never early";
    EXPECT_EQ(parse_retry_after_ms("0.99999999"), pushback::after(1ms));
    EXPECT_EQ(parse_retry_after_ms("00001.50"), pushback::after(1500us));
    EXPECT_EQ(parse_retry_after_ms("9223372036854.775807"), pushback::after(duration::max()));
    EXPECT_EQ(parse_retry_after_ms("9223372036854.999999"), pushback::after(duration::max()));
    EXPECT_EQ(parse_retry_after_ms("99999999999999999999.9"), pushback::after(duration::max()));
    for (char const* text : no_decimals)
        EXPECT_EQ(parse_retry_after_ms(text), nothing) << text;
}

TEST(decision_52, retry_after_may_have_a_fraction) {
    auto const read = [](std::string_view text) { return parse_retry_after(text, this_noon); };
    EXPECT_EQ(read("0.873"), pushback::after(873ms));
    EXPECT_EQ(read(" 1.5\t"), pushback::after(1500ms));
    EXPECT_EQ(read("0.0"), pushback::after(0s));
    EXPECT_EQ(read("7.000000000"), pushback::after(7s));
    EXPECT_EQ(read("0.0000000001"), pushback::after(1ns)) << "never early";
    EXPECT_EQ(read("1.9999999999"), pushback::after(2s));
    EXPECT_EQ(read("9223372036.854775807"), pushback::after(duration::max()));
    EXPECT_EQ(read("99999999999999999999.9"), pushback::after(duration::max()));
    for (char const* text : no_decimals)
        EXPECT_EQ(read(text), nothing) << text;
}

// The texts that express-rate-limit 8.7.5 and hono-rate-limiter 0.5.4 send, and relatives.
TEST(decision_29, rate_limit_is_read_in_the_forms_of_both_drafts) {
    for (char const* text : {
             "limit=1, remaining=0, reset=91",
             "limit=1,remaining=0,reset=91",
             " \tlimit=1\t ,\tremaining=0, reset=91 ",
             "reset=91, remaining=0",
             "remaining=0;note=\"a, b\", reset=91;q=1, limit=100;w=60",
             "\"1-in-1min\"; r=0; t=91",
             "\"1-in-1min\";r=0;t=91",
             "\"1-in-1min\"; r=0; t=91; pk=:NzJmZTU1YTJkMjE5:",
             "\"1-in-1min\";t=91;q=1;w=60;r=0;secure",
             "\"1-in-1min\";r=4;r=0;t=5;t=91",
             "\"\";r=00;t=0091",
             "default;r=0;t=91",
         })
        EXPECT_EQ(parse_rate_limit(text), pushback::after(91s)) << text;
    EXPECT_EQ(parse_rate_limit("\"a\";r=0;t=0.873"), pushback::after(873ms));
    EXPECT_EQ(parse_rate_limit("remaining=0, reset=0.0000000001"), pushback::after(1ns)) << "never early";
    EXPECT_EQ(parse_rate_limit("\"a\";r=0;t=0"), pushback::after(0s));
}

TEST(decision_29, rate_limit_wishes_for_the_longest_of_the_policies_with_nothing_left) {
    EXPECT_EQ(parse_rate_limit("\"10-in-1sec\"; r=8; t=1, \"hour\"; r=0; t=3600"), pushback::after(3600s));
    EXPECT_EQ(parse_rate_limit("\"hour\"; r=1; t=3600, \"10-in-1sec\"; r=0; t=1"), pushback::after(1s));
    EXPECT_EQ(parse_rate_limit("\"a\";r=0;t=5,\"b\";r=0;t=60,\"c\";r=0;t=7"), pushback::after(60s));
    EXPECT_EQ(parse_rate_limit("\"a\";r=0, \"b\";t=60, \"c\", \"d\";r=0;t=3"), pushback::after(3s))
        << "the others lack a number";
}

// Two limits of draft 07. A server or a proxy may write them into one line, too.
TEST(decision_29, rate_limit_of_joined_lines_has_the_longest_wish) {
    auto const hour = pushback::after(3600s);
    EXPECT_EQ(parse_rate_limit("limit=100, remaining=0, reset=3600, limit=10, remaining=5, reset=1"), hour);
    EXPECT_EQ(parse_rate_limit("limit=10, remaining=5, reset=1, limit=100, remaining=0, reset=3600"), hour);
    EXPECT_EQ(parse_rate_limit("limit=100, remaining=0, reset=3600, limit=10, remaining=0, reset=1"), hour);
    EXPECT_EQ(parse_rate_limit("remaining=0, reset=1, remaining=0, reset=3600, reset=9, remaining=0"), hour);
    EXPECT_EQ(parse_rate_limit("remaining=0, reset=3600, reset=1, remaining=5"), hour);
    EXPECT_EQ(parse_rate_limit("remaining=5, reset=3600, remaining=6, reset=1"), nothing);
    EXPECT_EQ(parse_rate_limit("remaining=0, remaining=1, reset=3600"), nothing);
    EXPECT_EQ(parse_rate_limit("remaining=0, reset=3600, remaining=-1, reset=1"), nothing) << "broken";
}

// RFC 9651: all kinds of items, in a list and in a dictionary.
TEST(decision_29, rate_limit_skips_other_members_and_parameters) {
    for (char const* text : {
             "foo=(1 2), remaining=0, reset=5",
             "foo=(), remaining=0, reset=5",
             "foo=( \"a)\";q=\"(\"  x;y :YQ==: %\"(\\\" );r=0;t=9, remaining=0, reset=5",
             "foo, remaining=0, reset=5",
             "remaining=0, reset=5, foo;r=0;t=9, *bar;q",
             "foo=%\"a\\\", remaining=0, reset=5",
             "foo=%\"f%c3%bc, reset=9\", remaining=0, reset=5",
             "a=?1, b=@1795348805, c=:YQ==:, d=-1.5, e=\"(\", remaining=0, reset=5",
             "\"x\";r=5;t=1, (a b);q=1, \"b\";r=0;t=5",
             "(\"a\";r=0;t=9 \"b\");q=1, \"b\";r=0;t=5",
             "?1, @1795348805, :YQ==:, -1.5, Foo, (), \"b\";r=0;t=5",
             "foo, \"b\";x=%\"\\\";r=0;t=5",
         })
        EXPECT_EQ(parse_rate_limit(text), pushback::after(5s)) << text;
    for (char const* text : {
             "foo=(, remaining=0, reset=5",
             "foo=(1, 2), remaining=0, reset=5",
             "foo=((1)), remaining=0, reset=5",
             "foo=(1)2, remaining=0, reset=5",
             "foo=(a\"b\"), remaining=0, reset=5",
             "foo=(\"a\"b), remaining=0, reset=5",
             "foo=(a\tb), remaining=0, reset=5",
             "foo=(\"a), remaining=0, reset=5",
             "foo=a(b), remaining=0, reset=5",
             "foo=%\"a, remaining=0, reset=5",
             "foo=(1",
             "remaining=(0), reset=5",
             "remaining=0, reset=(5)",
             "remaining=%\"0\", reset=5",
             "\"a\";r=0;t=5;x=(1)",
             "\"a\";r=0;t=5, (",
             "\"a\";r=0;t=5, ()=1",
         })
        EXPECT_EQ(parse_rate_limit(text), nothing) << text;
}

TEST(decision_29, rate_limit_says_nothing_while_something_is_left) {
    for (char const* text :
         {"limit=10, remaining=1, reset=91", "\"a\"; r=1; t=91",
          "\"a\";r=8;t=1, \"b\";r=99999999999999999999;t=5", "limit=10, reset=91", "limit=10, remaining=0",
          "limit=10", "\"a\"", "\"a\";r=0", "\"a\";t=91", "limit=1;r=0;t=5, remaining=1, reset=5"})
        EXPECT_EQ(parse_rate_limit(text), nothing) << text;
}

TEST(decision_29, rate_limit_is_not_confused_by_what_a_string_holds) {
    EXPECT_EQ(parse_rate_limit(R"("a;r=0;t=99, b";r=1;t=5)"), nothing);
    EXPECT_EQ(parse_rate_limit(R"("a\";r=0;t=99, \"";r=1;t=5)"), nothing);
    EXPECT_EQ(parse_rate_limit(R"("a\\";r=0;t=9, "remaining=0, reset=5";r=1;t=5)"), pushback::after(9s));
    EXPECT_EQ(parse_rate_limit(R"("a";x=";t=99\"";r=0;t=9)"), pushback::after(9s));
    EXPECT_EQ(parse_rate_limit(R"(limit="remaining=0, reset=5", remaining=3, reset=7)"), nothing);
}

TEST(decision_29, rate_limit_of_huge_numbers_is_held) {
    for (char const* text : {"\"a\";r=0;t=9223372037", "\"a\";r=0;t=9223372036854775808",
                             "remaining=0, reset=99999999999999999999999999999999.9"})
        EXPECT_EQ(parse_rate_limit(text), pushback::after(duration::max())) << text;
}

TEST(decision_29, rate_limit_says_nothing_if_its_grammar_is_broken) {
    for (char const* text : {
             "",
             " ",
             ",",
             ";",
             "=",
             "\"",
             "soon",
             "0",
             "60",
             "\"a\";r=0;t=-5",
             "\"a\";r=-1;t=5",
             "\"a\";r=+0;t=5",
             "\"a\";r=0;t=+5",
             "\"a\";r=0;t=",
             "\"a\";r=0;t",
             "\"a\";r;t=5",
             "\"a\";r=;t=5",
             "\"a\";r=0;t=\"5\"",
             "\"a\";r=\"0\";t=5",
             "\"a\";r=0.0;t=5",
             "\"a\";r=0;t=5s",
             "\"a\";r=0;t=nan",
             "\"a\";r=0;t=inf",
             "\"a\";r=0;t=1e3",
             "\"a\";r=0;t=.5",
             "\"a\";r=0;t=5.",
             "\"a\";R=0;T=5",
             "\"a\" ;r=0;t=5",
             "\"a\";r=0 ;t=5",
             "\"a\";r =0;t=5",
             "\"a\";r= 0;t=5",
             "\"a\";\tr=0;t=5",
             "\"a;r=0;t=5",
             "a\";r=0;t=5",
             "\"a\"b;r=0;t=5",
             "\"a\\b\";r=0;t=5",
             "\"a\\",
             "\"a\\\";r=0;t=5",
             "\"a\";r=0;t=5;",
             "\"a\";r=0;t=5,",
             ",\"a\";r=0;t=5",
             "\"a\";r=0;t=5,,\"b\"",
             "\"a\";r=0;t=5 \"b\"",
             "\"a\";r=0;t=5, \"b\";r=0;t=x",
             "\"a\";r=0;t=5, \"b",
             "\"\n\";r=0;t=5",
             "\"\x7f\";r=0;t=5",
             "\"\xc3\xa4\";r=0;t=5",
             "\n\"a\";r=0;t=5",
             "\"a\";r=0;t=5\n",
             "limit=1, remaining=-1, reset=5",
             "limit=1, remaining=0, reset=-5",
             "remaining=0 reset=5",
             "remaining=0; reset=5",
             "remaining =0, reset=5",
             "remaining= 0, reset=5",
             "remaining=, reset=5",
             "remaining=0, reset",
             "Remaining=0, Reset=5",
             "remaining=0, reset=5,",
             "remaining=0,, reset=5",
             "limit=1, remaining=0, reset=5, \"a\";r=0;t=9",
             "\"a\";r=0;t=9, limit=1, remaining=0, reset=5",
             "limit=\"1, remaining=0, reset=5",
             "Sun, 22 Nov 2026 12:00:05 GMT",
         })
        EXPECT_EQ(parse_rate_limit(text), nothing) << text;
    EXPECT_EQ(parse_rate_limit(std::string_view("\"a\";r=0;t=5\0", 12)), nothing);
    std::string const long_text(1 << 20, '"');
    EXPECT_EQ(parse_rate_limit(long_text), nothing);
    static_assert(noexcept(parse_rate_limit(long_text)));
}

TEST(decision_52, a_rate_limits_reset_is_a_delay_or_a_date_by_its_size) {
    auto const now = std::chrono::sys_days(std::chrono::year(2026) / 11 / 22) + 12h; // 1795348800
    EXPECT_EQ(parse_rate_limit_reset("0", now), pushback::after(0s));
    EXPECT_EQ(parse_rate_limit_reset(" 30\t", now), pushback::after(30s));
    EXPECT_EQ(parse_rate_limit_reset("1.5", now), pushback::after(1500ms));
    EXPECT_EQ(parse_rate_limit_reset("999999999.9999999999", now), pushback::after(1000000000s))
        << "rounded up";
    EXPECT_EQ(parse_rate_limit_reset("1000000000", now), pushback::after(0s)) << "in 2001";
    EXPECT_EQ(parse_rate_limit_reset("1795348799", now), pushback::after(0s));
    EXPECT_EQ(parse_rate_limit_reset("1795348800", now), pushback::after(0s));
    EXPECT_EQ(parse_rate_limit_reset("1795348805", now), pushback::after(5s));
    EXPECT_EQ(parse_rate_limit_reset("1795348805.25", now), pushback::after(5250ms));
    EXPECT_EQ(parse_rate_limit_reset("1795348805", now + 400ms), pushback::after(4600ms));
    EXPECT_EQ(parse_rate_limit_reset("1795348800.5", now + 400ms), pushback::after(100ms));
    EXPECT_EQ(parse_rate_limit_reset("1795348800.3", now + 400ms), pushback::after(0s));
    EXPECT_EQ(parse_rate_limit_reset("1795348801.3", now + 400ms), pushback::after(900ms));
    for (char const* text : no_decimals)
        EXPECT_EQ(parse_rate_limit_reset(text, now), nothing) << text;
}

// hapi-rate-limit and others send milliseconds.
TEST(decision_84, a_reset_from_100_000_000_000_on_is_in_milliseconds) {
    auto const at = [](char const* text) { return parse_rate_limit_reset(text, this_noon); };
    EXPECT_EQ(at("1795348805000"), pushback::after(5s));
    EXPECT_EQ(at("1795348805001"), pushback::after(5001ms));
    EXPECT_EQ(at("1795348805000.5"), pushback::after(5s + 500us));
    EXPECT_EQ(at("1795348799999"), pushback::after(0s));
    EXPECT_EQ(at("100000000000"), pushback::after(0s)) << "in 1973";
    EXPECT_EQ(at("99999999999"), pushback::after(duration::max())) << "in seconds, the year 5138";
    EXPECT_EQ(parse_rate_limit_reset("1795348800999.9999999", this_noon + 400ms), pushback::after(600ms));
    EXPECT_EQ(at("9223372036854775807"), pushback::after(duration::max()));
}

TEST(decision_52, a_reset_too_far_away_to_be_counted_is_held) {
    for (char const* text : {"99999999999999", "9223372036854775807", "9223372036854775808.5",
                             "99999999999999999999999999999999"}) {
        EXPECT_EQ(parse_rate_limit_reset(text, this_noon), pushback::after(duration::max())) << text;
        EXPECT_EQ(parse_rate_limit_reset(text, wall_time::min()), pushback::after(duration::max())) << text;
    }
    EXPECT_EQ(parse_rate_limit_reset("1795348805", wall_time::max()), pushback::after(0s));
    EXPECT_EQ(parse_rate_limit_reset("5", wall_time::min()), pushback::after(5s));
}

// gRFC A6: what is no int32, or is negative, asks the client not to retry at all.
TEST(decision_29, grpc_pushback_is_a_delay_or_never) {
    EXPECT_EQ(parse_grpc_pushback("0"), pushback::after(0s));
    EXPECT_EQ(parse_grpc_pushback("2147483647"), pushback::after(2147483647ms));
    EXPECT_EQ(parse_grpc_pushback(" 20 "), pushback::after(20ms));
    for (char const* text : {"", " ", "-1", "-0", "+1", "2147483648", "99999999999999999999", "1.5", "1s"})
        EXPECT_EQ(parse_grpc_pushback(text), pushback::never()) << text;
}

} // namespace
} // namespace asio_retry::test
