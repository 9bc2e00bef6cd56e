#pragma once

#include <asio_retry/duration.hpp>

#include <atomic>
#include <optional>

namespace asio_retry::detail {

/// The time of a manual clock, or none. Any thread may read it at any time.
class manual_time {
public:
    explicit operator bool() const noexcept { return is_set_; }
    time_point operator*() const noexcept { return time_; }
    operator std::optional<time_point>() const noexcept {
        return is_set_ ? std::optional(time_.load()) : std::nullopt;
    }

    manual_time& operator=(time_point time) noexcept {
        time_ = time;
        is_set_ = true;
        return *this;
    }
    void reset() noexcept { is_set_ = false; }

private:
    std::atomic<time_point> time_ = time_point();
    std::atomic<bool> is_set_ = false;
};

} // namespace asio_retry::detail
