#include "support/refuses.hpp"

#include <asio_retry/retry_event.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

namespace asio_retry::test {
namespace {

TEST(retry_event, tells_of_no_attempt_unless_filled) {
    retry_event const event;
    EXPECT_EQ(event.attempt, 0u);
    EXPECT_FALSE(event.error);
    EXPECT_EQ(event.exception, nullptr);
    EXPECT_EQ(event.delay, duration::zero());
}

TEST(retry_event, can_be_kept_by_a_hook) {
    retry_event kept;
    {
        retry_event const told{3, detail::timed_out_error(),
                               std::make_exception_ptr(std::runtime_error("kept")),
                               std::chrono::milliseconds(5), stop_reason::attempts};
        kept = told;
    }
    EXPECT_EQ(kept.attempt, 3u);
    EXPECT_EQ(kept.error, detail::timed_out_error());
    EXPECT_EQ(kept.delay, std::chrono::milliseconds(5));
    EXPECT_EQ(kept.reason, stop_reason::attempts);
    EXPECT_THAT(calling([&] { std::rethrow_exception(kept.exception); }),
                testing::ThrowsMessage<std::runtime_error>("kept"));
}

TEST(time_limit, has_names) {
    EXPECT_EQ(to_string(time_limit::none), "none");
    EXPECT_EQ(to_string(time_limit::attempt_timeout), "attempt_timeout");
    EXPECT_EQ(to_string(time_limit::setup_timeout), "setup_timeout");
    EXPECT_EQ(to_string(time_limit::idle_timeout), "idle_timeout");
    EXPECT_EQ(to_string(time_limit::total_timeout), "total_timeout");
    EXPECT_EQ(to_string(time_limit::deadline), "deadline");
    EXPECT_EQ(to_string(time_limit::inherited), "inherited");
    EXPECT_EQ(to_string(static_cast<time_limit>(99)), "unknown time_limit");
}

TEST(time_limit, is_written_as_its_name) {
    std::ostringstream out;
    out << time_limit::idle_timeout << ' ' << interruption::beaten;
    EXPECT_EQ(out.str(), "idle_timeout beaten");
}

} // namespace
} // namespace asio_retry::test
