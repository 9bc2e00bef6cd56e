#include <asio_retry/traffic/attempt_histogram.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <string_view>

namespace asio_retry::test {
namespace {

constexpr auto most = std::numeric_limits<std::uint64_t>::max();
std::string const most_text = "18446744073709551615";

attempt_histogram histogram_of(std::initializer_list<std::uint64_t> counts) {
    attempt_histogram h;
    std::uint64_t number = 0;
    for (std::uint64_t const count : counts)
        h.add(++number, count);
    return h;
}

std::string previous_of(std::uint64_t number) {
    attempt a;
    a.number = number;
    return previous_attempts(a);
}

TEST(previous_attempts, are_those_before_and_no_field_for_a_first_one) {
    EXPECT_EQ(previous_attempts(attempt()), "");
    EXPECT_EQ(previous_of(1), "");
    EXPECT_EQ(previous_of(2), "1");
    EXPECT_EQ(previous_of(11), "10");
    EXPECT_EQ(previous_of(most), "18446744073709551614");
    EXPECT_EQ(previous_of(0), "") << "no attempt has this number";
}

TEST(previous_attempts, are_read_as_the_number_of_the_attempt) {
    EXPECT_EQ(parse_previous_attempts("1"), 2u);
    EXPECT_EQ(parse_previous_attempts("10"), 11u);
    EXPECT_EQ(parse_previous_attempts("007"), 8u);
    EXPECT_EQ(parse_previous_attempts(" \t3\t "), 4u) << "blanks around it do not count";
}

TEST(previous_attempts, nothing_and_zero_are_a_first_one) {
    for (std::string_view const text : {"", " ", "\t \t", "0", "000"})
        EXPECT_EQ(parse_previous_attempts(text), 1u) << '"' << text << '"';
    EXPECT_EQ(parse_previous_attempts(std::string_view()), 1u);
}

TEST(previous_attempts, too_many_are_held_at_the_greatest_number) {
    EXPECT_EQ(parse_previous_attempts("18446744073709551613"), most - 1);
    EXPECT_EQ(parse_previous_attempts("18446744073709551614"), most);
    EXPECT_EQ(parse_previous_attempts(most_text), most);
    EXPECT_EQ(parse_previous_attempts("18446744073709551616"), most);
    EXPECT_EQ(parse_previous_attempts("99999999999999999999"), most);
    EXPECT_EQ(parse_previous_attempts(std::string(100'000, '9')), most);
    EXPECT_EQ(parse_previous_attempts(std::string(100'000, '0') + "1"), 2u);
}

TEST(previous_attempts, garbage_is_no_number) {
    using namespace std::string_view_literals;
    for (std::string_view const text :
         {"-1"sv, "+1"sv, "1.5"sv, "1.0"sv, "1e3"sv, "0x1"sv, "one"sv, "1 2"sv, "1,2"sv, "1;"sv, "1\n"sv,
          "1\r"sv, "\v1"sv, "1\0"sv, "\0"sv, "\xb2"sv, "\"1\""sv})
        EXPECT_EQ(parse_previous_attempts(text), std::nullopt) << '"' << text << '"';
    EXPECT_EQ(parse_previous_attempts(most_text + "x"), std::nullopt) << "each character is looked at";
}

TEST(previous_attempts, what_is_written_is_read) {
    for (std::uint64_t const number :
         {std::uint64_t(1), std::uint64_t(2), std::uint64_t(3), std::uint64_t(1000), most})
        EXPECT_EQ(parse_previous_attempts(previous_of(number)), number);
}

TEST(attempt_histogram, begins_empty) {
    attempt_histogram const empty;
    EXPECT_EQ(empty.total(), 0u);
    EXPECT_EQ(empty.retry_share(), 0);
    EXPECT_EQ(empty.count(1), 0u);
    EXPECT_EQ(to_string(empty), "0");
    EXPECT_EQ(empty, attempt_histogram());
}

TEST(attempt_histogram, counts_each_number_and_those_from_8_on_together) {
    attempt_histogram h;
    for (std::uint64_t number = 1; number <= 10; ++number)
        h.add(number);
    h.add(most, 5);
    for (std::uint64_t number = 1; number <= 7; ++number)
        EXPECT_EQ(h.count(number), 1u) << number;
    for (std::uint64_t const number : {std::uint64_t(8), std::uint64_t(9), most})
        EXPECT_EQ(h.count(number), 8u) << number;
    EXPECT_EQ(h.total(), 15u);
    EXPECT_EQ(to_string(h), "1,1,1,1,1,1,1,8");
}

TEST(attempt_histogram, a_number_of_0_is_a_first_attempt) {
    attempt_histogram h;
    h.add(0, 2);
    EXPECT_EQ(h.count(0), 2u);
    EXPECT_EQ(h.count(1), 2u);
    EXPECT_EQ(h.retry_share(), 0);
}

TEST(attempt_histogram, nothing_added_is_nothing) {
    attempt_histogram h;
    h.add(3, 0);
    EXPECT_EQ(h, attempt_histogram());
}

TEST(attempt_histogram, the_share_of_retries_is_of_all_attempts) {
    EXPECT_EQ(histogram_of({90, 9, 1}).retry_share(), 0.1);
    EXPECT_EQ(histogram_of({1}).retry_share(), 0);
    EXPECT_EQ(histogram_of({0, 1}).retry_share(), 1);
    EXPECT_EQ(histogram_of({7, 0, 0, 0, 0, 0, 0, 1}).retry_share(), 0.125);
}

TEST(attempt_histogram, holds_at_the_greatest_number) {
    attempt_histogram h;
    h.add(1, most - 1);
    h.add(1, 1);
    EXPECT_EQ(h.count(1), most);
    h.add(1, 1);
    h.add(1, most);
    EXPECT_EQ(h.count(1), most);
    EXPECT_EQ(h.total(), most);
    h.add(2, most);
    EXPECT_EQ(h.total(), most);
    EXPECT_EQ(h.retry_share(), 0.5) << "also where the sum cannot be written";
    h.merge(h);
    EXPECT_EQ(h, histogram_of({most, most}));
}

TEST(attempt_histogram, merges) {
    attempt_histogram h = histogram_of({1, 2, 0, 4});
    h.merge(histogram_of({10, 0, 30, 0, 0, 0, 0, 80}));
    EXPECT_EQ(h, histogram_of({11, 2, 30, 4, 0, 0, 0, 80}));
    h.merge(attempt_histogram());
    EXPECT_EQ(h.total(), 127u);
    EXPECT_NE(h, attempt_histogram());
}

TEST(attempt_histogram, is_written_without_zeros_at_the_end) {
    EXPECT_EQ(to_string(histogram_of({90, 9, 1})), "90,9,1");
    EXPECT_EQ(to_string(histogram_of({5})), "5");
    EXPECT_EQ(to_string(histogram_of({0, 5})), "0,5");
    EXPECT_EQ(to_string(histogram_of({0, 0, 0, 0, 0, 0, 0, 1})), "0,0,0,0,0,0,0,1");
    EXPECT_EQ(to_string(histogram_of({most})), most_text);
}

TEST(attempt_histogram, is_read) {
    EXPECT_EQ(parse_attempt_histogram("90,9,1"), histogram_of({90, 9, 1}));
    EXPECT_EQ(parse_attempt_histogram("0"), attempt_histogram());
    EXPECT_EQ(parse_attempt_histogram("0,0,0,0,0,0,0,0"), attempt_histogram());
    EXPECT_EQ(parse_attempt_histogram("1,2,3,4,5,6,7,8"), histogram_of({1, 2, 3, 4, 5, 6, 7, 8}));
    EXPECT_EQ(parse_attempt_histogram("3,0,0"), histogram_of({3})) << "zeros at the end too";
    EXPECT_EQ(parse_attempt_histogram("007,08"), histogram_of({7, 8}));
    EXPECT_EQ(parse_attempt_histogram(" 90 , 9\t,\t1 "), histogram_of({90, 9, 1}))
        << "as a list of HTTP may be";
    EXPECT_EQ(parse_attempt_histogram(most_text + ",1"), histogram_of({most, 1}));
    EXPECT_EQ(parse_attempt_histogram("18446744073709551616,99999999999999999999999"),
              histogram_of({most, most}));
}

TEST(attempt_histogram, garbage_is_none) {
    using namespace std::string_view_literals;
    for (std::string_view const text : {""sv,
                                        " "sv,
                                        ","sv,
                                        "1,"sv,
                                        ",1"sv,
                                        "1,,2"sv,
                                        "1, ,2"sv,
                                        "-1"sv,
                                        "+1"sv,
                                        "1.5"sv,
                                        "1;2"sv,
                                        "1 2"sv,
                                        "a"sv,
                                        "1,b"sv,
                                        "1,2,3,4,5,6,7,8,9"sv,
                                        "0,0,0,0,0,0,0,0,0"sv,
                                        "1,2,3,4,5,6,7,8,"sv,
                                        "1\0"sv,
                                        "1\n"sv,
                                        "1,2\r\n"sv})
        EXPECT_EQ(parse_attempt_histogram(text), std::nullopt) << '"' << text << '"';
    EXPECT_EQ(parse_attempt_histogram(std::string(100'000, ',')), std::nullopt);
    EXPECT_EQ(parse_attempt_histogram(most_text + most_text + "x"), std::nullopt);
    EXPECT_EQ(parse_attempt_histogram(std::string_view()), std::nullopt);
}

TEST(attempt_histogram, what_is_written_is_read) {
    std::mt19937_64 dice(1);
    for (int i = 0; i < 10'000; ++i) {
        attempt_histogram h;
        for (auto left = dice() % 9; left-- > 0;)
            h.add(dice() % 10, dice() >> dice() % 64);
        EXPECT_EQ(parse_attempt_histogram(to_string(h)), h) << to_string(h);
    }
}

} // namespace
} // namespace asio_retry::test
