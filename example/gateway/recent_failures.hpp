#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gateway {

/// The last requests that were answered with a failure of a server or of the gateway. Thread-safe.
class recent_failures {
public:
    struct failure {
        std::string method, target;
        unsigned status = 0;
        std::uint64_t attempts = 0;
        std::chrono::milliseconds took{};
        std::string cause; ///< in words
        std::string end;   ///< why it was not tried again
        std::chrono::system_clock::time_point at = std::chrono::system_clock::now();
    };

    void add(failure one) {
        std::lock_guard const lock(mutex_);
        failures_.push_front(std::move(one));
        if (failures_.size() > greatest)
            failures_.pop_back();
    }

    std::vector<failure> newest_first() const {
        std::lock_guard const lock(mutex_);
        return {failures_.begin(), failures_.end()};
    }

private:
    static constexpr std::size_t greatest = 20;

    std::mutex mutable mutex_;
    std::deque<failure> failures_;
};

} // namespace gateway
