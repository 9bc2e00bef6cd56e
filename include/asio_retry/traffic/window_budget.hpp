#pragma once

#include <asio_retry/retry_gate.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace asio_retry {

/// The options of a `window_budget`.
struct window_budget_options {
    double ratio = 0.2; ///< retries per request, in [0, 1000]
    saturating<std::chrono::seconds> ttl =
        std::chrono::seconds(10);      ///< how long a request and a retry count under steady traffic, 1 to 60 s
    std::uint32_t min_per_second = 10; ///< retries that are granted even without requests
};

/// Finagle's retry budget: the requests of the last `ttl` earn retries, and there is a floor per second.
///
/// linkerd, tower and the Gateway API have the same budget. It earns by request and not by success, and the
/// number of clients multiplies the floor. Use it where a platform has agreed on those numbers.
///
/// A request counts when its first attempt asks to begin. In `all_gates` put gates that refuse attempts before
/// it: otherwise a request that waits for such a gate counts each time that it asks.
///
/// As in Finagle, a ratio of at most 1 is rounded up a little: a retry costs trunc(1000 / ratio). A greater
/// ratio is exact to a millionth.
///
/// Time is counted in ten slots that include the present one. As in Finagle, a slot begins when something
/// happens in it. So if less than one event falls in a slot, events count for up to twice the `ttl`. Giving
/// back a retry removes the oldest one that counts; a retry that counts no more is not given back.
///
/// Thread safety: call any function from any thread. There is no lock.
class ASIO_RETRY_DECL window_budget final : public retry_gate {
public:
    /// Throws std::invalid_argument for a ratio outside [0, 1000] and a ttl outside 1 to 60 s.
    explicit window_budget(window_budget_options const& options = {});

    /// How many retries would be granted at `now`; negative if deposits are forgotten before the retries that
    /// they paid.
    std::int64_t balance(time_point now) const noexcept;

    std::string_view name() const noexcept override { return "window_budget"; }
    bool acquire(failure_kind kind, time_point now) noexcept override;
    void give_back(failure_kind kind) noexcept override;
    admission admit(std::uint64_t number, time_point now) noexcept override;
    admission admit_again(admission const&, std::uint64_t, time_point now) noexcept override { return now; }
    bool measures_time() const noexcept override { return true; }

    /// Whether no request and no retry counts at `now`.
    bool is_idle(time_point now) const noexcept override;

private:
    static constexpr std::size_t slot_count = 10;

    struct slot {
        std::atomic<std::int64_t> deposits = 0;
        std::atomic<std::int64_t> retries = 0;
    };

    void advance(time_point now) const noexcept;
    slot& present() const noexcept { return slots_[present_.load() % slot_count]; }

    std::int64_t const deposit_;
    std::int64_t const withdrawal_;
    std::int64_t const reserve_;
    duration const slot_length_;
    std::atomic<std::int64_t> mutable sum_ = 0; // of the slots
    std::array<slot, slot_count> mutable slots_{};
    std::atomic<std::size_t> mutable present_ = 0;
    std::atomic<duration::rep> mutable slot_began_;
};

} // namespace asio_retry
