#include <asio_retry/jitter.hpp>

#include "numbers/any_jitter.hpp"
#include "numbers/any_shape.hpp"
#include "numbers/whole_range.hpp"
#include "support/split_mix_64.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace asio_retry::test {
namespace {

struct range {
    std::int64_t least, greatest;
};

std::uint64_t width(range r) {
    return static_cast<std::uint64_t>(r.greatest) - static_cast<std::uint64_t>(r.least);
}

/// A step that a policy can come to: 0 <= base, ceiling <= cap, and a previous delay that was drawn.
backoff_step any_step() {
    shape_fields const fields = *any_shape();
    backoff const shape = fields.build();
    std::uint64_t const failures = *any_failures();
    duration const previous = std::min(duration(*non_negative_nanoseconds()), shape.cap());
    return {failures, shape.ceiling(failures), shape.base(), shape.cap(), previous};
}

/// The published range of a jitter other than the proportional one.
range published_range(jitter_fields const& j, backoff_step const& step) {
    std::int64_t const ceiling = step.ceiling.count(), base = step.base.count(), cap = step.cap.count();
    switch (j.what) {
    case jitter_fields::kind::full:
        return {0, ceiling};
    case jitter_fields::kind::equal:
        return {ceiling / 2, ceiling};
    case jitter_fields::kind::decorrelated:
        if (step.previous.count() >= cap / 3 + 1)
            return {base, cap};
        return {base, std::max(base, std::min(3 * step.previous.count(), cap))};
    case jitter_fields::kind::none:
    case jitter_fields::kind::proportional:
        break;
    }
    return {ceiling, ceiling};
}

RC_GTEST_PROP(decision_01, every_delay_is_between_zero_and_the_cap, ()) {
    backoff_step const step = any_step();
    jitter const kind = (*any_jitter()).build();
    random source(*any_count());
    for (int i = 0; i < 10; ++i) {
        duration const delay = kind.draw(step, source);
        RC_ASSERT(delay >= duration::zero());
        RC_ASSERT(delay <= step.cap);
    }
}

RC_GTEST_PROP(decision_02, a_delay_is_the_uniform_draw_from_the_published_range, ()) {
    backoff_step const step = any_step();
    jitter_fields const fields = *rc::gen::suchThat(
        any_jitter(), [](jitter_fields const& j) { return j.what != jitter_fields::kind::proportional; });
    std::uint64_t const seed = *any_count();
    random source(seed);
    split_mix_64 twin = split_mix_64::stream_of(seed, 0);
    range const expected = published_range(fields, step);
    for (int i = 0; i < 10; ++i) {
        auto const above =
            static_cast<std::uint64_t>(fields.build().draw(step, source).count() - expected.least);
        RC_ASSERT(above == twin.up_to(width(expected)));
    }
}

// The product of ceiling and fraction is that of doubles, so it is known to one part in 2^52.
RC_GTEST_PROP(decision_02, a_proportional_delay_is_within_its_fraction_of_the_ceiling, ()) {
    backoff_step const step = any_step();
    double const fraction = *any_fraction();
    random source(*any_count());
    auto const ceiling = static_cast<long double>(step.ceiling.count());
    long double const spread = ceiling * fraction;
    long double const rounding = 0.5L + std::ldexp(ceiling, -52);
    for (int i = 0; i < 10; ++i) {
        auto const delay = static_cast<long double>(proportional_jitter(fraction).draw(step, source).count());
        RC_ASSERT(delay >= ceiling - spread - rounding);
        RC_ASSERT(delay <= ceiling + spread + rounding);
    }
}

RC_GTEST_PROP(decision_02, a_proportional_delay_takes_every_value_of_a_narrow_range, ()) {
    std::int64_t const ceiling = *between(1, 10), percent = *between(0, 100);
    duration const cap(*between<std::int64_t>(ceiling, 20));
    random source(*any_count());
    jitter const kind = proportional_jitter(static_cast<double>(percent) / 100);
    std::set<std::int64_t> drawn;
    for (int i = 0; i < 1000; ++i)
        drawn.insert(
            kind.draw({1, duration(ceiling), duration(ceiling), cap, duration(ceiling)}, source).count());
    std::int64_t const spread = (ceiling * percent + 50) / 100;
    std::int64_t const least = ceiling - spread, greatest = std::min(ceiling + spread, cap.count());
    RC_ASSERT(*drawn.begin() == least);
    RC_ASSERT(*drawn.rbegin() == greatest);
    RC_ASSERT(drawn.size() == static_cast<std::size_t>(greatest - least) + 1);
}

RC_GTEST_PROP(decision_01, what_a_callable_draws_is_held_below_the_cap_or_refused, ()) {
    backoff_step const step = any_step();
    duration const said(*any_nanoseconds());
    random source(1);
    jitter const says([&](backoff_step, random&) { return said; });
    if (said < duration(0))
        RC_ASSERT_THROWS_AS((void)says.draw(step, source), std::invalid_argument);
    else
        RC_ASSERT(says.draw(step, source).count() == std::min(said, step.cap).count());
}

} // namespace
} // namespace asio_retry::test
