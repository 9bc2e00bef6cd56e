#include "support/endpoint_operation.hpp"
#include "support/failing_allocation.hpp"
#include "support/gate_values.hpp"

#include <asio_retry/error.hpp>
#include <asio_retry/traffic/endpoint_set.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace asio_retry::test {
namespace {

using namespace std::chrono_literals;

TEST(endpoints_without_memory, choices_and_ends_allocate_nothing) {
    endpoint_set<int> set(first_endpoints(3),
                          {.breaker = {.consecutive = 2, .open_for = 10ms}, .slow_least = 2});
    random dice(1);
    failing_allocation const counted(memory::global, shortage::once, std::numeric_limits<std::uint64_t>::max());
    int refused = 0, slow = 0;
    for (int i = 0; i < 1000; ++i) {
        endpoint_operation one(set, dice);
        for (int attempt = 0; attempt < 10; ++attempt) {
            time_point const now = noon + i * 1ms;
            auto const at = one.begin(now);
            if (!at)
                ++refused;
            else if ((i / 100) % 3 == 0 && (i % 5 != 0 || *at == 1))
                one.fail(now);
            else
                one.succeed(now + (*at == 2 ? 100us : 10us), *at == 2 ? 100us : 10us);
        }
        set.for_each([&](int, endpoint_status const& status) { slow += status.latency > 50us; },
                     noon + i * 1ms);
    }
    EXPECT_EQ(counted.count(), 0u);
    EXPECT_GT(refused, 0);
    EXPECT_GT(slow, 0);
}

TEST(endpoints_without_memory, making_one_and_assigning_fail_without_a_trace) {
    int failures = 0;
    bool is_over = false;
    for (std::uint64_t nth = 1; !is_over; ++nth) {
        ASSERT_LT(nth, 1000u);
        block_census const census;
        {
            std::vector<std::string> const names{"the first of the endpoints", "the second of the endpoints",
                                                 "the third of the endpoints"};
            std::optional<endpoint_set<std::string>> set;
            auto earlier = names;
            earlier.resize(2);
            set.emplace(earlier);
            std::vector<std::string> given = names;
            failing_allocation const failing(memory::global, shortage::once, nth);
            bool threw = false;
            try {
                set->assign(std::move(given));
            } catch (std::bad_alloc const&) {
                threw = true;
            }
            is_over = !failing.happened();
            EXPECT_TRUE(!threw || !is_over) << "sorting may do without memory";
            failures += threw;
            failing_allocation::pause const enough;
            std::vector<std::string> seen;
            set->for_each([&](std::string const& name, endpoint_status const&) { seen.push_back(name); }, noon);
            EXPECT_EQ(seen, threw ? earlier : names) << nth;
        }
        EXPECT_EQ(census.live(), 0u) << nth;
    }
    EXPECT_GT(failures, 10);
    is_over = false;
    for (std::uint64_t nth = 1; !is_over; ++nth) {
        ASSERT_LT(nth, 1000u);
        block_census const census;
        {
            std::vector<int> given = first_endpoints(3);
            failing_allocation const failing(memory::global, shortage::once, nth);
            try {
                endpoint_set<int> set(std::move(given));
            } catch (std::bad_alloc const&) {
            }
            is_over = !failing.happened();
        }
        EXPECT_EQ(census.live(), 0u) << nth;
    }
}

TEST(endpoints_without_memory, an_operation_forgets_what_it_tried_longest_ago) {
    endpoint_set<int> set(first_endpoints(5), {.breaker = {.min_attempts = 1000}});
    random dice(1);
    endpoint_operation one(set, dice);
    failing_allocation const failing(memory::global, shortage::lasting, 1);
    std::vector<int> tried;
    for (int i = 0; i < 50; ++i) {
        int const at = one.begin(noon).value();
        one.fail(noon);
        failing_allocation::pause const enough;
        tried.push_back(at);
        if (i < 4)
            continue;
        EXPECT_EQ(std::set<int>(tried.end() - 5, tried.end()).size(), 5u) << i;
    }
    EXPECT_TRUE(failing.happened());
}

TEST(endpoints_without_memory, an_operation_refuses_the_fifth_attempt_at_once) {
    endpoint_set<int> set(first_endpoints(2));
    random dice(1);
    endpoint_operation hedge(set, dice);
    {
        failing_allocation const failing(memory::global, shortage::lasting, 1);
        for (int i = 0; i < 4; ++i)
            EXPECT_TRUE(hedge.begin(noon));
        EXPECT_FALSE(hedge.begin(noon));
        EXPECT_TRUE(failing.happened());
        EXPECT_EQ(hedge.answer.until, time_point::max());
        EXPECT_TRUE(hedge.answer.refusal == detail::no_memory_error());
    }
    std::uint32_t in_flight = 0;
    for (auto const& [endpoint, status] : statuses(set, noon))
        in_flight += status.in_flight;
    EXPECT_EQ(in_flight, 4u);
    EXPECT_TRUE(hedge.begin(noon));
    hedge.succeed(noon, 0s, 1);
}

} // namespace
} // namespace asio_retry::test
