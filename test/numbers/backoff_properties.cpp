#include <asio_retry/backoff.hpp>

#include "numbers/any_shape.hpp"
#include "numbers/exact_ceiling.hpp"
#include "numbers/whole_range.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace asio_retry::test {
namespace {

constexpr auto most_failures = std::numeric_limits<std::uint64_t>::max();

rc::Gen<std::uint64_t> failures_near(std::int64_t middle) {
    return rc::gen::map(between<std::int64_t>(-1, 1), [=](std::int64_t offset) {
        return static_cast<std::uint64_t>(
            std::max<std::int64_t>(1, std::min(middle, duration::max().count() - 2) + offset));
    });
}

/// About where an exponential shape saturates.
std::int64_t first_beyond_all_durations(shape_fields const& s) {
    if (s.factor <= 1 || s.first == 0)
        return 1;
    double const doublings = 63 - std::log2(static_cast<double>(s.first));
    return static_cast<std::int64_t>(doublings / std::log2(s.factor)) + 1;
}

RC_GTEST_PROP(decision_01, every_ceiling_is_between_zero_and_the_cap, ()) {
    shape_fields const shape = *any_shape();
    duration const ceiling = shape.build().ceiling(*any_failures());
    RC_ASSERT(ceiling >= duration::zero());
    RC_ASSERT(ceiling <= shape.greatest());
}

RC_GTEST_PROP(decision_01, every_ceiling_is_what_the_definition_of_its_shape_says, ()) {
    shape_fields const shape = *any_shape();
    std::uint64_t const failures =
        *rc::gen::oneOf(any_failures(), failures_near(shape.second), failures_near(shape.second - 62),
                        failures_near(first_beyond_all_durations(shape)));
    auto const [least, greatest] = exact_ceiling(shape, failures);
    duration const ceiling = shape.build().ceiling(failures);
    RC_ASSERT(ceiling.count() >= least.count());
    RC_ASSERT(ceiling.count() <= greatest.count());
}

RC_GTEST_PROP(decision_01, no_ceiling_falls_as_failures_go_on, ()) {
    backoff const shape = (*any_shape()).build();
    std::uint64_t const failures = *any_failures();
    std::uint64_t const step = *rc::gen::oneOf(rc::gen::just(std::uint64_t(1)), any_failures());
    std::uint64_t const later = most_failures - failures < step ? most_failures : failures + step;
    RC_ASSERT(shape.ceiling(failures).count() <= shape.ceiling(later).count());
}

RC_GTEST_PROP(decision_01, growth_saturates_at_the_cap, ()) {
    shape_fields shape = *any_shape();
    RC_PRE(shape.what != shape_fields::kind::constant);
    shape.first = std::max<std::int64_t>(shape.first, 1);
    shape.second = std::max<std::int64_t>(shape.second, 1);
    shape.factor = std::max(shape.factor, 1 + std::numeric_limits<double>::epsilon());
    if (shape.cap)
        shape.cap = std::max(*shape.cap, shape.base());
    bool const is_binary = shape.what == shape_fields::kind::truncated_binary;
    duration const end = is_binary ? std::min(duration(shape.first), shape.greatest()) : shape.greatest();
    RC_ASSERT(shape.build().ceiling(most_failures).count() == end.count());
}

RC_GTEST_PROP(backoff_properties, the_base_is_the_first_ceiling_and_no_failure_counts_as_one, ()) {
    shape_fields const shape = *any_shape();
    RC_ASSERT(shape.build().base().count() == shape.base());
    RC_ASSERT(shape.build().ceiling(0).count() == shape.base());
    RC_ASSERT(shape.build().cap().count() == shape.greatest().count());
}

RC_GTEST_PROP(backoff_properties, a_cap_changes_only_what_exceeds_it, ()) {
    shape_fields const shape = *any_shape();
    std::uint64_t const failures = *any_failures();
    RC_ASSERT(shape.build().ceiling(failures) ==
              std::min(shape.uncapped().ceiling(failures), shape.greatest()));
}

RC_GTEST_PROP(decision_01, what_a_callable_says_is_held_below_the_cap_or_refused, ()) {
    duration const said(*any_nanoseconds()), cap(*non_negative_nanoseconds());
    std::uint64_t const failures = *any_failures();
    backoff const shape([&](std::uint64_t count) { return count == failures ? said : duration(-1); });
    if (said < duration(0))
        RC_ASSERT_THROWS_AS((void)shape.cap(cap).ceiling(failures), std::invalid_argument);
    else
        RC_ASSERT(shape.cap(cap).ceiling(failures).count() == std::min(said, cap).count());
}

} // namespace
} // namespace asio_retry::test
