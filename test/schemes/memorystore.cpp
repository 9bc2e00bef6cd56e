#include "schemes/scheme.hpp"

#include <asio_retry/profiles.hpp>

namespace asio_retry::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Each;

TEST(scheme_E1, every_published_row) {
    std::size_t compared = 0, at_the_maximum = 0;
    for (csv_row const& row : read_csv("memorystore_grid.csv")) {
        seconds const maximum(whole(row, "maximum_backoff_s"));
        auto const failures = static_cast<std::uint64_t>(whole(row, "n")) + 1;
        milliseconds const drawn(whole(row, "random_ms")), wait(whole(row, "wait_ms"));

        retry_policy const policy = profiles::memorystore(maximum);
        auto const published = range_of(policy, failures);
        EXPECT_EQ(published.greatest - published.least, 1000ms);
        EXPECT_EQ(std::min(published.least + drawn, policy.settings().jitter.cap()), wait);

        auto const windowed = range_of(profiles::memorystore_windowed(maximum), failures);
        EXPECT_EQ(windowed.greatest - windowed.least, 1000ms) << "there is jitter whatever the failures";
        if (wait == maximum) {
            EXPECT_EQ(windowed.greatest, maximum);
            ++at_the_maximum;
        } else {
            EXPECT_EQ(windowed.least + drawn, wait);
        }
        ++compared;
    }
    EXPECT_EQ(compared, 60u);
    EXPECT_EQ(at_the_maximum, 27u);
}

TEST(scheme_E1, a_fresh_millisecond_of_0_to_1000_is_drawn_each_time) {
    retry_policy const policy = profiles::memorystore();
    EXPECT_EQ(policy.settings().jitter.unit(), 1ms);
    EXPECT_TRUE(equally_likely(draws_of(policy, 3, 1'001, 100'100)));
    EXPECT_TRUE(equally_likely(draws_of(profiles::memorystore_windowed(), 40, 1'001, 100'100)));
}

TEST(scheme_E1, the_published_form_loses_its_jitter_at_the_maximum_and_the_windowed_one_does_not) {
    constexpr int draws = 10'000;
    EXPECT_EQ(part_at(profiles::memorystore(), 40, 32s, draws), 1);
    EXPECT_NEAR(part_at(profiles::memorystore_windowed(), 40, 32s, draws), 1. / 1001,
                six_sigma(1. / 1001, draws));
}

TEST(scheme_E1, stays_at_the_maximum_until_the_attempts_run_out) {
    played result = play(profiles::memorystore(64s).max_attempts(20), always);
    ASSERT_EQ(result.waits.size(), 19u);
    result.waits.erase(result.waits.begin(), result.waits.begin() + 6);
    EXPECT_THAT(result.waits, Each(duration(64s)));
}

TEST(scheme_E1, a_maximum_that_leaves_no_room_is_refused) {
    EXPECT_THROW((void)profiles::memorystore(0s), std::invalid_argument);
    EXPECT_THROW((void)profiles::memorystore_windowed(1s), std::invalid_argument);
    EXPECT_NO_THROW((void)profiles::memorystore(1s));
    EXPECT_NO_THROW((void)profiles::memorystore_windowed(2s));
}

// The guideline names the statuses; whoever knows HTTP says so by a predicate.
TEST(scheme_E2, only_server_errors_and_too_many_requests_are_retried) {
    class statuses final : public boost::system::error_category {
        char const* name() const noexcept override { return "http status"; }
        std::string message(int status) const override { return std::to_string(status); }
    };
    statuses const category;
    auto const policy = profiles::memorystore().retry_if(
        [](error_code const& status) { return status.value() == 429 || status.value() / 100 == 5; });
    for (int status = 300; status != 600; ++status) {
        random source(1);
        retry_machine machine(policy);
        machine.start();
        auto const action = machine.on_failure(verdict::failure(error_code(status, category)), {}, source);
        EXPECT_EQ(action.what == retry_action::kind::wait, status == 429 || status >= 500) << status;
    }
}

} // namespace
} // namespace asio_retry::test
