#include <asio_retry/retry_machine.hpp>

#include "numbers/any_nesting.hpp"

#include <boost/system/errc.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace asio_retry::test {
namespace {

/// What a machine waits after failures that follow one another.
std::vector<duration> delays_of(backoff const& shape, jitter const& kind, std::uint64_t seed) {
    retry_machine machine(retry_policy().backoff(shape).jitter(kind).unlimited_attempts());
    random source(seed);
    auto const failure = verdict::failure(make_error_code(boost::system::errc::connection_refused));
    std::vector<duration> delays;
    machine.start();
    for (std::uint64_t n = 1; n <= failures_of_nesting; ++n) {
        delays.push_back(machine.on_failure(failure, {}, source).delay);
        machine.on_wait_over({});
    }
    return delays;
}

RC_GTEST_PROP(decision_37, every_delay_lies_between_zero_and_the_cap_of_the_part_that_made_its_ceiling, ()) {
    nesting const nested = any_nesting(3);
    auto const delays = delays_of(nested.shape, any_bounded_jitter(), *any_count());
    for (std::size_t i = 0; i != delays.size(); ++i) {
        RC_ASSERT(nested.shape.ceiling(i + 1) == nested.expected[i].first);
        RC_ASSERT(nested.shape.cap_after(i + 1) == nested.expected[i].second);
        RC_ASSERT(delays[i] >= duration::zero());
        RC_ASSERT(delays[i] <= nested.expected[i].second);
    }
}

RC_GTEST_PROP(decision_36, a_decorrelated_delay_is_at_least_the_base, ()) {
    nesting const nested = any_nesting(3);
    auto const delays = delays_of(nested.shape, decorrelated_jitter(), *any_count());
    duration base{};
    for (std::size_t i = 0; i != delays.size(); ++i) {
        auto const [ceiling, cap] = nested.expected[i];
        if (base == duration::zero() || (cap <= base && ceiling < base))
            base = ceiling;
        RC_ASSERT(delays[i] >= base);
        if (base == duration::zero())
            RC_ASSERT(delays[i] == duration::zero());
    }
}

// A ceiling below the cap leaves something to draw, whatever the parts before it were.
RC_GTEST_PROP(decision_02, a_decorrelated_range_has_more_in_it_than_the_cap, ()) {
    nesting const nested = any_nesting(3);
    detail::jitter_course course;
    for (std::uint64_t n = 1; n <= failures_of_nesting; ++n) {
        auto const [ceiling, cap] = nested.expected[n - 1];
        backoff_step const step = course.step(nested.shape, n, ceiling);
        auto const range = decorrelated_jitter().range(step);
        RC_ASSERT(range->least <= cap && range->greatest <= cap);
        if (ceiling < cap)
            RC_ASSERT(range->least < cap);
        course.drew(range->greatest);
    }
}

} // namespace
} // namespace asio_retry::test
