#pragma once

#include "numbers/any_shape.hpp"
#include "numbers/whole_range.hpp"
#include "support/plain_jitters.hpp"

#include <asio_retry/backoff.hpp>
#include <asio_retry/jitter.hpp>

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace asio_retry::test {

/// A backoff of others inside one another, and what is known of it without asking it.
struct nesting {
    backoff shape;
    std::vector<std::pair<duration, duration>> expected; ///< ceiling and cap after 1, 2 ... failures

    nesting capped(duration cap) const {
        nesting result{shape.cap(cap), expected};
        for (auto& [ceiling, bound] : result.expected)
            ceiling = std::min(ceiling, cap), bound = std::min(bound, cap);
        return result;
    }
};

constexpr std::uint64_t failures_of_nesting = 12;

inline nesting any_leaf() {
    bool const is_custom = *rc::gen::arbitrary<bool>();
    nesting made = [&]() -> nesting {
        if (is_custom) { // with zeros anywhere
            auto const said = *rc::gen::container<std::vector<std::int64_t>>(
                failures_of_nesting,
                rc::gen::oneOf(rc::gen::just<std::int64_t>(0), non_negative_nanoseconds()));
            return {backoff([said](std::uint64_t n) { return duration(said[std::min(n, said.size()) - 1]); }),
                    {}};
        }
        return {(*any_shape()).uncapped(), {}};
    }();
    for (std::uint64_t n = 1; n <= failures_of_nesting; ++n)
        made.expected.emplace_back(made.shape.ceiling(n), duration::max());
    return made;
}

inline nesting any_nesting(int depth) {
    nesting made = [&] {
        int const kind = depth == 0 ? 0 : *between(0, 2);
        if (kind == 0)
            return any_leaf();
        nesting const then = any_nesting(depth - 1);
        if (kind == 1) {
            nesting result{first_at_once(then.shape), {{duration::zero(), duration::zero()}}};
            result.expected.insert(result.expected.end(), then.expected.begin(), then.expected.end() - 1);
            return result;
        }
        nesting const first = any_nesting(depth - 1);
        std::int64_t const count = *between<std::int64_t>(1, failures_of_nesting);
        nesting result{chained(first.shape, count, then.shape), first.expected};
        std::copy_n(then.expected.begin(), failures_of_nesting - static_cast<std::uint64_t>(count),
                    result.expected.begin() + count);
        return result;
    }();
    if (!*rc::gen::arbitrary<bool>())
        return made;
    return made.capped(std::max(made.expected.front().first, duration(*non_negative_nanoseconds())));
}

/// Every kind of jitter that stays below the cap.
inline jitter any_bounded_jitter() {
    duration const length(*non_negative_nanoseconds());
    double const amount = static_cast<double>(*between(0, 300)) / 100;
    int const kind = *between(0, 13);
    if (kind < plain_jitters)
        return plain_jitter(kind);
    switch (kind) {
    case 4:
        return proportional_jitter(amount / 3);
    case 5:
        return additive_jitter(length);
    case 6:
        return multiplicative_jitter(amount / 2, amount);
    case 7:
        return windowed_jitter(length);
    case 8:
        return log_normal_jitter(amount);
    case 9:
        return decorrelated_jitter_v2();
    case 10:
        return symmetric_jitter(length);
    case 11:
        return uniform_jitter(length);
    case 12:
        return full_jitter().at_least(length);
    default:
        return jitter([length](backoff_step, random&) { return length; });
    }
}

} // namespace asio_retry::test
