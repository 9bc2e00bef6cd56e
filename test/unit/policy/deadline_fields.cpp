#include <asio_retry/deadline_fields.hpp>

#include "support/csv.hpp"
#include "support/refuses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

time_point const some_time = time_point(1000h);

std::string grpc_for(duration left, duration margin = {}) {
    return to_grpc_timeout(some_time + left, some_time, margin);
}

std::string ms_for(duration left, duration margin = {}) {
    return to_timeout_ms(some_time + left, some_time, margin);
}

TEST(golden, decision_65_grpc_timeouts_are_those_of_the_specification) {
    auto const rows = read_csv("grpc_timeout.csv");
    ASSERT_EQ(rows.size(), 60u);
    for (csv_row const& row : rows) {
        std::string const text = row.at("text"), ns = row.at("ns");
        if (row.at("way") == "written") {
            EXPECT_EQ(to_grpc_timeout(time_point(duration(std::stoll(ns))), time_point()),
                      duration(std::stoll(ns)) == duration::max() ? "" : text)
                << ns;
            continue;
        }
        auto const expected = ns == "none" ? std::nullopt : std::optional(duration(std::stoll(ns)));
        EXPECT_EQ(parse_grpc_timeout(text), expected) << text;
    }
}

TEST(decision_65, the_finest_unit_that_eight_digits_can_count_is_written) {
    EXPECT_EQ(grpc_for(1ns), "1n");
    EXPECT_EQ(grpc_for(99'999'999ns), "99999999n");
    EXPECT_EQ(grpc_for(100ms), "100000u");
    EXPECT_EQ(grpc_for(100ms + 999ns), "100000u");
    EXPECT_EQ(grpc_for(100ms + 1000ns), "100001u");
    EXPECT_EQ(grpc_for(100s - 1ns), "99999999u");
    EXPECT_EQ(grpc_for(100s), "100000m");
    EXPECT_EQ(grpc_for(99'999'999ms), "99999999m");
    EXPECT_EQ(grpc_for(100'000'000ms), "100000S");
    EXPECT_EQ(grpc_for(100'000'000s - 1ns), "99999999S");
    EXPECT_EQ(grpc_for(100'000'000s), "1666666M");
    EXPECT_EQ(grpc_for(std::chrono::minutes(100'000'000)), "1666666H");
}

TEST(decision_65, a_text_says_at_most_what_is_left) {
    EXPECT_EQ(grpc_for(250ms, 5ms), "245000u");
    EXPECT_EQ(grpc_for(250ms, 250ms - 1ns), "1n");
    EXPECT_EQ(ms_for(250ms, 5ms), "245");
    EXPECT_EQ(ms_for(250ms - 1ns), "249");
    EXPECT_EQ(ms_for(250ms, 1ns), "249");
    EXPECT_EQ(ms_for(1ms), "1");
}

TEST(decision_65, a_deadline_that_is_over_is_zero) {
    for (duration const left : {0ns, -1ns, duration(-1h)}) {
        EXPECT_EQ(grpc_for(left), "0m") << left.count();
        EXPECT_EQ(ms_for(left), "0") << left.count();
    }
    EXPECT_EQ(grpc_for(5ms, 5ms), "0m");
    EXPECT_EQ(grpc_for(5ms, duration::max()), "0m");
    EXPECT_EQ(ms_for(5ms, 5ms), "0");
    EXPECT_EQ(ms_for(5ms, duration::max()), "0");
    EXPECT_EQ(ms_for(1ms - 1ns), "0") << "of which nobody says more than there is";
    EXPECT_EQ(to_grpc_timeout(time_point::min(), time_point::max()), "0m");
    EXPECT_EQ(to_timeout_ms(time_point::min(), time_point::max()), "0");
}

TEST(decision_65, no_deadline_is_no_text) {
    for (time_point const now : {time_point::min(), time_point(), some_time, time_point::max()})
        for (duration const margin : {0ns, duration(1s), duration::max()}) {
            EXPECT_EQ(to_grpc_timeout(time_point::max(), now, margin), "");
            EXPECT_EQ(to_timeout_ms(time_point::max(), now, margin), "");
        }
}

TEST(decision_65, deadlines_too_far_away_to_be_counted_are_held) {
    time_point const last = time_point::max() - 1ns;
    EXPECT_EQ(to_grpc_timeout(last, time_point::min()), "2562047H");
    EXPECT_EQ(to_timeout_ms(last, time_point::min()), "9223372036854");
    EXPECT_EQ(to_grpc_timeout(last, time_point()), "2562047H");
    EXPECT_EQ(to_timeout_ms(last, time_point()), "9223372036854");
    EXPECT_EQ(to_grpc_timeout(some_time + 1h, some_time, std::chrono::hours::max()), "0m");
    EXPECT_EQ(to_timeout_ms(some_time + 1h, some_time, std::chrono::years(600)), "0");
}

TEST(decision_65, a_negative_margin_would_extend_and_is_refused) {
    EXPECT_THAT(calling([] { (void)grpc_for(1s, -1ns); }),
                testing::ThrowsMessage<std::invalid_argument>(
                    "asio_retry: to_grpc_timeout.margin = -1ns: must not be negative"));
    EXPECT_THAT(calling([] { (void)ms_for(1s, -5ms); }),
                testing::ThrowsMessage<std::invalid_argument>(
                    "asio_retry: to_timeout_ms.margin = -5ms: must not be negative"));
    EXPECT_THROW((void)to_grpc_timeout(time_point::max(), some_time, -1ns), std::invalid_argument);
    EXPECT_THROW((void)to_timeout_ms(time_point::max(), some_time, -1ns), std::invalid_argument);
}

TEST(decision_65, grpc_timeouts_are_read) {
    EXPECT_EQ(parse_grpc_timeout("1H"), 1h);
    EXPECT_EQ(parse_grpc_timeout("2M"), 2min);
    EXPECT_EQ(parse_grpc_timeout("3S"), 3s);
    EXPECT_EQ(parse_grpc_timeout("4m"), 4ms);
    EXPECT_EQ(parse_grpc_timeout("5u"), 5us);
    EXPECT_EQ(parse_grpc_timeout("6n"), 6ns);
    EXPECT_EQ(parse_grpc_timeout("00000100m"), 100ms);
    EXPECT_EQ(parse_grpc_timeout("0m"), 0s);
    EXPECT_EQ(parse_grpc_timeout("0n"), 0s) << "as grpc-go writes it";
    EXPECT_EQ(parse_grpc_timeout("2562047H"), 2562047h);
    EXPECT_EQ(parse_grpc_timeout("2562048H"), duration::max());
    EXPECT_EQ(parse_grpc_timeout("99999999H"), duration::max());
    for (char const* text :
         {"",    " ",   "m",    "100",  "000000100m", "100000000n", "-1m", "+1m", "1.5S",  "1 m", "1mm",
          " 1m", "1m ", "\t1m", "1m\r", "1ms",        "1h",         "1s",  "m1",  "1S,2S", "inf"})
        EXPECT_EQ(parse_grpc_timeout(text), std::nullopt) << text;
    EXPECT_EQ(parse_grpc_timeout(std::string(1 << 20, '9') + 'n'), std::nullopt);
    EXPECT_EQ(parse_grpc_timeout(std::string("1\0m", 3)), std::nullopt);
}

TEST(decision_65, milliseconds_until_a_deadline_are_read) {
    EXPECT_EQ(parse_timeout_ms("0"), 0s);
    EXPECT_EQ(parse_timeout_ms("0001"), 1ms);
    EXPECT_EQ(parse_timeout_ms("9223372036854"), 9223372036854ms);
    EXPECT_EQ(parse_timeout_ms("9223372036855"), duration::max());
    EXPECT_EQ(parse_timeout_ms(std::string(1 << 20, '9')), duration::max());
    for (char const* text :
         {"", " ", "-1", "+1", "1.5", "1 5", " 1", "1 ", "\t1", "1s", "1m", "0x1", "1e3", "inf", "nan"})
        EXPECT_EQ(parse_timeout_ms(text), std::nullopt) << text;
}

} // namespace
} // namespace asio_retry::test
