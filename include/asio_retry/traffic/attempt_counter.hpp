#pragma once

#include <asio_retry/detail/traffic/slot_window.hpp>
#include <asio_retry/retry_gate.hpp>
#include <asio_retry/traffic/attempt_histogram.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace asio_retry {

/// Counts the attempts that begin, so that a client can tell servers how many of them are retries.
///
/// This gate refuses nothing. Put it last in `all_gates`: then it does not count attempts that another gate
/// refuses. It counts an attempt once: while the attempt waits for another gate, from the question on, and then
/// from its beginning. It forgets attempts after `window`, in ten slots that include the present one.
///
/// Thread safety: call any function from any thread. A lock is held for a few additions.
class ASIO_RETRY_DECL attempt_counter final : public retry_gate {
public:
    /// Throws std::invalid_argument unless the window is positive.
    explicit attempt_counter(saturating_duration window = std::chrono::seconds(60));

    /// The attempts that began within the window.
    attempt_histogram recent(time_point now) const noexcept;

    std::string_view name() const noexcept override { return "attempt_counter"; }
    admission admit(std::uint64_t number, time_point now) noexcept override;
    void on_end(attempt_end const& end) noexcept override;
    bool measures_time() const noexcept override { return true; }

    /// Whether no attempt began within the window.
    bool is_idle(time_point now) const noexcept override;

private:
    struct counts {
        counts& operator+=(counts const& other) noexcept {
            for (std::size_t i = 0; i != of.size(); ++i)
                of[i] += other.of[i];
            return *this;
        }
        counts& operator-=(counts const& other) noexcept {
            for (std::size_t i = 0; i != of.size(); ++i)
                of[i] -= other.of[i];
            return *this;
        }
        bool has(counts const& other) const noexcept {
            for (std::size_t i = 0; i != of.size(); ++i)
                if (of[i] < other.of[i])
                    return false;
            return true;
        }
        bool operator==(counts const&) const = default;

        std::array<std::uint64_t, attempt_histogram::buckets> of{};
    };

    static counts one(std::uint64_t number) noexcept;

    std::mutex mutable mutex_;
    detail::slot_window<counts, 10> mutable window_;
};

} // namespace asio_retry
