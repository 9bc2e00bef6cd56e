#pragma once

#include <asio_retry/detail/traffic/slot_window.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_gate.hpp>

#include <chrono>
#include <cstdint>
#include <mutex>

namespace asio_retry {

/// The options of an `adaptive_throttle`.
struct adaptive_throttle_options {
    double k = 2; ///< requests per accepted one that are let through, at least 1
    saturating_duration window = std::chrono::seconds(20); ///< what is remembered, at least 1 s
    double max_rejection = 0.9;                            ///< the greatest share that is refused, in (0, 1)
    std::uint64_t seed = 0;                                ///< of the draws; 0: a random one
};

/// Refuses attempts at random, the more of them the fewer the peer accepts, so that a peer that has too much to
/// do is not asked only to say no (Google's SRE book, chapter 21, "Client-side throttling").
///
/// An attempt is refused, with error::client_throttled, with the probability
///
///     min(max_rejection, max(0, (requests - k accepts) / (requests + 1)))
///
/// over the last `window`, in thirty slots. Requests are all attempts that were asked for, refused ones too;
/// accepts are successes and permanent failures, which are answers. An attempt that is abandoned is no request;
/// one that runs is, and has not been accepted: of a hundred at once, before anything is known of the peer, a
/// tenth or so are let through. It is for many attempts that are short compared with the window.
/// With the defaults a peer gets about twice what it accepts, a dead one a tenth of the requests, and some 35 s
/// after an outage it is trusted again; where there are few attempts per second, chance makes that 15 to 80 s.
/// A longer window, or a `max_rejection` of nearly 1, takes minutes for that: nothing is learnt from attempts
/// that are not made.
///
/// Thread safety: any function may be called from any thread; there is a lock, held for a few additions.
class ASIO_RETRY_DECL adaptive_throttle final : public retry_gate {
public:
    /// Throws std::invalid_argument for k < 1, a window under 1 s, a max_rejection outside (0, 1), and what is
    /// no number.
    explicit adaptive_throttle(adaptive_throttle_options const& options = {});

    /// With which probability an attempt would be refused at `now`.
    double rejection(time_point now) const noexcept;

    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool measures_time() const noexcept override { return true; }

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
    };

    double rejection_now() const noexcept;

    double const k_;
    double const max_rejection_;
    std::mutex mutable mutex_;
    detail::slot_window<counts, 30> mutable window_;
    random source_;
};

} // namespace asio_retry
