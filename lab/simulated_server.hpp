#pragma once

#include "event_queue.hpp"
#include "simulated_caller.hpp"

#include <cstddef>
#include <deque>
#include <limits>

namespace asio_retry::lab {

/// Serves one request after the other, also those that their clients have given up.
class simulated_server {
public:
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    /// `places` counts the request that is served, and those that wait.
    simulated_server(event_queue& events, double per_second, std::size_t places = unlimited)
        : events_(events)
        , places_(places) {
        serve(per_second);
    }
    simulated_server(simulated_server const&) = delete;
    simulated_server& operator=(simulated_server const&) = delete;

    /// Sets the speed from the next request on.
    void serve(double per_second) { service_time_ = duration(static_cast<duration::rep>(1e9 / per_second)); }

    /// False if all places are taken.
    bool take(running_attempt request) {
        if (requests_.size() >= places_)
            return false;
        requests_.push_back(std::move(request));
        if (requests_.size() == 1)
            serve_next();
        return true;
    }

private:
    void serve_next() {
        events_.after(service_time_, [this] {
            running_attempt const served = std::move(requests_.front());
            requests_.pop_front();
            if (!requests_.empty())
                serve_next();
            served.succeed();
        });
    }

    event_queue& events_;
    std::size_t places_;
    duration service_time_{};
    std::deque<running_attempt> requests_;
};

} // namespace asio_retry::lab
