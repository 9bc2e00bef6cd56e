#pragma once

#include <asio_retry/detail/policy/config.hpp>
#include <asio_retry/duration.hpp>
#include <asio_retry/interruption.hpp>
#include <asio_retry/retry_event.hpp>
#include <asio_retry/stop_reason.hpp>
#include <asio_retry/verdict.hpp>

#include <cstdint>
#include <exception>

namespace asio_retry::detail {

/// Is told what a retry_machine was told and what it decided, in this order: the start, then attempts that
/// begin and fail, each followed by a wait that begins and is over if there is another one, and the end. An
/// operation that makes no attempt has a start and an end, or an end alone if it could not begin.
class ASIO_RETRY_DECL machine_observer {
public:
    virtual void on_start(time_point now) noexcept = 0;
    virtual void on_attempt(std::uint64_t number, time_point now) noexcept = 0;

    /// The attempt failed, or was told to stop before. `failure` is what it made of that itself, but timed_out
    /// after its attempt_timeout.
    virtual void on_failure(verdict const& failure, interruption stopped, time_point now) noexcept = 0;
    virtual void on_wait(duration delay, time_point now) noexcept = 0;

    /// Also where the operation ends in a wait.
    virtual void on_wait_over(time_point now) noexcept = 0;

    /// `now` may be left out after a success.
    virtual void on_end(stop_reason reason, time_point now) noexcept = 0;

    /// A hook threw, or what had to be found out for one; maybe after the end.
    virtual void on_hook_exception(std::exception_ptr const&) noexcept {}

    /// @name Hooks of the operation's own, which may throw
    /// Called after the policy's, of one that said so when the machine was given it.
    /// @{
    virtual void call_on_retry(retry_event const&) {}
    virtual void call_on_end(retry_event const&) {}
    /// @}

    /// The one that the machine was given before this one; null for none.
    machine_observer* next = nullptr;

protected:
    machine_observer() noexcept = default;
    machine_observer(machine_observer const&) noexcept = default;
    machine_observer& operator=(machine_observer const&) noexcept = default;
    ~machine_observer() = default;
};

/// Tells all of them, the one that the machine was given last first.
template <typename... Parameters, typename... Arguments>
void tell_all(machine_observer* first, void (machine_observer::*what)(Parameters...) noexcept,
              Arguments const&... arguments) noexcept {
    for (; first; first = first->next)
        (first->*what)(arguments...);
}

} // namespace asio_retry::detail
