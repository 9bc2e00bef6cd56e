#include <asio_retry/detail/traffic/failure_window.hpp>

#include <algorithm>
#include <utility>

namespace asio_retry::detail {

void failure_window::add(bool failed, bool slow, time_point now) noexcept {
    counts const one{1, failed ? 1u : 0u, slow ? 1u : 0u};
    if (last_.empty()) {
        recent_.advance(now);
        recent_.add(one);
        return;
    }
    total_of_last_ -= last_[next_];
    last_[next_] = one;
    total_of_last_ += one;
    next_ = (next_ + 1) % last_.size();
}

void failure_window::take(failure_window const& earlier) noexcept {
    std::size_t const count = earlier.last_.size();
    if (last_.empty() && count == 0)
        recent_.take(earlier.recent_);
    else if (!last_.empty())
        for (std::size_t i = 0; i < count; ++i) // the oldest first
            if (counts const& one = earlier.last_[(earlier.next_ + i) % count]; one.attempts != 0)
                add(one.failures != 0, one.slow != 0, time_point());
}

void failure_window::swap(failure_window& other) noexcept {
    std::swap(recent_, other.recent_);
    last_.swap(other.last_);
    std::swap(next_, other.next_);
    std::swap(total_of_last_, other.total_of_last_);
}

void failure_window::clear() noexcept {
    recent_.clear();
    std::ranges::fill(last_, counts());
    total_of_last_ = counts();
}

} // namespace asio_retry::detail
