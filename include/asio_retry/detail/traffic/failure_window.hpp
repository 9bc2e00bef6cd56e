#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/detail/traffic/slot_window.hpp>
#include <asio_retry/duration.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asio_retry::detail {

/// Counts how attempts ended: over the last ones, or over those within a time.
class failure_window {
public:
    struct counts {
        std::uint64_t attempts = 0;
        std::uint64_t failures = 0;
        std::uint64_t slow = 0;

        counts& operator+=(counts const& c) noexcept {
            attempts += c.attempts;
            failures += c.failures;
            slow += c.slow;
            return *this;
        }
        counts& operator-=(counts const& c) noexcept {
            attempts -= c.attempts;
            failures -= c.failures;
            slow -= c.slow;
            return *this;
        }
        bool operator==(counts const&) const = default;
    };

    /// If `last` is 0, it counts those within `length`.
    failure_window(std::uint32_t last, duration length)
        : recent_(length)
        , last_(last) {}

    ASIO_RETRY_DECL void add(bool failed, bool slow, time_point now) noexcept;

    /// Takes over the counts of an earlier window, as far as this one holds them. Takes nothing if one of the
    /// two counts the last attempts, and the other one time. Precondition: this window is new.
    void take(failure_window const& earlier) noexcept;

    void swap(failure_window& other) noexcept;
    ASIO_RETRY_DECL void clear() noexcept;
    counts const& total() const noexcept { return last_.empty() ? recent_.total() : total_of_last_; }

    /// The total of the attempts that are not forgotten at `now`.
    counts total_at(time_point now) const noexcept {
        return last_.empty() ? recent_.total_at(now) : total_of_last_;
    }

    /// Whether a new window would answer alike from `now` on.
    bool is_new_at(time_point now) const noexcept {
        return last_.empty() ? recent_.is_new_at(now) : total_of_last_ == counts();
    }

private:
    slot_window<counts, 10> recent_;
    std::vector<counts> last_; // a ring
    std::size_t next_ = 0;
    counts total_of_last_;
};

} // namespace asio_retry::detail
