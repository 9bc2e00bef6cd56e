#pragma once

#include <asio_retry/detail/policy/machine_observer.hpp>
#include <asio_retry/retry_machine.hpp>

namespace asio_retry::detail {

/// If `prepare` of an operation throws, observers are told of the end too.
class observation_at_exit {
public:
    observation_at_exit(retry_machine& machine, machine_observer& observer, bool has_hooks = false) noexcept
        : machine_(machine)
        , observer_(observer)
        , has_hooks_(has_hooks) {}
    ~observation_at_exit() { machine_.observe(observer_, has_hooks_); }
    observation_at_exit(observation_at_exit const&) = delete;
    observation_at_exit& operator=(observation_at_exit const&) = delete;

private:
    retry_machine& machine_;
    machine_observer& observer_;
    bool has_hooks_;
};

} // namespace asio_retry::detail
