#include <asio_retry/random.hpp>

#include "numbers/whole_range.hpp"
#include "policy/duration_text.hpp"
#include "support/split_mix_64.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

namespace asio_retry::test {
namespace {

RC_GTEST_PROP(random_properties, a_draw_is_within_its_range_and_the_one_that_seed_and_stream_give, ()) {
    std::uint64_t const seed = *any_count(), stream = *any_count();
    auto const [least, greatest] = std::minmax({*any_nanoseconds(), *any_nanoseconds()});
    random source(seed, stream);
    split_mix_64 twin = split_mix_64::stream_of(seed, stream);
    auto const span = static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
    for (int i = 0; i < 10; ++i) {
        std::int64_t const drawn = source.uniform(duration(least), duration(greatest)).count();
        RC_ASSERT(drawn >= least);
        RC_ASSERT(drawn <= greatest);
        RC_ASSERT(static_cast<std::uint64_t>(drawn) - static_cast<std::uint64_t>(least) == twin.up_to(span));
    }
}

RC_GTEST_PROP(random_properties, the_same_holds_for_unsigned_numbers, ()) {
    std::uint64_t const seed = *any_count();
    auto const [least, greatest] = std::minmax({*any_count(), *any_count()});
    random source(seed);
    split_mix_64 twin = split_mix_64::stream_of(seed, 0);
    for (int i = 0; i < 10; ++i)
        RC_ASSERT(source.uniform(least, greatest) == least + twin.up_to(greatest - least));
}

RC_GTEST_PROP(random_properties, both_ends_are_drawn_wherever_the_range_lies, ()) {
    std::int64_t const least = std::min(*any_nanoseconds(), duration::max().count() - 4);
    std::int64_t const greatest = least + *between(0, 4);
    random source(*any_count());
    std::set<std::int64_t> drawn;
    for (int i = 0; i < 400; ++i) // one of five is missed with a probability of 10^-38
        drawn.insert(source.uniform(duration(least), duration(greatest)).count());
    RC_ASSERT(*drawn.begin() == least);
    RC_ASSERT(*drawn.rbegin() == greatest);
    RC_ASSERT(drawn.size() == static_cast<std::size_t>(greatest - least) + 1);
}

RC_GTEST_PROP(decision_04, exactly_the_empty_ranges_are_refused, ()) {
    std::int64_t const least = *any_nanoseconds(), greatest = *any_nanoseconds();
    random source(1);
    std::string message;
    try {
        source.uniform(duration(least), duration(greatest));
    } catch (std::invalid_argument const& refusal) {
        message = refusal.what();
    }
    RC_ASSERT(message == (least <= greatest
                              ? ""
                              : "asio_retry: random.uniform.greatest = " + detail::to_text(duration(greatest)) +
                                    ": must not be below least, which is " + detail::to_text(duration(least))));
}

} // namespace
} // namespace asio_retry::test
