#include <asio_retry/retry_machine.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/machine_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

std::vector<std::uint8_t> random_bytes(std::uint64_t stream) {
    random source(1, stream);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(source.uniform(0, 150)));
    for (std::uint8_t& byte : bytes)
        byte = static_cast<std::uint8_t>(source());
    return bytes;
}

// Whatever the policy, the events and the callbacks, the machine keeps its rules, and it ends in every way it
// can.
TEST(retry_machine, keeps_its_rules_whatever_happens) {
    std::set<stop_reason> reasons;
    for (std::uint64_t stream = 0; stream < 20'000; ++stream) {
        std::vector<std::uint8_t> const bytes = random_bytes(stream);
        machine_bytes player(bytes);
        ASSERT_EQ(player.play(), "") << "with the bytes of stream " << stream;
        if (player.reason())
            reasons.insert(*player.reason());
    }
    using enum stop_reason;
    EXPECT_THAT(reasons,
                testing::ElementsAre(succeeded, not_retryable, attempts, elapsed, deadline, budget, cancelled));
}

} // namespace
} // namespace asio_retry::test
