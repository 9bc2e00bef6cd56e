#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace asio_retry {

/// The options of a `retry_budget`.
struct retry_budget_options {
    double ratio = 0.1; ///< what a success earns, in (0, 1]; a retry costs 1
    saturating_duration window =
        std::chrono::seconds(10); ///< the time constant by which the balance above `keep` fades
    double keep = 1;              ///< the part that does not fade, so that a quiet client may retry at all
    double initial = 1;           ///< the balance at first
    double per_second = 0;        ///< one retry in each 1/per_second s is granted, even without balance
    bool earn_by_request = false; ///< first attempts earn when they end, unless abandoned; successes do not
};

/// Lets retries spend what successes have earned: the retry budget to begin with.
///
/// A retry costs 1 and each success earns `ratio`. So retries add at most that share to a client's traffic. A
/// dead server earns nothing. The balance above `keep` fades with the time constant `window`. So at the
/// beginning of an outage a fleet retries what its traffic of the last seconds has earned, however many clients
/// it has. Over an outage a server gets at most this many times its steady load:
///
///     1 + ratio * window / outage + keep * clients / requests
///
/// The earnings of n successes since the last look are spread over the time dt since then; x = dt / window:
///
///     b = b > keep ? keep + (b - keep) e^-x : b;
///     b = max(b + ratio n (1 - e^-x)/x, min(keep, b + ratio n))
///
/// A look is an `acquire` or `balance`. The first look begins the time: of earlier earnings it leaves only
/// `keep`.
///
/// A client of few requests has one retry, and the next after 1/ratio successes. A greater `keep` gives more,
/// and raises the bound above. `earn_by_request` and `per_second` send retries to a dead server too. Share one
/// budget between all that use a server: retries, hedges, reconnecting clients.
///
/// Thread safety: call any function from any thread. There is no lock: a success is one atomic addition, a
/// retry a few atomic operations. The balance is counted in billionths.
class ASIO_RETRY_DECL retry_budget final : public retry_gate {
public:
    /// Throws std::invalid_argument for a ratio outside (0, 1], a window that is not positive, and amounts that
    /// are negative or not finite.
    explicit retry_budget(retry_budget_options const& options = {});

    /// How many retries would be granted at `now`, with fractions.
    double balance(time_point now) const noexcept;

    bool measures_time() const noexcept override { return false; }
    std::string_view name() const noexcept override { return "retry_budget"; }
    bool acquire(failure_kind kind, time_point now) noexcept override;
    void give_back(failure_kind kind) noexcept override;
    void on_end(attempt_end const& end) noexcept override;

    /// Whether a look at `now` would find the balance of the beginning, and a retry of `per_second` is due.
    bool is_idle(time_point now) const noexcept override;

private:
    std::int64_t fold(time_point now) const noexcept;
    std::int64_t folded(std::int64_t before, std::uint64_t earnings, duration passed,
                        std::optional<duration> earned_over) const noexcept;
    std::optional<duration> time_since_fold(time_point now) const noexcept;
    duration claim_time(time_point now) const noexcept;
    double in_windows(duration time) const noexcept;
    bool take_extra(time_point now) noexcept;
    bool forget_extra() noexcept;

    retry_budget_options const options_;
    std::int64_t const keep_;
    duration const extra_interval_;
    std::atomic<std::uint64_t> mutable earnings_ = 0; // successes since the last fold
    std::atomic<std::int64_t> mutable balance_;
    std::atomic<duration::rep> mutable folded_at_;
    std::atomic<duration::rep> next_extra_;
    std::atomic<std::uint32_t> extras_in_use_ = 0; // retries of `per_second` that may be given back
};

} // namespace asio_retry
