#include <asio_retry/detail/traffic/failure_window.hpp>

#include <algorithm>

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

void failure_window::clear() noexcept {
    recent_.clear();
    std::ranges::fill(last_, counts());
    total_of_last_ = counts();
}

} // namespace asio_retry::detail
