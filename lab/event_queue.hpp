#pragma once

#include <asio_retry/duration.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace asio_retry::lab {

inline time_point at_second(unsigned second) {
    return time_point(std::chrono::seconds(second));
}

/// Virtual time: runs functions at their times; functions of one time run in the order of their requests.
class event_queue {
public:
    time_point now() const { return now_; }

    void at(time_point when, std::function<void()> what) {
        events_.push_back({when, next_number_++, std::move(what)});
        std::push_heap(events_.begin(), events_.end(), is_later);
    }

    void after(duration delay, std::function<void()> what) { at(saturating_add(now_, delay), std::move(what)); }

    /// Runs until no event is left before `end`.
    void run(time_point end = time_point::max()) {
        while (!events_.empty() && events_.front().when < end) {
            std::pop_heap(events_.begin(), events_.end(), is_later);
            event const next = std::move(events_.back());
            events_.pop_back();
            now_ = next.when;
            next.what();
        }
    }

private:
    struct event {
        time_point when;
        std::uint64_t number;
        std::function<void()> what;
    };

    static bool is_later(event const& a, event const& b) {
        return a.when != b.when ? a.when > b.when : a.number > b.number;
    }

    std::vector<event> events_;
    std::uint64_t next_number_ = 0;
    time_point now_{};
};

} // namespace asio_retry::lab
