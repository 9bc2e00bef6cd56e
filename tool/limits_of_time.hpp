#pragma once

#include "explanation.hpp"

#include <asio_retry/retry_settings.hpp>

#include <optional>
#include <vector>

namespace asio_retry::tool {

inline duration saturating_sum(duration a, duration b) {
    return a > duration::max() - b ? duration::max() : a + b;
}

/// Applies time limits to waits. Attempts take no time, so all time is spent waiting.
class limits_of_time {
public:
    explicit limits_of_time(retry_settings const& settings);

    /// No wait ends after this.
    std::optional<duration> const& earliest() const { return earliest_; }

    /// Whether the limits leave waits of this total length unchanged.
    bool allow(duration waited) const;

    /// When a wait of `delay` ends that begins after `passed`. With `clamp` it is cut short to end at the
    /// limit, or to leave a tenth of the remaining time to an attempt that the limit interrupts.
    duration end_of_wait(duration passed, duration delay) const;

    /// Adds up the delays, and keeps the failures that a wait follows if all delays are average. Returns
    /// whether others were there.
    bool keep(std::vector<explained_failure>& failures) const;

private:
    void add(explained_failure const& before, explained_failure& to) const;
    void cut_short(explained_failure const& before, explained_failure& of) const;

    std::optional<duration> earliest_;
    std::optional<duration> interrupting_;
    bool clamp_;
};

} // namespace asio_retry::tool
