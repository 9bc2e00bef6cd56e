#pragma once

#include "event_queue.hpp"

#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/random.hpp>
#include <asio_retry/retry_policy.hpp>
#include <asio_retry/verdict.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace asio_retry::lab {

class simulated_call;

/// A running attempt; tell it its result. A result after its time limit is ignored.
class running_attempt {
public:
    void succeed() const;
    void fail(verdict const& why) const;

    std::uint64_t number() const { return number_; }
    /// `attempt::deadline`.
    time_point deadline() const { return deadline_; }

private:
    friend class simulated_call;
    running_attempt(std::shared_ptr<simulated_call> call, std::uint64_t number, time_point deadline)
        : call_(std::move(call))
        , number_(number)
        , deadline_(deadline) {}

    std::shared_ptr<simulated_call> call_;
    std::uint64_t number_;
    time_point deadline_;
};

/// A caller that retries as its policy says: a client, or a layer of services. It uses the library's own
/// machine, and outlives its calls.
class simulated_caller {
public:
    /// `attempt` begins one attempt.
    simulated_caller(event_queue& events, retry_policy policy, random source,
                     std::function<void(running_attempt)> attempt)
        : events_(events)
        , policy_(std::move(policy))
        , source_(source)
        , attempt_(std::move(attempt)) {}
    simulated_caller(simulated_caller const&) = delete;
    simulated_caller& operator=(simulated_caller const&) = delete;

    /// Chooses a server for each attempt; it is for one call, and outlives it.
    void choose_with(detail::machine_observer& chooser) { chooser_ = &chooser; }

    /// `done` gets whether the operation succeeded.
    void call(std::function<void(bool)> done);

private:
    friend class simulated_call;

    event_queue& events_;
    retry_policy policy_;
    random source_;
    std::function<void(running_attempt)> attempt_;
    detail::machine_observer* chooser_ = nullptr;
};

/// Calls `what` at independent random times, this many in a second on average, until `end`.
void at_random_times(event_queue& events, double per_second, time_point end, random source,
                     std::function<void()> what);

} // namespace asio_retry::lab
