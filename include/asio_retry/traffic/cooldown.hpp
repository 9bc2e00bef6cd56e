#pragma once

#include <asio_retry/retry_gate.hpp>

#include <atomic>
#include <chrono>
#include <string_view>

namespace asio_retry {

/// The options of a `cooldown`.
struct cooldown_options {
    saturating_duration greatest =
        std::chrono::seconds(60); ///< the greatest cooldown: a server that asks for more gets this; positive
};

/// Refuses all attempts while the server has asked clients to wait: one gate for each server.
///
/// An attempt that failed and was told `pushback::after(s)` begins a cooldown of `s`. Of several cooldowns the
/// one that ends last counts. So all operations that share the gate obey what the server said to one of them,
/// and need not ask to be told the same. With `wait_when_refused` each operation waits until the cooldown is
/// over, and then for the delay of its backoff. So they do not come back together.
///
/// Errors: an operation whose first attempt is refused ends with error::cooling_down.
/// Thread safety: call any function from any thread. There is no lock.
class ASIO_RETRY_DECL cooldown final : public retry_gate {
public:
    /// Throws std::invalid_argument if `greatest` is not positive.
    explicit cooldown(cooldown_options const& options = {});

    /// The end of the last cooldown; time_point::min() if there was none.
    time_point until() const noexcept;

    std::string_view name() const noexcept override { return "cooldown"; }
    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool measures_time() const noexcept override { return true; }

private:
    duration const greatest_;
    std::atomic<duration::rep> until_;
};

} // namespace asio_retry
