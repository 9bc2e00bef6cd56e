#pragma once

#include <asio_retry/retry_gate.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace asio_retry {

/// Lets attempts begin at a given rate: n in each `per`, and `burst` at once.
///
/// Each refused attempt has a reserved time. With `wait_when_refused` it begins at that time, so that n
/// operations that wait begin at n times. The time of an operation that ends before goes to the next that asks.
/// Without `wait_when_refused` the attempt is refused, and its time is free again.
///
/// An attempt may begin at t if t is not before TAT - (burst - 1) T. Then TAT becomes max(t, TAT) + T. Here T
/// is per / n, and TAT the theoretical arrival time. Source: the generic cell rate algorithm, ITU-T I.371,
/// annex A.
///
/// In `all_gates` put it behind a `concurrency_limit`: a time is kept only if nothing waits after it.
///
/// Errors: an operation whose first attempt is refused ends with error::rate_limited.
/// Thread safety: call any function from any thread. Each call takes a lock, and does the same work however
/// many operations wait, but for the logarithm of the times that were given back.
class ASIO_RETRY_DECL rate_limit final : public retry_gate {
public:
    /// Throws std::invalid_argument if `n` or `burst` is 0, if `per` is not positive, and if per / n is less
    /// than a nanosecond.
    rate_limit(std::uint32_t n, saturating_duration per, std::uint32_t burst = 1);

    std::string_view name() const noexcept override { return "rate_limit"; }
    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool measures_time() const noexcept override { return true; }

private:
    struct beginning { // of attempts that began at once, at one time
        time_point at;
        time_point first; // of their slots, which follow each other
        time_point last;
    };

    time_point last_slot() const noexcept;
    void note_beginning(time_point now, time_point slot) noexcept;
    std::optional<time_point> take_beginning(time_point at) noexcept;
    void give_back(time_point slot) noexcept;
    std::optional<time_point> take_free(time_point now) noexcept;
    void add_free(time_point slot) noexcept;
    void add_run(time_point first, time_point last) noexcept;
    void free_last() noexcept;

    duration const interval_;  // T, rounded up
    duration const tolerance_; // (burst - 1) T

    // Each attempt has a slot: a slot is T after the one before, and an attempt begins in its slot or up to the
    // tolerance later. The next slot is that of TAT less the tolerance.
    std::mutex mutex_;
    time_point arrival_ = (time_point::min)(); // TAT
    std::vector<beginning> begun_;             // the latest ones, in the order of their times
    std::map<time_point, time_point> free_;    // runs of slots that were given back
};

} // namespace asio_retry
