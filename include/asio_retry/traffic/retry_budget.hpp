#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace asio_retry {

/// The options of a `retry_budget`.
struct retry_budget_options {
    double ratio = 0.1; ///< what a success earns, in (0, 1]: a retry costs 1
    saturating_duration window =
        std::chrono::seconds(10); ///< the time constant by which what is above `keep` fades
    double keep = 1;              ///< what does not fade, so that a quiet client may retry at all
    double initial = 1;           ///< what there is at first
    double per_second = 0;        ///< although too little is left, one retry in each 1/per_second s
    bool earn_by_request = false; ///< first attempts earn when they end, unless abandoned, and not
                                  ///< successes
};

/// Lets retries spend what successes have earned: the budget to begin with.
///
/// A retry costs 1 and each success earns `ratio`, so that retries add at most that share to a client's
/// traffic, and nothing to what a dead peer gets. What is above `keep` fades with the time constant `window`:
/// the retries of a fleet at the beginning of an outage are those that its own traffic of the last seconds has
/// earned, however many clients it has. So over an outage a peer gets at most
/// 1 + ratio * window / outage + keep * clients / requests times its steady load.
///
/// What n successes since the last look earn is spread over the time since then, dt, with x = dt / window:
///
///     b = b > keep ? keep + (b - keep) e^-x : b;
///     b = max(b + ratio n (1 - e^-x)/x, min(keep, b + ratio n))
///
/// Time begins with the first look, at which only `keep` is left of what was earned before: nobody knows in how
/// long. A look is an `acquire` or `balance`.
///
/// A client that makes few requests has one retry, and the next after 1/ratio successes; more of them can be
/// had with `keep`, at the price of that bound. `earn_by_request` and `per_second` send retries to a dead peer
/// too. Share one budget between all that talk to a peer: retries, hedges, reconnecting clients.
///
/// Thread safety: any function may be called from any thread. A success is one atomic addition, a retry a few
/// atomic operations; there is no lock. The balance is counted in billionths.
class ASIO_RETRY_DECL retry_budget final : public retry_gate {
public:
    /// Throws std::invalid_argument for a ratio outside (0, 1], a window that is not positive, and amounts that
    /// are negative or not finite.
    explicit retry_budget(retry_budget_options const& options = {});

    /// How many retries would be granted at `now`, with fractions.
    double balance(time_point now) const noexcept;

    bool acquire(failure_kind kind, time_point now) noexcept override;
    void give_back(failure_kind kind) noexcept override;
    void on_end(attempt_end const& end) noexcept override;

private:
    std::int64_t fold(time_point now) const noexcept;
    std::optional<duration> time_since_fold(time_point now) const noexcept;
    duration claim_time(time_point now) const noexcept;
    double in_windows(duration time) const noexcept;
    bool take_extra(time_point now) noexcept;

    retry_budget_options const options_;
    std::int64_t const keep_;
    duration const extra_interval_;
    std::atomic<std::uint64_t> mutable earnings_ = 0; // successes since the last fold
    std::atomic<std::int64_t> mutable balance_;
    std::atomic<duration::rep> mutable folded_at_;
    std::atomic<duration::rep> next_extra_;
};

} // namespace asio_retry
