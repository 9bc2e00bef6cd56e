#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <chrono>

namespace asio_retry {

/// The options of a `cooldown`.
struct cooldown_options {
    saturating_duration greatest =
        std::chrono::seconds(60); ///< of a pause: a peer that asks for more gets this; positive
};

/// Refuses all attempts, with error::cooling_down, while a peer has asked to be left alone: one gate per peer.
///
/// An attempt that failed and was told `pushback::after(s)` begins a pause of `s`; of several pauses the one
/// that ends last counts. So what a peer says to one caller holds for all who share the gate, and they need not
/// ask it to be told the same. With `wait_when_refused` all callers wait until the pause is over, and then for
/// the delay of their backoff, so that they do not come together.
///
/// Thread safety: any function may be called from any thread; there is no lock.
class ASIO_RETRY_DECL cooldown final : public retry_gate {
public:
    /// Throws std::invalid_argument if `greatest` is not positive.
    explicit cooldown(cooldown_options const& options = {});

    /// The end of the last pause; time_point::min() if there has been none.
    time_point until() const noexcept;

    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool measures_time() const noexcept override { return true; }

private:
    duration const greatest_;
    std::atomic<duration::rep> until_;
};

} // namespace asio_retry
