#pragma once

#include <asio_retry/detail/traffic/slot_window.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_gate.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace asio_retry {

/// The options of an `adaptive_throttle`.
struct adaptive_throttle_options {
    double k = 2; ///< requests that it lets through for each accepted one, at least 1
    saturating_duration window = std::chrono::seconds(20); ///< how long it remembers attempts, at least 1 s
    double max_rejection = 0.9; ///< the greatest share of the attempts that it refuses, in (0, 1)
    std::uint64_t seed = 0;     ///< seed of the random draws; 0: a random seed
};

/// Refuses attempts at random: the fewer attempts the server accepts, the more it refuses.
///
/// So clients do not load an overloaded server with requests that it can only refuse. Use it for many attempts
/// that are short compared with the window.
///
/// It refuses an attempt with this probability, taken over the last `window` in thirty slots:
///
///     min(max_rejection, max(0, (requests - k accepts) / (requests + 1)))
///
/// Requests are all attempts that asked to begin, refused ones too; an abandoned attempt is no request. Accepts
/// are answers: successes and permanent failures. A running attempt is a request without an answer. So of a
/// hundred attempts at once, before the first answer, it lets about a tenth through.
///
/// With the defaults a server gets about twice the attempts that it accepts, and a dead server a tenth of the
/// requests. About 35 s after an outage the throttle trusts the server again; with few attempts per second,
/// chance makes that 15 to 80 s. A longer window, or a `max_rejection` near 1, makes it minutes: an attempt
/// that is not made teaches nothing.
///
/// Errors: an operation whose first attempt is refused ends with error::client_throttled.
/// Thread safety: call any function from any thread. A lock is held for a few additions.
/// Source: Google's book "Site Reliability Engineering", chapter 21, "Client-side throttling".
class ASIO_RETRY_DECL adaptive_throttle final : public retry_gate {
public:
    /// Throws std::invalid_argument for k < 1, a window under 1 s, a max_rejection outside (0, 1), and NaN.
    explicit adaptive_throttle(adaptive_throttle_options const& options = {});

    /// The probability that an attempt is refused at `now`.
    double rejection(time_point now) const noexcept;

    std::string_view name() const noexcept override { return "adaptive_throttle"; }
    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool measures_time() const noexcept override { return true; }

    /// Whether the window has no attempt.
    bool is_idle(time_point now) const noexcept override;

private:
    struct counts {
        std::uint64_t requests = 0;
        std::uint64_t accepts = 0;
        bool has(counts const& c) const noexcept { return requests >= c.requests && accepts >= c.accepts; }
        counts& operator+=(counts const& c) noexcept {
            requests += c.requests;
            accepts += c.accepts;
            return *this;
        }
        counts& operator-=(counts const& c) noexcept {
            requests -= c.requests;
            accepts -= c.accepts;
            return *this;
        }
        bool operator==(counts const&) const = default;
    };

    double rejection_now() const noexcept;

    double const k_;
    double const max_rejection_;
    std::mutex mutable mutex_;
    detail::slot_window<counts, 30> mutable window_;
    random source_;
};

} // namespace asio_retry
