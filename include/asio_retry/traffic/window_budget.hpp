#pragma once

#include <asio_retry/retry_gate.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace asio_retry {

/// The options of a `window_budget`.
struct window_budget_options {
    double ratio = 0.2; ///< retries per request, in [0, 1000]
    saturating<std::chrono::seconds> ttl =
        std::chrono::seconds(10);      ///< for how long a request and a retry count, 1 to 60 s, where there is
                                       ///< always something to do
    std::uint32_t min_per_second = 10; ///< retries that are granted even without requests
};

/// The budget of Finagle, with the same numbers: requests of the last `ttl` earn, and there is a floor per
/// second.
///
/// It is also that of linkerd, tower and the Gateway API. It earns by request and not by success, and the floor
/// is multiplied by the number of clients: use it where those are the numbers that a platform has agreed on.
///
/// A request counts when its first attempt is asked for. In `all_gates`, ask gates that refuse attempts before:
/// otherwise a request that waits for one of them counts each time that it asks.
///
/// Time is counted in ten slots, the present one included. As Finagle's, a slot begins when something is done
/// in it, so what is asked less than once in a slot counts for up to twice the `ttl`. A retry that is given
/// back is the oldest one that counts; what counts no more is not given back again.
///
/// Thread safety: any function may be called from any thread; there is no lock.
class ASIO_RETRY_DECL window_budget final : public retry_gate {
public:
    /// Throws std::invalid_argument for a ratio outside [0, 1000] and a ttl outside 1 to 60 s.
    explicit window_budget(window_budget_options const& options = {});

    /// How many retries would be granted at `now`. Negative where deposits are forgotten whose retries are not.
    std::int64_t balance(time_point now) const noexcept;

    bool acquire(failure_kind kind, time_point now) noexcept override;
    void give_back(failure_kind kind) noexcept override;
    admission admit(std::uint64_t number, time_point now) noexcept override;
    bool measures_time() const noexcept override { return true; }

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
