#pragma once

#include <asio_retry/detail/policy/linked_list.hpp>
#include <asio_retry/gate_waiter.hpp>
#include <asio_retry/retry_gate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

namespace asio_retry {

/// The numbers of a `rate_limit`.
struct rate_limit_numbers {
    std::uint32_t n = 1;       ///< how many attempts begin in each `per`
    saturating_duration per{}; ///< the time for them
    std::uint32_t burst = 1;   ///< how many of them may begin at once

    /// Whether all fields are equal.
    bool operator==(rate_limit_numbers const&) const = default;
};

/// Lets attempts begin at a given rate: n in each `per`, and `burst` at once.
///
/// Each refused attempt has a reserved time. With `wait_when_refused` it begins at that time, so that n
/// operations that wait begin at n times. If an operation ends before its time, the next one that asks gets
/// that time. Without `wait_when_refused` the attempt is refused, and its time is free again.
///
/// An attempt may begin at t if t is not before TAT - (burst - 1) T. Then TAT becomes max(t, TAT) + T. Here T
/// is per / n, and TAT the theoretical arrival time. Source: the generic cell rate algorithm, ITU-T I.371,
/// annex A.
///
/// An operation may be late for its time, because the program or the machine stood still, or because another
/// gate made it wait. If it is late by T and by 10 ms, it begins as if it asked now, before those with later
/// times. So after a stop `burst` operations begin at once, and then one in each T. All later times move.
///
/// In `all_gates` put it behind a `concurrency_limit`: a time is kept only if nothing waits after it.
///
/// Errors: an operation whose first attempt is refused ends with error::rate_limited.
/// Thread safety: call any function from any thread. Each call takes a lock. Its work does not grow with the
/// number of waiting operations, but with the logarithm of the number of times that were given back.
class ASIO_RETRY_DECL rate_limit final : public retry_gate {
public:
    /// Throws std::invalid_argument if `n` or `burst` is 0, if `per` is not positive, and if per / n is less
    /// than a nanosecond.
    rate_limit(std::uint32_t n, saturating_duration per, std::uint32_t burst = 1);
    ~rate_limit() override;

    /// Changes the rate. Operations that wait keep their order, and get times of the new rate.
    ///
    /// - The first of them begins one new T after the latest time that has passed, and not before now.
    /// - Operations that wait are woken one after the other, so that they may begin earlier. A blocking `retry`
    ///   waits for its old time, and asks again then.
    /// - What is left of the burst stays, up to the new one. A limit that is idle has the whole new burst.
    /// - At most 64 runs of times that were given back are kept.
    ///
    /// Throws as the constructor does, and then changes nothing.
    void update(std::uint32_t n, saturating_duration per, std::uint32_t burst = 1);

    /// The numbers of the constructor, or of the latest `update`.
    rate_limit_numbers numbers() const noexcept;

    std::string_view name() const noexcept override { return "rate_limit"; }
    admission admit(std::uint64_t number, time_point now) noexcept override;
    admission admit_again(admission const& before, std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool watch(gate_waiter& waiter, admission const& given) noexcept override;
    void unwatch(gate_waiter& waiter, admission const& given) noexcept override;
    bool measures_time() const noexcept override { return true; }

    /// Whether the whole burst may begin at `now`, and nobody waits.
    bool is_idle(time_point now) const noexcept override;

private:
    struct rate {
        duration interval;  // T, rounded up
        duration tolerance; // (burst - 1) T
    };

    // From one rate to the next: a promise at `base` plus k old intervals is now at `new_base` plus k new ones.
    struct change {
        duration shift; // `shift_` before the change
        time_point base, new_base;
        duration interval, new_interval;
    };

    // Attempts that began without a wait, all at the time `at`. Their slots follow each other.
    struct beginning {
        time_point at;
        time_point first; // of the slots
        time_point last;
    };

    static admission answer(time_point when, std::uint64_t ticket, time_point now) noexcept;
    std::uint64_t ticket_of_slot() const noexcept;
    std::optional<time_point> slot_of(time_point promised, std::uint64_t ticket) const noexcept;
    void take_rate(time_point now) noexcept;
    time_point arrival_at(rate const& next, time_point arrival, time_point now) const noexcept;
    void move_free(change const& to) noexcept;
    void wake_next() noexcept;
    time_point next_late() const noexcept;
    time_point last_slot() const noexcept;
    void note_beginning(time_point now, time_point slot) noexcept;
    std::optional<time_point> take_beginning(time_point at) noexcept;
    void give_time_back(time_point slot) noexcept;
    void give_back_late(attempt_end const& end) noexcept;
    std::optional<time_point> take_free(time_point now) noexcept;
    void add_free(time_point slot) noexcept;
    void add_run(time_point first, time_point last) noexcept;
    void free_last() noexcept;

    static constexpr std::size_t kept_changes = 16;

    // Each attempt has a slot: a slot is T after the one before, and an attempt begins in its slot or up to the
    // tolerance later. The next slot is that of TAT less the tolerance. When attempts were late, all times that
    // are still promised are later than their slots by the shift.
    std::mutex mutable mutex_;
    rate_limit_numbers numbers_;     // the latest ones
    duration interval_, tolerance_;  // the present rate
    std::optional<rate> next_rate_;  // of `update`; in force when the gate next gets a time
    std::uint64_t changes_made_ = 0; // of the rate
    std::array<change, kept_changes> changes_{};
    time_point changed_at_ = (time_point::min)();
    time_point arrival_ = (time_point::min)(); // TAT
    std::vector<beginning> begun_;             // the latest ones, in the order of their times
    duration shift_{};
    time_point last_begun_ = (time_point::min)();   // the last slot of an attempt that began in its slot
    time_point late_arrival_ = (time_point::min)(); // TAT of the late attempts, which have given up their slots
    time_point late_at_ = (time_point::min)();      // when the last late one began; min() if it still waits
    struct free_slots;
    std::unique_ptr<free_slots> const free_; // the slots that were given back
    detail::linked_list<gate_waiter> waiting_;
    std::size_t waiting_count_ = 0;
    std::size_t to_wake_ = 0; // how many of `waiting_` `update` has still to wake
};

} // namespace asio_retry
