#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace asio_retry {

/// Learns how long all but a few attempts take: a share `q` of the recorded attempts does not take longer.
///
/// `hedge_policy` hedges attempts that take longer, so it begins about 1 - q more attempts. Share one quantile
/// between all operations that ask the same of the same servers.
///
/// Units: a histogram of 16 steps per octave. `value` is the greatest duration of its step: never below the
/// recorded duration, and at most 1/16 above it. After each 8192 records all counts are halved, so the last few
/// ten thousand records decide.
/// Thread safety: call any function from any thread. `record` is three atomic additions and takes no lock;
/// `value` reads up to 77 words.
class ASIO_RETRY_DECL latency_quantile {
public:
    /// Throws std::invalid_argument unless 0 < q < 1, `initial` is not negative and `min_samples` at least 1.
    explicit latency_quantile(double q = 0.95, saturating_duration initial = std::chrono::milliseconds(100),
                              std::uint32_t min_samples = 20);
    latency_quantile(latency_quantile const&) = delete;
    latency_quantile& operator=(latency_quantile const&) = delete;

    /// Records how long an attempt took; a negative duration counts as zero.
    void record(saturating_duration took) noexcept;

    /// The quantile; `initial` until `min_samples` have been recorded.
    duration value() const noexcept;

private:
    static constexpr std::size_t steps = 16;   // of an octave
    static constexpr std::size_t octaves = 60; // the first holds the durations below 16 ns, exactly

    void halve() noexcept;

    double const q_;
    duration const initial_;
    std::uint32_t const min_samples_;
    std::atomic<bool> halving_ = false;
    std::atomic<std::uint64_t> recorded_ = 0;
    std::array<std::atomic<std::uint32_t>, octaves> in_octave_{};
    std::array<std::atomic<std::uint32_t>, octaves * steps> in_step_{};
};

} // namespace asio_retry
