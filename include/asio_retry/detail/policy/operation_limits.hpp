#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/interruption.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace asio_retry {
class pushback;
class random;
struct retry_settings;
enum class stop_reason;
enum class time_limit : unsigned char;
} // namespace asio_retry

namespace asio_retry::detail {

struct attempt_pulse;
struct rare_state;

/// A source of cancellation that the machine polls, because it cannot call `retry_machine::cancel` in time.
class cancellation_probe {
public:
    /// Whether the operation must stop. `total_counts`: a `total` cancellation suffices.
    virtual bool stops(bool total_counts) const noexcept = 0;

    /// Whether a running attempt is cancelled too; otherwise it may finish.
    virtual bool tells_attempt() const noexcept { return true; }

    /// When a running attempt is cancelled, or cancelled again; time_point::max() for never.
    virtual time_point deadline() const noexcept { return (time_point::max)(); }

protected:
    ~cancellation_probe() = default;
};

/// The time limits of one operation: when its attempts are cancelled, and how long its waits may be. It reads
/// no clock and calls nothing but a source of randomness. `settings` are those of the operation's policy.
class operation_limits {
public:
    operation_limits() = default;
    operation_limits(operation_limits const&) = delete;
    operation_limits& operator=(operation_limits const&) = delete;
    ~operation_limits() {
        if (rare_)
            forget_rare();
    }

    // --- the operation
    void inherit(time_point deadline) noexcept { deadline_ = deadline; }
    void watch(cancellation_probe const& probe) noexcept { probe_ = &probe; }
    cancellation_probe const* probe() const noexcept { return probe_; }
    void start(time_point now) noexcept { started_ = now; }
    void end_by(time_point deadline) noexcept { deadline_ = deadline < deadline_ ? deadline : deadline_; }
    time_point deadline() const noexcept { return deadline_; }
    bool has_deadline() const noexcept { return deadline_ != (time_point::max)(); }
    duration elapsed(time_point now) const noexcept { return elapsed_between(initiated(), now); }
    rare_state* rare(retry_settings const& settings) noexcept; // null without memory
    rare_state* rare() const noexcept { return rare_; }        // null if it was not needed yet

    // --- an attempt, and its reports that move its limits
    void begin(time_point now) noexcept { began_ = now; }
    void forget_attempt() noexcept { began_ = (time_point::max)(); } // the wait after it is over
    duration took(time_point now) const noexcept { return elapsed_between(began_, now); }
    ASIO_RETRY_DECL void expect_health(retry_settings const& settings) noexcept;
    ASIO_RETRY_DECL time_point attempt_limit(retry_settings const& settings, time_point now,
                                             bool speaks) noexcept;
    ASIO_RETRY_DECL time_point renewed_limit(retry_settings const& settings, time_point reached) const noexcept;
    ASIO_RETRY_DECL time_point on_attempt_limit(retry_settings const& settings, time_point reached) noexcept;
    ASIO_RETRY_DECL time_point attempt_deadline(retry_settings const& settings) const noexcept;
    ASIO_RETRY_DECL bool hears_attempt() const noexcept;
    ASIO_RETRY_DECL void on_healthy(retry_settings const& settings, time_point now) noexcept;
    ASIO_RETRY_DECL void on_progress(time_point now) noexcept;
    bool is_expired() const noexcept { return expired_ != interruption::none; }
    interruption take_expired() noexcept { return std::exchange(expired_, interruption::none); }
    // An attempt has failed. Returns true if the counts begin anew: it was healthy long enough.
    bool end_attempt(retry_settings const& settings, interruption stopped, bool speaks,
                     time_point now) noexcept;
    // The limit that stopped the attempt, and the length of the limit.
    std::pair<time_limit, duration> reached(retry_settings const& settings,
                                            interruption stopped) const noexcept;

    // --- waits
    std::uint64_t counted(retry_settings const& settings, std::uint64_t failures) const noexcept;
    void count_refusal(retry_settings const& settings) noexcept;
    std::pair<duration, stop_reason> longest_wait(retry_settings const& settings,
                                                  time_point now) const noexcept;
    std::optional<stop_reason> fit_wait(retry_settings const& settings, pushback said, duration waited,
                                        duration& delay, time_point now, random* source);
    bool count_wait(retry_settings const& settings, duration wait) noexcept;
    bool end_wait(time_point now) noexcept;

private:
    attempt_pulse* pulse() const noexcept;
    time_point first_limit(retry_settings const& settings, time_point began,
                           time_point earliest) const noexcept;
    time_limit limit_of_attempt(retry_settings const& settings) const noexcept;
    time_point initiated() const noexcept;
    bool was_cut() const noexcept;
    ASIO_RETRY_DECL void forget_rare() noexcept;

    time_point started_{};
    time_point deadline_ = (time_point::max)();
    time_point began_ = (time_point::max)(); // the start of the last attempt; max() after a wait
    cancellation_probe const* probe_ = nullptr;
    rare_state* rare_ = nullptr;                // owned; made when it is needed
    interruption expired_ = interruption::none; // the limit that stops the running attempt
    unsigned char bits_of_longest_ = 0;         // bit width of its nanoseconds; for `clamp` with a deadline
};

} // namespace asio_retry::detail
