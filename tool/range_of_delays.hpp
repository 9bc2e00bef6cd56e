#pragma once

#include "explanation.hpp"

#include <asio_retry/jitter.hpp>
#include <asio_retry/retry_settings.hpp>

#include <algorithm>
#include <cmath>

namespace asio_retry::tool {

inline duration rounded(long double count) {
    return count >= 0x1p63L ? duration::max() : duration(std::llround(count));
}

/// The exact mean of a jitter whose draws do not depend on the draw before.
class exact_mean {
public:
    explicit exact_mean(jitter const& kind)
        : jitter_(kind) {}

    duration of(delay_range const& range) const {
        auto const unit = static_cast<long double>(jitter_.unit().count());
        auto const least = std::floor(static_cast<long double>(range.least.count()) / unit);
        auto const greatest = std::floor(static_cast<long double>(range.greatest.count()) / unit);
        if (range.greatest <= jitter_.cap())
            return rounded(unit * (least + greatest) / 2);
        // A delay above the cap becomes the cap.
        auto const cap = static_cast<long double>(jitter_.cap().count());
        long double const last = std::max(std::floor(cap / unit), least - 1);
        long double const below = (last - least + 1) * (least + last) / 2 * unit;
        return rounded((below + (greatest - last) * cap) / (greatest - least + 1));
    }

private:
    jitter const& jitter_;
};

/// The range of each delay, over all possible earlier draws.
class range_of_delays {
public:
    explicit range_of_delays(retry_settings const& settings)
        : settings_(settings) {}

    void next(explained_failure& into) {
        into.ceiling = settings_.backoff.ceiling(into.failure);
        auto const step = least_.step(settings_.backoff, into.failure, into.ceiling);
        auto const from_least = settings_.jitter.range(step);
        auto const from_greatest =
            settings_.jitter.range(greatest_.step(settings_.backoff, into.failure, into.ceiling));
        bool const is_known = from_least && from_greatest;
        duration const bound = settings_.jitter.is_beyond_cap() ? duration::max() : step.cap;
        into.least = std::min(is_known ? from_least->least : least_draw(step), settings_.jitter.cap());
        into.greatest = std::min(is_known ? from_greatest->greatest : bound, settings_.jitter.cap());
        least_.drew(into.least);
        greatest_.drew(into.greatest);
        depends_on_previous_ = !is_known || from_least->least != from_greatest->least ||
                               from_least->greatest != from_greatest->greatest;
        if (!depends_on_previous_)
            into.mean = exact_mean(settings_.jitter).of(*from_least);
    }

    /// Whether the mean cannot be computed and must be sampled.
    bool needs_sampling() const { return depends_on_previous_; }

private:
    /// A jitter without a range counts as one whose range begins at zero.
    duration least_draw(backoff_step const& step) const {
        jitter const& kind = settings_.jitter;
        jitter const from_zero = full_jitter().unit(kind.unit()).at_least(kind.at_least());
        return (kind.is_beyond_cap() ? from_zero.beyond_cap() : from_zero).range(step)->least;
    }

    retry_settings const& settings_;
    detail::jitter_course least_, greatest_; // the courses of the least and the greatest draws
    bool depends_on_previous_ = false;
};

} // namespace asio_retry::tool
