#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace asio_retry {

/// The options of a `cooldown`.
struct cooldown_options {
    saturating_duration greatest =
        std::chrono::seconds(60); ///< the greatest cooldown: a server that asks for more gets this; positive
    double spread = 0.25; ///< refused attempts come back within this share of the cooldown after it, in [0, 1]
};

/// Refuses all attempts while the server has asked clients to wait: one gate for each server.
///
/// An attempt that failed and was told `pushback::after(s)` begins a cooldown of `s`. Of several cooldowns the
/// one that ends last counts. So all operations that share the gate obey what the server said to one of them,
/// and need not ask to be told the same.
///
/// - A refusal names a time of its own, up to `spread` of the cooldown's length after its end. The times are
///   evenly spread. With `wait_when_refused` an operation waits until its time, and then for the delay of its
///   backoff. So operations that were held back do not come back together.
/// - When the cooldown is over, every attempt may begin. An operation that was not refused does not wait.
///
/// Errors: an operation whose first attempt is refused ends with error::cooling_down.
/// Thread safety: call any function from any thread. There is no lock.
class ASIO_RETRY_DECL cooldown final : public retry_gate {
public:
    /// Throws std::invalid_argument if `greatest` is not positive, or `spread` is not in [0, 1].
    explicit cooldown(cooldown_options const& options = {});

    /// The end of the last cooldown; time_point::min() if there was none.
    time_point until() const noexcept;

    std::string_view name() const noexcept override { return "cooldown"; }
    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool measures_time() const noexcept override { return true; }

    /// Whether no cooldown lasts at `now`.
    bool is_idle(time_point now) const noexcept override { return until() <= now; }

private:
    duration const greatest_;
    double const spread_;
    std::atomic<duration::rep> until_;
    std::atomic<duration::rep> length_ = 0;     // of the present cooldown
    std::atomic<std::uint64_t> next_place_ = 0; // for the next refused attempt, in 2^-64 of the spread
};

} // namespace asio_retry
