#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace asio_retry {

/// The options of a `share_budget`.
struct share_budget_options {
    double share = 0.2;            ///< retries allowed for each attempt in flight, in (0, 1]
    std::uint32_t min_retries = 3; ///< always allowed, however little is in flight
};

/// Limits how many retries there are at once, to a share of all that is in flight.
///
/// A retry counts from its decision to its end, its delay included: otherwise there would be no limit while all
/// retries wait (envoy issue 30205). In flight are running attempts and waiting retries. Do not use it with a
/// `backoff_ticker`, which never reports that an attempt has ended.
///
/// Thread safety: call any function from any thread. There is no lock: both numbers are one atomic word.
/// Source: Envoy's retry budget.
class ASIO_RETRY_DECL share_budget final : public retry_gate {
public:
    /// Throws std::invalid_argument for a share outside (0, 1].
    explicit share_budget(share_budget_options const& options = {});

    /// How many retries there are, waiting ones included.
    std::uint64_t retries() const noexcept;

    /// How many attempts run and how many retries wait.
    std::uint64_t in_flight() const noexcept;

    bool measures_time() const noexcept override { return false; }
    std::string_view name() const noexcept override { return "share_budget"; }
    bool acquire(failure_kind kind, time_point now) noexcept override;
    void give_back(failure_kind kind) noexcept override;
    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;

    /// Whether nothing is in flight.
    bool is_idle(time_point) const noexcept override { return counts_.load() == 0; }

private:
    share_budget_options const options_;
    std::atomic<std::uint64_t> counts_ = 0; // retries above, first attempts below
};

} // namespace asio_retry
